#include <apart/core/error.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/named_materials.hpp>

#include <algorithm>

namespace apart {

namespace {

constexpr std::string_view codim = "Li, Kaufman, Jiang 2021 (Codimensional IPC), table of cloth materials";

// 'Gere' is Gere, Mechanics of Materials, appendix with properties of materials: typical ranges. Sources
// after 'not compared:' were not at hand when the values were written down. Sheets of solid materials are 1
// mm thick unless their body says otherwise.
constexpr NamedMaterial materials[] = {
    {"aluminium", "aluminium alloy 6061-T6; alloys: 70 to 79 GPa, 2600 to 2800 kg/m3", "Gere",
     R"({"type": "neo_hookean", "E": 7e10, "nu": 0.33, "rho": 2700})",
     R"({"type": "neo_hookean", "E": 7e10, "nu": 0.33, "rho": 2700, "thickness": 1e-3})",
     R"({"E": 7e10, "rho": 2700})"},
    {"canvas", "woven, stiffer along the weft; strain limits 0.11, 0.067, 0.059", codim, "",
     R"({"type": "barrier_orthotropic", "rho": 294, "thickness": 5.3e-4, "bending_E": 2.009e6, "a11": 5.366e6,
         "a12": 2.683e6, "a22": 1.9804e7, "G12": 2.009e6, "E11max": 0.11, "E22max": 0.067, "E12max": 0.059})",
     ""},
    {"concrete",
     "concrete of class C30/37 in compression, does not crack; others: 17 to 31 GPa by Gere, 27 to 44 GPa by "
     "EN 1992-1-1 (C12 to C90), nu 0.1 to 0.2",
     "EN 1992-1-1, table 3.1: 22 GPa (f_cm / 10 MPa)^0.3 with f_cm 38 MPa; density Gere",
     R"({"type": "neo_hookean", "E": 3.3e10, "nu": 0.2, "rho": 2400})", "", ""},
    {"cotton", "plain weave as an isotropic sheet; published with a strain limit of 1.0608", codim, "",
     R"({"type": "neo_hookean", "E": 8.21e5, "nu": 0.243, "rho": 472.64, "thickness": 3.18e-4})", ""},
    {"denim", "woven; strain limits 0.28, 0.28, 0.05", codim, "",
     R"({"type": "barrier_orthotropic", "rho": 400, "thickness": 6.6e-4, "bending_E": 2.448e6, "a11": 4.793e6,
         "a12": 4.515e6, "a22": 9.029e6, "G12": 2.448e6, "E11max": 0.28, "E22max": 0.28, "E12max": 0.05})",
     ""},
    {"foam", "flexible polymer foam of low density, at small strains: 1 to 3 MPa, 38 to 70 kg/m3",
     "not compared: Cambridge University Engineering Department, Materials Data Book 2003, tables of density "
     "and Young's modulus",
     R"({"type": "neo_hookean", "E": 1e6, "nu": 0.3, "rho": 50})", "", ""},
    {"glass",
     "soda-lime silicate glass, does not break; others: 48 to 83 GPa, nu 0.17 to 0.27, 2400 to 2800 kg/m3",
     "EN 572-1, as makers of float glass quote it; ranges Gere",
     R"({"type": "neo_hookean", "E": 7e10, "nu": 0.2, "rho": 2500})",
     R"({"type": "neo_hookean", "E": 7e10, "nu": 0.2, "rho": 2500, "thickness": 1e-3})",
     R"({"E": 7e10, "rho": 2500})"},
    {"hair", "human hair, bending a hundredth of that of a full rod, 80 micrometres thick",
     "Li, Kaufman, Jiang 2021 (Codimensional IPC), hair and braids", "", "",
     R"({"E": 4e8, "rho": 1300, "radius": 4e-5, "bending_scale": 0.01})"},
    {"nylon", "polyamide, dry: 2.1 to 3.4 GPa, about 1 GPa where it is moist",
     "Gere; density not compared: Cambridge University Engineering Department, Materials Data Book 2003",
     R"({"type": "neo_hookean", "E": 2.9e9, "nu": 0.4, "rho": 1130})",
     R"({"type": "neo_hookean", "E": 2.9e9, "nu": 0.4, "rho": 1130, "thickness": 1e-3})",
     R"({"E": 2.9e9, "rho": 1130})"},
    {"paper", "playing cards and strong paper as an isotropic sheet; published with a strain limit of 1.005",
     codim, "", R"({"type": "neo_hookean", "E": 3e9, "nu": 0.3, "rho": 800, "thickness": 3e-4})", ""},
    {"polyester", "woven, as an isotropic sheet; published with a strain limit of 1.0646", codim, "",
     R"({"type": "neo_hookean", "E": 4.78e5, "nu": 0.381, "rho": 653.17, "thickness": 2.52e-4})", ""},
    {"rubber",
     "natural rubber without filler: E is three times the shear modulus of 0.39 MPa; others: 0.7 to 4 MPa; "
     "nu 0.45, the lower end of 0.45 to 0.5, because linear tetrahedra lock beyond it",
     "not compared: Treloar 1944 (Transactions of the Faraday Society 40, 59); nu and range Gere; density "
     "Materials Data Book 2003",
     R"({"type": "neo_hookean", "E": 1.2e6, "nu": 0.45, "rho": 930})",
     R"({"type": "neo_hookean", "E": 1.2e6, "nu": 0.45, "rho": 930, "thickness": 1e-3})",
     R"({"E": 1.2e6, "rho": 930})"},
    {"silicone",
     "soft casting silicone of Shore hardness 00-30: E from a stress of 69 kPa at twice the length "
     "(neo-Hookean: "
     "3 * 69 kPa / 1.75); others: 0.2 to 4 MPa; nu as for rubber",
     "not compared: Smooth-On, data sheet of Ecoflex 00-30",
     R"({"type": "neo_hookean", "E": 1.2e5, "nu": 0.45, "rho": 1070})",
     R"({"type": "neo_hookean", "E": 1.2e5, "nu": 0.45, "rho": 1070, "thickness": 1e-3})",
     R"({"E": 1.2e5, "rho": 1070})"},
    {"silk", "woven; strain limits 0.41, 0.34, 0.11", codim, "",
     R"({"type": "barrier_orthotropic", "rho": 83, "thickness": 1.8e-4, "bending_E": 5.7e5, "a11": 4.3e6,
         "a12": 4.971e6, "a22": 9.942e6, "G12": 5.7e5, "E11max": 0.41, "E22max": 0.34, "E12max": 0.11})",
     ""},
    {"skin",
     "human skin of young adults in torsion, twice as much in old age; published values range from 5 kPa to "
     "140 MPa; nu as for rubber",
     "not compared: Agache et al. 1980 (Archives of Dermatological Research 269, 221): 0.42 MPa; range Kalra "
     "and "
     "Lowe 2016, mechanical behaviour of skin, a review; density IT'IS database of tissue properties",
     R"({"type": "neo_hookean", "E": 4.2e5, "nu": 0.45, "rho": 1109})",
     R"({"type": "neo_hookean", "E": 4.2e5, "nu": 0.45, "rho": 1109, "thickness": 1.5e-3})", ""},
    {"steel", "structural steel; steels: 190 to 210 GPa, nu 0.27 to 0.3",
     "EN 1993-1-1, 3.2.6; density EN 1991-1-1, table A.4 (77 to 78.5 kN/m3); ranges Gere",
     R"({"type": "neo_hookean", "E": 2.1e11, "nu": 0.3, "rho": 7850})",
     R"({"type": "neo_hookean", "E": 2.1e11, "nu": 0.3, "rho": 7850, "thickness": 1e-3})",
     R"({"E": 2.1e11, "rho": 7850})"},
    {"wood",
     "softwood of class C24 along the grain, taken as isotropic: across it E is about a thirtieth; others: "
     "11 to "
     "14 GPa in bending",
     "density EN 338; not compared: E EN 338, range Gere, nu Wood Handbook FPL-GTR-190, table 5-1 (Sitka "
     "spruce)",
     R"({"type": "neo_hookean", "E": 1.1e10, "nu": 0.37, "rho": 420})",
     R"({"type": "neo_hookean", "E": 1.1e10, "nu": 0.37, "rho": 420, "thickness": 1e-3})",
     R"({"E": 1.1e10, "rho": 420})"},
    {"wool", "woven, as an isotropic sheet; published with a strain limit of 1.085", codim, "",
     R"({"type": "neo_hookean", "E": 1.7e5, "nu": 0.277, "rho": 413.38, "thickness": 5.68e-4})", ""},
    {"wool_lycra", "wool with elastane, as an isotropic sheet; published with a strain limit of 1.134", codim,
     "", R"({"type": "neo_hookean", "E": 7.6e4, "nu": 0.071, "rho": 543.29, "thickness": 3.28e-4})", ""},
};

