#include <apart/io/file_reader.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/cell_materials.hpp>
#include <apart/scene/selection.hpp>

#include <cmath>
#include <map>

namespace apart {

namespace {

/// Calls f with the key and the value of every parameter that is given.
template <class M, class F>
void each_parameter(M& material, F&& f) {
  const auto given = [&](std::string_view key, auto& parameter) {
    if (parameter) f(key, *parameter);
  };
  if constexpr (requires { material.E; }) {
    f("E", material.E);
    f("nu", material.nu);
    given("lambda", material.lambda);
    given("mu", material.mu);
  }
  if constexpr (requires { material.c1; }) {
    given("c1", material.c1);
    given("c2", material.c2);
    given("bulk", material.bulk);
  }
  if constexpr (requires { material.stiffness; }) f("stiffness", material.stiffness);
  f("rho", material.rho);
}

/// A parameter with a number for each cell.
struct Field {
  std::string_view key;
  FieldDescription description;
  const Range* range;
  VectorX numbers;
};

VectorX cell_data_of(const FieldDescription& field, const Mesh& mesh) {
  const auto found = mesh.cell_data.find(*field.field);
  if (found != mesh.cell_data.end()) return found->second;
  const Place place = field.place["field"];
  if (mesh.cell_data.empty())
    place.fail(
        "got \"{}\", but the mesh has no cell data with one number for each cell; add them to its file, or "
        "give a number here",
        *field.field);
  std::vector<std::string> known;
  for (const auto& [known_name, numbers] : mesh.cell_data) known.push_back(fmt::format("\"{}\"", known_name));
  place.fail("got \"{}\", which is no cell data of the mesh; it has {}", *field.field,
             fmt::join(known, ", "));
}

VectorX numbers_of(const FieldDescription& field, const Mesh& mesh) {
  if (field.field) return cell_data_of(field, mesh);
  if (!field.file)
    field.place.fail("is empty, must have \"field\", the name of the mesh's cell data, or \"file\"");
  const Place place = field.place["file"];
  std::vector<double> numbers;
  place.locate([&] {
    FileReader reader(*field.file);
    while (reader.skip_blank()) numbers.push_back(reader.finite_real("number of a tetrahedron"));
  });
  if (Index(numbers.size()) != mesh.cell_count())
    place.fail("has {} numbers, but the mesh has {} tetrahedra; it belongs to another mesh", numbers.size(),
               mesh.cell_count());
  return VectorX::Map(numbers.data(), Index(numbers.size()));
}

template <class M>
const Range& range_of(const M&, std::string_view parameter) {
  for (const Key& key : catalog().group(M::group).row(M::kind).keys)
    if (key.name == parameter) return key.type.of[0].range;
  throw InvariantError("range_of: the catalog has no such parameter");
}

Substance substance_of(const MaterialDescription& material) {
  return std::visit([](const auto& m) { return Substance{m.make(), number(m.rho)}; }, material);
}

/// A material, made once for all cells with the same numbers.
class MaterialOfCells {
 public:
  MaterialOfCells(const MaterialDescription& material, const Mesh& mesh) : material_(material) {
    std::visit(
        [&](const auto& m) {
          each_parameter(m, [&](std::string_view key, const MaterialParameter& parameter) {
            if (const auto* field = std::get_if<FieldDescription>(&parameter))
              fields_.push_back({key, *field, &range_of(m, key), numbers_of(*field, mesh)});
          });
        },
        material);
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
    const double number = field.numbers[cell];
    const FieldDescription& d = field.description;
    if (std::isnan(number))
      d.place.fail("tetrahedron {} has no \"{}\" in the mesh file; give one to every tetrahedron", cell,
                   *d.field);
    if (!std::isfinite(number) || !field.range->contains(number))
      d.place.fail("tetrahedron {} has {} = {}, {}; correct {}", cell,
                   d.field ? fmt::format("\"{}\"", *d.field) : std::string(field.key), number,
                   std::isfinite(number) ? field.range->rule() : "must be finite",
                   d.field ? "the mesh's cell data" : "the file");
    return number;
  }

  Substance make(Index cell, const std::vector<double>& numbers) const {
    MaterialDescription filled = material_;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      std::visit(
          [&](auto& m) {
            each_parameter(m, [&](std::string_view key, MaterialParameter& parameter) {
              if (key == fields_[i].key) parameter = numbers[i];
            });
          },
          filled);
    try {
      return substance_of(filled);
    } catch (const InputError& e) {
      if (fields_.empty()) throw;
      throw LocatedError(fmt::format("{} (tetrahedron {})", e.what(), cell));
    }
  }

  MaterialDescription material_;
  std::vector<Field> fields_;
  std::map<std::vector<double>, Index> known_;
};

}  // namespace

namespace {

Substance make_uniform(const MaterialDescription& material, std::string_view why) {
  std::visit(
      [&](const auto& m) {
        each_parameter(m, [&](std::string_view, const MaterialParameter& parameter) {
          if (const auto* field = std::get_if<FieldDescription>(&parameter))
            field->place.fail("is a number for each cell, but {}", why);
        });
      },
      material);
  return substance_of(material);
}

}  // namespace

Substance make_substance(const MaterialDescription& material) {
  return make_uniform(material, "an affine body is made of one thing; give a number, or make it a volume");
}

CellSubstances make_cell_substances(const PlanarDescription& body, const PlacedMesh& placed) {
  constexpr std::string_view why = "in a planar body a material has one; give a number, and use regions";
  CellSubstances result{{make_uniform(body.material, why)},
                        std::vector<Index>(std::size_t(placed.mesh.faces.cols()), 0)};
  for (const RegionDescription& region : body.regions) {
    const std::vector<Index> chosen = select_triangles(region.where, placed, placed.mesh.faces);
    if (chosen.empty())
      place_of(region.where)
          .fail("got {}, which chooses no triangle with all its points; choose more",
                short_text(region.where));
    for (const Index t : chosen) result.of_cell[std::size_t(t)] = Index(result.substances.size());
    result.substances.push_back(make_uniform(region.material, why));
  }
  return result;
}

CellSubstances make_cell_substances(const VolumeDescription& body, const PlacedMesh& placed) {
  const Mesh& mesh = placed.mesh;
  std::vector<MaterialOfCells> materials = {{body.material, mesh}};
  std::vector<std::size_t> material_of(std::size_t(mesh.cell_count()), 0);
  for (const RegionDescription& region : body.regions) {
    for (const Index t : select_tetrahedra(region.where, placed))
      material_of[std::size_t(t)] = materials.size();
    materials.emplace_back(region.material, mesh);
  }
  CellSubstances result;
  for (Index t = 0; t < mesh.cell_count(); ++t)
    result.of_cell.push_back(materials[material_of[std::size_t(t)]].at(t, result.substances));
  return result;
}

}  // namespace apart
