#include <apart/scene/catalog.hpp>
#include <apart/scene/cell_materials.hpp>
#include <apart/scene/selection.hpp>

#include <cmath>
#include <map>

namespace apart {

namespace {

/// A parameter with a number for each cell.
struct Field {
  const Key* key;
  LocatedJson value;
  const VectorX* numbers;
};

bool is_field(const LocatedJson& value) {
  return value.value().get_if<JsonValue::Object>() != nullptr;
}

const VectorX& numbers_of(const LocatedJson& name, const Mesh& mesh) {
  const auto found = mesh.cell_data.find(name.text());
  if (found != mesh.cell_data.end()) return found->second;
  if (mesh.cell_data.empty())
    name.fail(
        "got \"{}\", but the mesh has no cell data with one number for each cell; add them to its file, or "
        "give "
        "a number here",
        name.text());
  std::vector<std::string> known;
  for (const auto& [known_name, numbers] : mesh.cell_data) known.push_back(fmt::format("\"{}\"", known_name));
  name.fail("got \"{}\", which is no cell data of the mesh; it has {}", name.text(), fmt::join(known, ", "));
}

Substance make_substance(const LocatedJson& material) {
  return {row_of(material, catalog().group("material")).make_material(material), material["rho"].number()};
}

/// An object of the group "material", made once for all cells with the same numbers.
class MaterialOfCells {
 public:
  MaterialOfCells(const LocatedJson& material, const Mesh& mesh) : material_(material) {
    for (const Key& key : row_of(material, catalog().group("material")).keys)
      if (material.has(key.name) && is_field(material[key.name])) {
        const LocatedJson value = material[key.name];
        fields_.push_back({&key, value, &numbers_of(value["field"], mesh)});
      }
  }

  /// The number of the substance of a cell in `substances`, to which it is added if it is new.
  Index at(Index cell, std::vector<Substance>& substances) {
    std::vector<double> numbers;
    for (const Field& f : fields_) numbers.push_back(checked(f, cell));
    const auto [known, is_new] = known_.emplace(std::move(numbers), Index(substances.size()));
    if (is_new) substances.push_back(make(cell, known->first));
    return known->second;
  }

 private:
  static double checked(const Field& field, Index cell) {
    const double number = (*field.numbers)[cell];
    const std::string& name = field.value["field"].text();
    if (std::isnan(number))
      field.value.fail("tetrahedron {} has no \"{}\" in the mesh file; give one to every tetrahedron", cell,
                       name);
    const Range& range = field.key->type.of[0].range;
    if (!std::isfinite(number) || !range.contains(number))
      field.value.fail("tetrahedron {} has \"{}\" = {}, {}; correct the mesh's cell data", cell, name, number,
                       std::isfinite(number) ? range.rule() : "must be finite");
    return number;
  }

  Substance make(Index cell, const std::vector<double>& numbers) const {
    JsonValue filled = material_.value();
    for (std::size_t i = 0; i < fields_.size(); ++i) filled.find(fields_[i].key->name)->data = numbers[i];
    try {
      return make_substance(LocatedJson(filled, material_.path()));
    } catch (const InputError& e) {
      if (fields_.empty()) throw;
      throw LocatedError(fmt::format("{} (tetrahedron {})", e.what(), cell));
    }
  }

  LocatedJson material_;
  std::vector<Field> fields_;
  std::map<std::vector<double>, Index> known_;
};

}  // namespace

Substance read_substance(const LocatedJson& material) {
  for (const Key& key : row_of(material, catalog().group("material")).keys)
    if (material.has(key.name) && is_field(material[key.name]))
      material[key.name].fail(
          "is a number for each cell, but an affine body is made of one thing; give a number, or make it a "
          "volume");
  return make_substance(material);
}

CellSubstances read_cell_substances(const LocatedJson& body, const PlacedMesh& placed) {
  const Mesh& mesh = placed.mesh;
  std::vector<MaterialOfCells> materials = {{body["material"], mesh}};
  std::vector<std::size_t> material_of(std::size_t(mesh.tetrahedra.cols()), 0);
  for (const LocatedJson& region : body["regions"].items()) {
    for (const Index t : select_tetrahedra(region["where"], placed))
      material_of[std::size_t(t)] = materials.size();
    materials.emplace_back(region["material"], mesh);
  }
  CellSubstances result;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t)
    result.of_cell.push_back(materials[material_of[std::size_t(t)]].at(t, result.substances));
  return result;
}

}  // namespace apart