bool mentions(std::string_view list, const JsonValue& object) {
  while (!list.empty()) {
    const std::string_view key = list.substr(0, list.find(' '));
    if (object.find(key)) return true;
    list.remove_prefix(std::min(list.size(), key.size() + 1));
  }
  return false;
}

void move_to(JsonValue& value, const JsonValue& at) {
  value.source = at.source;
  value.line = at.line;
  value.column = at.column;
  if (auto* members = value.get_if<JsonValue::Object>())
    for (auto& [key, member] : *members) move_to(member, at);
}

}  // namespace

std::string_view NamedMaterial::values_for(std::string_view group) const {
  if (group == "material") return solid;
  if (group == "shell_material") return sheet;
  return group == "rod_material" ? rod : std::string_view();
}

std::span<const NamedMaterial> named_materials() {
  return materials;
}

bool has_named_materials(std::string_view group) {
  return group == "material" || group == "shell_material" || group == "rod_material";
}

std::vector<std::string_view> material_names(std::string_view group) {
  std::vector<std::string_view> names;
  for (const NamedMaterial& material : materials)
    if (!material.values_for(group).empty()) names.push_back(material.name);
  return names;
}

JsonValue named_material(std::string_view name, std::string_view group, const JsonValue& at) {
  for (const NamedMaterial& material : materials)
    if (material.name == name && !material.values_for(group).empty()) {
      JsonValue values = parse_json(material.values_for(group), "material");
      move_to(values, at);
      return values;
    }
  return {};
}

JsonValue completed(const JsonValue& object, const JsonValue& values, const Row& row) {
  JsonValue result = object;
  auto& members = *result.get_if<JsonValue::Object>();
  std::erase_if(members, [](const auto& member) { return member.first == like_key; });
  for (const auto& [name, value] : *values.get_if<JsonValue::Object>()) {
    const auto key = std::find_if(row.keys.begin(), row.keys.end(),
                                  [&name = name](const Key& k) { return k.name == name; });
    if (key == row.keys.end() || object.find(name) || mentions(key->excludes, object)) continue;
    members.emplace_back(name, value);
  }
  return result;
}

}  // namespace apart
