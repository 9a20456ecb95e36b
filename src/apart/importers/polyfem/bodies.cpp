// Scenes of PolyFEM as scenes: bodies, and conditions on parts of them.
#include <apart/importers/polyfem/formulas.hpp>
#include <apart/importers/polyfem/importer.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>

namespace apart::polyfem {

namespace {
constexpr int proxy_parts = 9;  ///< of each edge of the surface that PolyFEM tessellates: ten points
}  // namespace

void PolyfemImporter::add(const LocatedJson& at) {
  Section section(at, "geometry", notes_);
  bool enabled = true, is_obstacle = false;
  section.take_boolean("enabled", enabled);
  section.take_boolean("is_obstacle", is_obstacle);
  const auto mesh_file = section.find("mesh");
  if (!mesh_file) at.fail("has no \"mesh\"; planes and other shapes of its own are not read");
  const auto transformation = section.find("transformation"), volume = section.find("volume_selection"),
             surface = section.find("surface_selection");
  if (const auto refinements = section.find("n_refs"); refinements && refinements->integer() > 0)
    refinements->fail("got {}, must be 0; refine the mesh itself", refinements->integer());
  section.ignore({"advanced", "extract", "point_selection", "curve_selection", "type"});
  section.finish();
  if (!enabled) return;
  const fs::path path = named_file(*mesh_file);
  const Mesh mesh = mesh_file->locate([&] { return read_mesh(path); });
  const TransformDescription transform = transform_of(transformation, bounding_box(mesh.points));
  const auto shaped = [&](auto body) {
    body.place = place_of(at);
    body.name = fresh_name(path.stem().string());
    body.mesh = file_mesh(path, *mesh_file);
    body.transform = transform;
    return body;
  };
  if (planar_ && is_flat(mesh)) {
    PlanarDescription body = shaped(PlanarDescription{});
    if (is_obstacle)
      set_motion(body, surface);
    else
      set_planar(body, at, volume ? volume_id(*volume) : 0);
    if (!is_obstacle && surface)
      set_fixed(body, sides_of(*surface, bounding_box(transformed(mesh, transform).points), notes_));
    scene_.bodies.push_back(std::move(body));
  } else if (is_obstacle) {
    ObstacleDescription obstacle = shaped(ObstacleDescription{});
    if (surface && surface->value().get_if<double>()) set_motion(obstacle, surface->integer());
    scene_.bodies.push_back(std::move(obstacle));
  } else {
    VolumeDescription body = shaped(VolumeDescription{});
    set_volume(body, at, volume ? volume_id(*volume) : 0, mesh);
    if (surface)
      set_fixed(body, sides_of(*surface, bounding_box(transformed(mesh, transform).points), notes_));
    scene_.bodies.push_back(std::move(body));
  }
}

FileMesh PolyfemImporter::file_mesh(const fs::path& path, const LocatedJson& at) const {
  FileMesh mesh;
  mesh.place = place_of(at);
  mesh.file = written_path(path, directory_);
  return mesh;
}

std::string PolyfemImporter::fresh_name(std::string stem) {
  if (stem.empty()) stem = "body";
  for (char& c : stem)
    if (c == '*' || c == '[' || c == ']') c = '_';
  std::string result = stem;
  for (int i = 2; !names_.insert(result).second; ++i) result = fmt::format("{}_{}", stem, i);
  return result;
}

TransformDescription PolyfemImporter::transform_of(const std::optional<LocatedJson>& at, const Aabb& box) {
  TransformDescription result;
  if (!at) return result;
  Section section(*at, "transformation", notes_);
  if (const auto scale = section.find("scale")) {
    if (scale->value().get_if<double>())
      result.scale = scale->number();
    else
      result.scale = vector_of(*scale) + Vector3(0, 0, scale->size() == 2 ? 1 : 0);
  }
  if (const auto dimensions = section.find("dimensions")) {
    const Vector3 extent = box.upper - box.lower;
    Vector3 scale = vector_of(*dimensions);
    for (int k = 0; k < 3; ++k) {
      scale[k] = extent[k] == 0 ? 1 : tidy(scale[k] / extent[k]);
      if (scale[k] == 0) dimensions->fail("makes the body flat along {}; must not be 0", "xyz"[k]);
    }
    result.scale = scale;
  }
  if (const auto rotation = section.find("rotation")) {
    const bool one = rotation->value().get_if<double>() != nullptr;
    if (!one && (!rotation->value().get_if<JsonValue::Array>() || rotation->size() != 3))
      rotation->fail("got {}, must be three angles in degrees, or one in the plane",
                     to_short_text(rotation->value()));
    result.rotate = one ? Vector3(0, 0, rotation->number()) : rotation->vector();
  }
  if (section.word("rotation_mode", {"xyz"}) != "xyz") return result;
  if (const auto translation = section.find("translation")) result.translate = vector_of(*translation);
  section.finish();
  return result;
}

int PolyfemImporter::order_of(Index id) const {
  if (!order_) return 1;
  const auto order = [](const LocatedJson& at) {
    const Index value = at.integer();
    if (value < 1 || value > 4) at.fail("got {}, must be 1 to 4", value);
    return int(value);
  };
  if (order_->value().get_if<double>()) return order(*order_);
  for (const LocatedJson& item : entries(*order_))
    if (!item.has("id") || item["id"].integer() == id) return order(item["order"]);
  return 1;
}

void PolyfemImporter::set_volume(VolumeDescription& body, const LocatedJson& at, Index id, const Mesh& mesh) {
  if (!mesh.is_volume()) at["mesh"].fail("has no tetrahedra; a body that is no obstacle needs some");
  const int degree = mesh.curved.empty() ? 1 : mesh.curved.front().degree;
  body.basis_order = order_of(id);
  if (*body.basis_order == 1 && degree == 1) {
    body.basis_order.reset();
    body.mass = MassKind::consistent;
  } else if (quadrature_) {
    body.quadrature_order = quadrature_;
  }
  body.material = material_of(id, at);
  if (const auto found = velocities_.find(id); found != velocities_.end()) body.velocity = found->second;
  ++volumes_;
  if (collision_) set_collision(body, *collision_);
}

void PolyfemImporter::set_planar(PlanarDescription& body, const LocatedJson& at, Index id) {
  if (order_of(id) > 1)
    notes_.once("order", at, "is of linear triangles here: a discr_order above 1 is for tetrahedra");
  body.mass = MassKind::consistent;
  body.material = material_of(id, at);
  std::visit(
      [&](auto& m) {
        if constexpr (std::derived_from<std::decay_t<decltype(m)>, ElasticMaterial>) convert_to_plane(m, at);
      },
      body.material);
  if (const auto found = velocities_.find(id); found != velocities_.end()) body.velocity = found->second;
}

void PolyfemImporter::set_motion(PlanarDescription& body, const std::optional<LocatedJson>& surface) {
  ObstacleDescription moved;
  if (surface && surface->value().get_if<double>()) set_motion(moved, surface->integer());
  body.transform.translate += moved.transform.translate;
  body.motion = moved.motion;
  if (body.motion) return;
  FixedDescription fixed;
  fixed.place = body.place;
  fixed.where = AllSelection{};
  body.fixed.push_back(fixed);
}

MaterialDescription PolyfemImporter::material_of(Index id, const LocatedJson& body) {
  for (const LocatedJson& item : materials_) {
    Section section(item, "materials", notes_);
    const auto ids = section.find("id");
    if (ids) {
      const auto all = entries(*ids);
      if (std::ranges::none_of(all, [&](const LocatedJson& one) { return one.integer() == id; })) continue;
    }
    const std::string type = item.has("type") ? item["type"].text() : "NeoHookean";
    section.find("type");
    NeoHookeanDescription material;
    material.place = place_of(item);
    const LocatedJson* given = &item;
    std::optional<LocatedJson> inner;
    if (type == "MaterialSum") {
      for (const LocatedJson& part : item["models"].items())
        if (part["type"].text() == "NeoHookean") inner = part;
      if (!inner) item.fail("is a sum without NeoHookean, which is not read");
      given = &*inner;
      notes_.add(item, "keeps NeoHookean alone: elements never invert here, so no barrier is needed");
      section.find("models");
    } else if (type != "NeoHookean" && type != "LinearElasticity" && type != "SaintVenant") {
      item["type"].fail("got {}, must be NeoHookean, LinearElasticity or SaintVenant",
                        to_short_text(item["type"].value()));
    }
    const auto number = [&](std::string_view key, MaterialParameter& value) {
      section.find(key);
      const LocatedJson& from = given->has(key) ? *given : item;
      if (!from.has(key)) return;
      if (from[key].value().get_if<std::string>()) {
        FieldDescription field;
        field.place = place_of(from[key]);
        field.file = written_path(named_file(from[key]), directory_);
        value = field;
      } else {
        value = from[key].number();
      }
    };
    number("E", material.E);
    number("nu", material.nu);
    number("rho", material.rho);
    section.ignore({"phi", "psi"});
    section.finish();
    const auto as = [&](auto result) -> MaterialDescription {
      static_cast<ElasticMaterial&>(result) = material;
      return result;
    };
    if (type == "LinearElasticity") return as(LinearElasticityDescription{});
    if (type == "SaintVenant") return as(StVenantKirchhoffDescription{});
    return material;
  }
  body.fail("has volume_selection {}, for which there is no material", id);
}

void PolyfemImporter::set_collision(VolumeDescription& body, const LocatedJson& at) {
  Section section(at, "contact.collision_mesh", notes_);
  bool enabled = true;
  section.take_boolean("enabled", enabled);
  const auto mesh = section.find("mesh"), map = section.find("linear_map");
  section.ignore({"scale", "position", "rotation"}, "nor in PolyFEM: the first geometry places it");
  section.ignore({"max_edge_length", "tessellation_type"});
  section.finish();
  if (!enabled) return;
  CollisionDescription collision;
  collision.place = place_of(at);
  if (mesh) {
    if (volumes_ > 1)
      at.fail("is of the first body only; scenes with several that are no obstacles are not read");
    collision.mesh = file_mesh(named_file(*mesh), *mesh);
    if (map) collision.weights = written_path(named_file(*map), directory_);
  } else if (body.basis_order) {
    collision.resolution = proxy_parts;
  } else {
    return;
  }
  body.collision = std::move(collision);
}

void PolyfemImporter::set_fixed(DynamicBody& body, const std::vector<Side>& sides) {
  std::string earlier;
  for (const Side& side : sides) {
    const auto found = dirichlet_.find(side.id);
    if (found != dirichlet_.end()) {
      used_.insert(side.id);
      const LocatedJson& condition = found->second;
      if (side.where.empty()) condition.fail("holds the whole boundary, which is not read; select a part");
      ExpressionSelection where;
      where.expression = earlier.empty() ? side.where : fmt::format("({}) && !({})", side.where, earlier);
      FixedDescription fixed;
      fixed.place = place_of(condition);
      fixed.where = where;
      if (condition.has("dimension")) {
        fixed.axes.clear();
        for (std::size_t k = 0; k < std::min<std::size_t>(3, condition["dimension"].size()); ++k)
          if (condition["dimension"][k].boolean()) fixed.axes += "xyz"[k];
      }
      fixed.motion = motion_of(condition["value"]);
      if (fixed.motion) begin_at_rest(std::get<FormulaMotion>(*fixed.motion).translate, condition);
      if (!fixed.axes.empty()) body.fixed.push_back(std::move(fixed));
    }
    if (!side.where.empty()) earlier += (earlier.empty() ? "" : " || ") + fmt::format("({})", side.where);
  }
}

void PolyfemImporter::set_motion(ObstacleDescription& obstacle, Index id) {
  const auto found = displacements_.find(id);
  if (found == displacements_.end()) return;
  used_obstacles_.insert(id);
  obstacle.motion = motion_of(found->second["value"]);
  if (obstacle.motion)  // it is there at once
    obstacle.transform.translate +=
        take_start(std::get<FormulaMotion>(*obstacle.motion).translate, found->second);
}

std::optional<MotionDescription> PolyfemImporter::motion_of(const LocatedJson& value) {
  FormulaMotion motion;
  motion.place = place_of(value);
  if (value.size() != 3 && !(planar_ && value.size() == 2))
    value.fail("got {}, must be three values", to_short_text(value.value()));
  bool moves = false;
  for (std::size_t k = 0; k < (planar_ ? 2u : 3u); ++k) {
    motion.translate[k] = formula(value[k]);
    const double* number = std::get_if<double>(&motion.translate[k]);
    moves = moves || !number || *number != 0;
  }
  if (!moves) return std::nullopt;
  return motion;
}

void PolyfemImporter::check_ids() {
  for (const auto& [id, condition] : dirichlet_)
    if (!used_.contains(id)) condition.fail("holds side {}, which no body has", id);
  for (const auto& [id, condition] : displacements_)
    if (!used_obstacles_.contains(id)) condition.fail("moves obstacle {}, which does not exist", id);
}

}  // namespace apart::polyfem
