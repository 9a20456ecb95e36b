#include <apart/core/error.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/named_materials.hpp>

#include <algorithm>

namespace apart {

namespace {

constexpr std::string_view codim = "Li, Kaufman, Jiang 2021 (Codimensional IPC), table of cloth materials";

// 'Gere' is Gere, Mechanics of Materials, appendix with properties of materials, 'Ashby' is Ashby, Materials
// Selection in Mechanical Design, appendix with properties of materials: typical ranges. Sheets of solid
// materials are 1 mm thick unless their body says otherwise. Linear tetrahedra lock beyond nu = 0.45, which
// is therefore that of rubber, silicone and skin.
constexpr NamedMaterial materials[] = {
    {"aluminium", "aluminium alloy 6061-T6; alloys: 70 to 79 GPa, 2600 to 2800 kg/m3",
     "E and ranges Gere; Glemco's data sheet of 6061-T6, with values of the Aluminum Association: 68.9 GPa, "
     "nu 0.33, rho 2700 kg/m3",
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
     "E: EN 1992-1-1, table 3.1 (33 GPa as buildinghow.com and teachbooks.io print it), 22 GPa (f_cm / 10 "
     "MPa)^0.3 with f_cm 38 MPa; nu: upper end of Gere's range; rho Gere",
     R"({"type": "neo_hookean", "E": 3.3e10, "nu": 0.2, "rho": 2400})", "", ""},
    {"cotton", "plain weave as an isotropic sheet; published with a strain limit of 1.0608", codim, "",
     R"({"type": "neo_hookean", "E": 8.21e5, "nu": 0.243, "rho": 472.64, "thickness": 3.18e-4})", ""},
    {"denim", "woven; strain limits 0.28, 0.28, 0.05", codim, "",
     R"({"type": "barrier_orthotropic", "rho": 400, "thickness": 6.6e-4, "bending_E": 2.448e6, "a11": 4.793e6,
         "a12": 4.515e6, "a22": 9.029e6, "G12": 2.448e6, "E11max": 0.28, "E22max": 0.28, "E12max": 0.05})",
     ""},
    {"foam", "flexible polymer foam of low density, at small strains: 1 to 3 MPa, 38 to 70 kg/m3",
     "E and rho Ashby; nu falls from 0.5 to 0 as foam is compressed: doi 10.1016/j.ijengsci.2007.09.002",
     R"({"type": "neo_hookean", "E": 1e6, "nu": 0.3, "rho": 50})", "", ""},
    {"glass",
     "soda-lime silicate glass, does not break; others: 48 to 83 GPa, nu 0.17 to 0.27, 2400 to 2800 kg/m3",
     "E, nu and rho: EN 572-1 (data sheet of Vasglass); Pilkington's bulletin ATS-129: 72 GPa, 0.23, 2500 "
     "kg/m3; ranges Gere",
     R"({"type": "neo_hookean", "E": 7e10, "nu": 0.2, "rho": 2500})",
     R"({"type": "neo_hookean", "E": 7e10, "nu": 0.2, "rho": 2500, "thickness": 1e-3})",
     R"({"E": 7e10, "rho": 2500})"},
    {"hair", "human hair, bending a hundredth of that of a full rod, 80 micrometres thick",
     "Li, Kaufman, Jiang 2021 (Codimensional IPC), hair and braids", "", "",
     R"({"E": 4e8, "rho": 1300, "radius": 4e-5, "bending_scale": 0.01})"},
    {"nylon", "polyamide, dry: 2.1 to 3.4 GPa, about 1 GPa where it is moist",
     "E: middle of Ashby's range, 2.6 to 3.2 GPa; NETZSCH, polymers, PA6: 2.8 GPa, rho 1120 to 1150 kg/m3; "
     "Polyplasty, PA6: 3.2 GPa dry, 1.9 GPa moist, 1150 kg/m3; nu Gere, 0.39 by MatMatch, PA6; first range "
     "Gere",
     R"({"type": "neo_hookean", "E": 2.9e9, "nu": 0.4, "rho": 1130})",
     R"({"type": "neo_hookean", "E": 2.9e9, "nu": 0.4, "rho": 1130, "thickness": 1e-3})",
     R"({"E": 2.9e9, "rho": 1130})"},
    {"paper", "playing cards and strong paper as an isotropic sheet; published with a strain limit of 1.005",
     codim, "", R"({"type": "neo_hookean", "E": 3e9, "nu": 0.3, "rho": 800, "thickness": 3e-4})", ""},
    {"polyester", "woven, as an isotropic sheet; published with a strain limit of 1.0646", codim, "",
     R"({"type": "neo_hookean", "E": 4.78e5, "nu": 0.381, "rho": 653.17, "thickness": 2.52e-4})", ""},
    {"rubber",
     "natural rubber without filler: E is three times the shear modulus of 0.5 MPa; others: 0.7 to 5 MPa; nu "
     "0.45, the lower end of 0.45 to 0.5, because linear tetrahedra lock beyond it",
     "shear modulus: MatWeb, natural rubber, vulcanised (rho 950 kg/m3); rho: upper end of 920 to 930 kg/m3 "
     "by Ashby, who has E 1.5 to 2.5 MPa; NETZSCH, polymers: 1 to 5 MPa, 910 to 930 kg/m3; nu Gere",
     R"({"type": "neo_hookean", "E": 1.5e6, "nu": 0.45, "rho": 930})",
     R"({"type": "neo_hookean", "E": 1.5e6, "nu": 0.45, "rho": 930, "thickness": 1e-3})",
     R"({"E": 1.5e6, "rho": 930})"},
    {"silicone",
     "soft casting silicone of Shore hardness 00-30 (Ecoflex); 51 to 120 kPa by other tests of it, sealing "
     "silicones 5 to 22 MPa; nu as for rubber",
     "E: six times the first coefficient of a Yeoh model, 17 kPa, in the program Sorotoki; 51 kPa: three "
     "times the shear modulus that makes 1.75 of it the 29.7 kPa at twice the length in the published tests "
     "of Marechal et al. 2021 (Soft Robotics), whose first 20 % have 55 kPa; 120 kPa: the same of the 69 kPa "
     "in Smooth-On's data sheet, and rho, as other programs quote them; sealing silicones Ashby",
     R"({"type": "neo_hookean", "E": 1e5, "nu": 0.45, "rho": 1070})",
     R"({"type": "neo_hookean", "E": 1e5, "nu": 0.45, "rho": 1070, "thickness": 1e-3})",
     R"({"E": 1e5, "rho": 1070})"},
    {"silk", "woven; strain limits 0.41, 0.34, 0.11", codim, "",
     R"({"type": "barrier_orthotropic", "rho": 83, "thickness": 1.8e-4, "bending_E": 5.7e5, "a11": 4.3e6,
         "a12": 4.971e6, "a22": 9.942e6, "G12": 5.7e5, "E11max": 0.41, "E22max": 0.34, "E12max": 0.11})",
     ""},
    {"skin",
     "human skin, pressed: its outer layer is of 1 to 2 MPa; published values of the whole range from 5 kPa "
     "to "
     "140 MPa with test, direction, water and age, which doubles it; nu as for rubber",
     "E: lower end of Geerligs et al. 2011 (Journal of Biomechanics 44, 1176; abstract); range Kalra and "
     "Lowe 2016, mechanical "
     "behaviour "
     "of skin, a review; age Agache et al. 1980 (Archives of Dermatological Research 269, 221); density and "
     "thickness of the dermis (1116 kg/m3, 1 to 4 mm) in table 1 of a review in Burns 43 (2017), 909",
     R"({"type": "neo_hookean", "E": 1e6, "nu": 0.45, "rho": 1116})",
     R"({"type": "neo_hookean", "E": 1e6, "nu": 0.45, "rho": 1116, "thickness": 1.5e-3})", ""},
    {"steel", "structural steel; steels: 190 to 210 GPa, nu 0.27 to 0.3",
     "E and nu: EN 1993-1-1, 3.2.6; rho: EN 1991-1-1, table A.4 (77 to 78.5 kN/m3); both as calculators for "
     "the Eurocodes print them; ranges Gere",
     R"({"type": "neo_hookean", "E": 2.1e11, "nu": 0.3, "rho": 7850})",
     R"({"type": "neo_hookean", "E": 2.1e11, "nu": 0.3, "rho": 7850, "thickness": 1e-3})",
     R"({"E": 2.1e11, "rho": 7850})"},
    {"wood",
     "softwood of class C24 along the grain, taken as isotropic: across it E is a thirtieth; others: 11 to "
     "14 "
     "GPa in bending",
     "E, rho and E across the grain (0.37 GPa): EN 338 (strength classes of kvh.eu, the association of "
     "makers of structural timber); range Gere; nu of Sitka spruce 0.43 to 0.44 (Acta Acustica 2025, article "
     "240113, table 5) and of Korean pine 0.43 (Journal of Wood Science 64 (2018), 85)",
     R"({"type": "neo_hookean", "E": 1.1e10, "nu": 0.43, "rho": 420})",
     R"({"type": "neo_hookean", "E": 1.1e10, "nu": 0.43, "rho": 420, "thickness": 1e-3})",
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

std::string values_in_words(std::string_view values) {
  std::string text;
  const JsonValue object = parse_json(values, "material");
  for (const auto& [key, value] : *object.get_if<JsonValue::Object>())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key,
                        value.get_if<std::string>() ? *value.get_if<std::string>()
                                                    : fmt::format("{:.6g}", std::get<double>(value.data)));
  return text;
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
