// Bodies of a script, their sequences of meshes, and its obstacles.
#include <apart/geometry/aabb.hpp>
#include <apart/importers/ipc/importer.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/validation.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart::ipc {

std::string Importer::fresh_name(const std::string& path, bool alone) {
  const std::string stem = fs::path(path).stem().string();
  std::string base;
  for (const char c : stem) base += c == '*' || c == '[' || c == ']' ? '_' : c;
  std::string result = base;
  if (!alone || names_.contains(result))
    for (int i = 1; result = fmt::format("{}_{}", base, i), names_.contains(result); ++i) {
    }
  names_.insert(result);
  return result;
}

std::size_t Importer::namesakes(const std::string& path) const {
  const fs::path stem = fs::path(path).stem();
  const auto same = [&](const auto& thing) { return fs::path(thing.path).stem() == stem; };
  return std::size_t(std::count_if(script_.shapes.begin(), script_.shapes.end(), same) +
                     std::count_if(script_.mesh_obstacles.begin(), script_.mesh_obstacles.end(), same));
}

JsonValue Importer::mesh_value(const Source& source) const {
  if (!source.written_out) return Object().add("file", path_value(source.file)).value();
  JsonValue::Array points;
  for (Index i = 0; i < source.mesh.points.cols(); ++i) points.push_back(numbers(source.mesh.points.col(i)));
  Object mesh;
  mesh.add("points", JsonValue(std::move(points)));
  if (source.mesh.edges.cols() > 0) {
    JsonValue::Array edges;
    for (Index e = 0; e < source.mesh.edges.cols(); ++e)
      edges.push_back(
          JsonValue(JsonValue::Array{number(source.mesh.edges(0, e)), number(source.mesh.edges(1, e))}));
    mesh.add("segments", JsonValue(std::move(edges)));
  }
  return mesh.value();
}

JsonValue Importer::material(const IpcShape& shape) const {
  const IpcMaterial& m = shape.material ? *shape.material : script_.material;
  return Object()
      .add("type", text(script_.energy == IpcScript::Energy::neo_hookean ? "neo_hookean" : "fixed_corotated"))
      .add("E", number(m.young))
      .add("nu", number(m.poisson))
      .add("rho", number(m.density))
      .value();
}

void Importer::add_shapes(JsonValue::Array& bodies) {
  std::size_t c = 0;
  for (std::size_t s = 0; s < script_.shapes.size(); ++s) {
    const IpcShape& shape = script_.shapes[s];
    const std::size_t copies = std::size_t(shape.counts.prod());
    const bool alike = copies > 1 && can_be_array(c, copies);
    if (alike) {
      bodies.push_back(body(c, fresh_name(shape.path, namesakes(shape.path) == 1), true));
    } else {
      for (std::size_t i = 0; i < copies; ++i)
        bodies.push_back(
            body(c + i, fresh_name(shape.path, copies == 1 && namesakes(shape.path) == 1), false));
    }
    c += copies;
  }
}

bool Importer::can_be_array(std::size_t first, std::size_t count) const {
  if (turned_ || !staging_.pushes.empty() || !staging_.handles.empty()) return false;
  if (staging_.follows_folder && components_[first].dimension < 3) return false;
  const auto velocity = [&](std::size_t c) {
    const auto found = staging_.initial_velocity.find(c);
    return found == staging_.initial_velocity.end() ? Vector3(Vector3::Zero()) : found->second;
  };
  const std::string how = flat_text(whole_motion(first));
  for (std::size_t c = first; c < first + count; ++c) {
    const auto moving = staging_.components.find(c);
    if (moving != staging_.components.end() && moving->second.spin)
      return false;  // each about its own centre
    if (flat_text(whole_motion(c)) != how || velocity(c) != velocity(first)) return false;
  }
  return true;
}

int Importer::shape_dimension(std::size_t shape) const {
  return sources_[shape_source_[shape]].dimension;
}

Vector3 Importer::center_of(std::size_t component) const {
  return bounding_box(components_[component].start).centre();
}

Vector3 Importer::mass_center(std::size_t component) const {
  const Matrix3X& x = components_[component].start;
  const Tetrahedra& tetrahedra = sources_[shape_source_[components_[component].shape]].mesh.tetrahedra;
  Vector3 sum = Vector3::Zero();
  double volume = 0;
  for (Index t = 0; t < tetrahedra.cols(); ++t) {
    const auto corner = [&](int k) -> Vector3 { return x.col(tetrahedra(k, t)); };
    const double v = std::abs(signed_volume6(corner(0), corner(1), corner(2), corner(3)));
    sum += v * 0.25 * (corner(0) + corner(1) + corner(2) + corner(3));
    volume += v;
  }
  return sum / volume;
}

JsonValue Importer::body(std::size_t component, const std::string& name, bool array) {
  const IpcComponent& c = components_[component];
  const IpcShape& shape = script_.shapes[c.shape];
  const Source& source = sources_[shape_source_[c.shape]];
  const bool options = staging_.uses_shape_options;
  const bool volume = c.dimension == 3;
  const bool sequence = (options && !shape.sequence.empty()) || leads_folder(component);
  Object result;
  result.add("type", text(volume && !sequence ? "volume" : "obstacle")).add("name", text(name));
  if (sequence) {
    add_sequence(result, component);
    return at_line(shape.line, result.value());
  }
  result.add("mesh", mesh_value(source));
  result.add("transform", placing_value(placings_[component], shape.rotate, turned_));
  if (array) {
    result.add("array", Object()
                            .add("counts", numbers(shape.counts.cast<double>()))
                            .add("spacing", numbers((script_.size > 0 ? size_factor_ : 1) * shape.spacing))
                            .value());
  }
  JsonValue whole = whole_motion(component);
  const bool scripted =
      (options && (shape.velocity || shape.angular_velocity)) || staging_.components.contains(component);
  if (!volume) {
    if (options) whole = merge_dirichlet(component, std::move(whole));
    if (!whole.is_null()) result.add("motion", std::move(whole));
    return at_line(shape.line, result.value());
  }
  result.add("material", material(shape));
  if (!scripted) add_initial_velocity(result, component);
  JsonValue::Array fixed;
  if (!whole.is_null())
    result.add("motion", std::move(whole));
  else if (scripted)
    fixed.push_back(Object().add("where", Object().add("all", JsonValue(true)).value()).value());
  add_handles(fixed, component);
  if (options && !scripted) add_dirichlet(fixed, component);
  if (!fixed.empty()) result.add("fixed", JsonValue(std::move(fixed)));
  JsonValue::Array loads;
  add_loads(loads, component);
  if (!loads.empty()) result.add("loads", JsonValue(std::move(loads)));
  if (const double damping = damping_time(); damping > 0)
    result.add("damping", Object().add("stiffness", number(damping)).value());
  return at_line(shape.line, result.value());
}

JsonValue Importer::whole_motion(std::size_t component) const {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  if (staging_.uses_shape_options && (shape.velocity || shape.angular_velocity))
    return motion(steady(shape.velocity.value_or(Vector3::Zero()),
                         shape.angular_velocity.value_or(Vector3::Zero()), components_[component].start));
  const auto found = staging_.components.find(component);
  return found == staging_.components.end() ? JsonValue() : motion(found->second);
}

JsonValue Importer::merge_dirichlet(std::size_t component, JsonValue whole) const {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  for (const IpcDirichlet& d : shape.dirichlet) {
    const Chosen chosen = choose_box(component, d.low, d.high);
    if (chosen.points.empty() || (d.velocity.isZero(0) && d.angular_velocity.isZero(0))) continue;
    const bool always = d.range.from <= 0 && d.range.until >= 1e300 && script_.dirichlet_range.from <= 0 &&
                        script_.dirichlet_range.until >= 1e300;
    if (Index(chosen.points.size()) < components_[component].start.cols() || !always || !whole.is_null())
      fail(d.line,
           "this DBC moves a part of a shape without tetrahedra, or for a part of the time; such a shape "
           "moves as a whole, with linearVelocity, angularVelocity or meshSeq");
    whole = motion(steady(d.velocity, d.angular_velocity, components_[component].start));
  }
  return whole;
}

void Importer::add_initial_velocity(Object& result, std::size_t component) const {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  if (const auto found = staging_.initial_velocity.find(component); found != staging_.initial_velocity.end())
    result.add("velocity", numbers(found->second));
  if (!staging_.uses_shape_options || !shape.initial_velocity) return;
  // The reference turns about the centre of the bounding box, this program about the centre of mass.
  const Vector3 omega = *shape.initial_angular_velocity;
  const Vector3 arm = mass_center(component) - center_of(component);
  Vector3 velocity = *shape.initial_velocity;
  if (arm.norm() > 1e-9 * bounding_box(components_[component].start).diagonal())
    velocity += (degrees * omega).cross(arm);
  result.add("velocity", numbers(velocity)).add("angular_velocity", numbers(omega));
}

void Importer::add_handles(JsonValue::Array& fixed, std::size_t component) const {
  for (std::size_t h = 0; h < staging_.handles.size(); ++h) {
    const IpcHandle& handle = staging_.handles[h];
    Chosen chosen = choose(handle_places_[h], component);
    if (chosen.points.empty()) continue;
    Object entry;
    entry.add("where", std::move(chosen.where));
    if (JsonValue how = motion(handle.movement); !how.is_null()) entry.add("motion", std::move(how));
    if (handle.until < infinity) entry.add("until", number(handle.until));
    fixed.push_back(at_line(script_.script_line, entry.value()));
  }
}

void Importer::add_dirichlet(JsonValue::Array& fixed, std::size_t component) {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  struct Earlier {
    const IpcDirichlet* condition;
    std::vector<Index> points;
  };
  std::vector<Earlier> earlier;
  for (const IpcDirichlet& d : shape.dirichlet) {
    Chosen chosen = choose_box(component, d.low, d.high);
    if (chosen.points.empty()) {
      note(d.line, "this DBC chooses no points; it has no effect");
      continue;
    }
    for (const Earlier& e : earlier) {
      std::vector<Index> common;
      std::set_intersection(e.points.begin(), e.points.end(), chosen.points.begin(), chosen.points.end(),
                            std::back_inserter(common));
      const bool together =
          e.condition->range.from < d.range.until && d.range.from < e.condition->range.until;
      const bool equal =
          e.condition->velocity == d.velocity && e.condition->angular_velocity == d.angular_velocity;
      if (!common.empty() && together && !equal)
        fail(d.line,
             "this DBC and the one in line {} choose {} points both, for the same time, and move them "
             "differently; make their boxes or times disjoint",
             e.condition->line, common.size());
    }
    const Matrix3X points = components_[component].start(Eigen::all, chosen.points);
    Object entry;
    entry.add("where", std::move(chosen.where));
    if (JsonValue how = motion(steady(d.velocity, d.angular_velocity, points, d.range)); !how.is_null())
      entry.add("motion", std::move(how));
    add_range(entry, d.range, script_.dirichlet_range);
    fixed.push_back(at_line(d.line, entry.value()));
    earlier.push_back({&d, std::move(chosen.points)});
  }
}

void Importer::add_loads(JsonValue::Array& loads, std::size_t component) {
  for (std::size_t p = 0; p < staging_.pushes.size(); ++p) {
    const IpcPush& push = staging_.pushes[p];
    Chosen chosen = choose(push_places_[p], component);
    if (chosen.points.empty()) continue;
    loads.push_back(
        at_line(script_.script_line, body_force(std::move(chosen.where), push.acceleration).value()));
  }
  for (const IpcNeumann& n : script_.shapes[components_[component].shape].neumann) {
    Chosen chosen = choose_box(component, n.low, n.high);
    if (chosen.points.empty()) {
      note(n.line, "this NBC chooses no points; it has no effect");
      continue;
    }
    Object load = body_force(std::move(chosen.where), n.acceleration);
    add_range(load, n.range, script_.neumann_range);
    loads.push_back(at_line(n.line, load.value()));
  }
}

Object Importer::body_force(JsonValue where, const Vector3& acceleration) {
  Object load;
  load.add("type", text("body_force"))
      .add("where", std::move(where))
      .add("acceleration", numbers(acceleration));
  return load;
}

double Importer::damping_time() const {
  const double dt = script_.dt;
  const double k =
      script_.damping_ratio > 0 ? 0.75 * script_.damping_ratio * dt * dt * dt : script_.damping_stiffness;
  return k / (dt * dt * (script_.newmark ? script_.beta : 1));
}

bool Importer::leads_folder(std::size_t component) const {
  if (!staging_.follows_folder) return false;
  for (std::size_t c = 0; c < components_.size(); ++c)
    if (components_[c].dimension < 3) return c == component;
  return false;
}

void Importer::add_sequence(Object& result, std::size_t component) {
  const IpcComponent& c = components_[component];
  const IpcShape& shape = script_.shapes[c.shape];
  const bool named = leads_folder(component);
  const std::string& folder = named ? script_.script_folder : shape.sequence;
  const int line = named ? script_.script_line : shape.line;
  const auto found = find(folder);
  std::error_code error;
  if (!found || !fs::is_directory(*found, error))
    fail(line, "folder {} not found; it is looked for in the script's folder and those above it", folder);
  static constexpr std::string_view own[] = {".pt", ".seg", ".obj", ".msh"};
  std::string extension(named ? ".obj" : own[c.dimension]);
  const auto file = [&](Index number) { return *found / fmt::format("{}{}", number, extension); };
  if (!fs::exists(file(0), error) && c.dimension < 2) extension = ".obj";
  if (!fs::exists(file(0), error))
    fail(line, "{} is missing; a sequence begins with the shape as it starts", file(0).string());
  Index count = 1;
  while (count <= ipc_steps(script_) && fs::exists(file(count), error)) ++count;
  const Mesh first = extension == ".pt" ? read_obj(file(0)) : read_mesh(file(0));
  if (first.points.cols() != c.start.cols())
    fail(line, "{} has {} points, the shape {}; they must be the same points", file(0).string(),
         first.points.cols(), c.start.cols());
  if ((first.points - c.start).colwise().norm().maxCoeff() > 1e-4 * bounding_box(c.start).diagonal())
    fail(line, "{} is not where the shape starts; a sequence begins with the shape as it starts",
         file(0).string());
  if (extension != ".seg" && c.dimension < 2) {
    Source source{file(0), only(first, -1), c.dimension, true};
    if (c.dimension == 1) source.mesh.edges = edges_of(first.faces);
    result.add("mesh", mesh_value(source));
  } else {
    result.add("mesh", Object().add("file", path_value(file(0))).value());
  }
  const std::string pattern = std::get<std::string>(path_value(*found / "{}").data) + extension;
  result.add("sequence", Object()
                             .add("files", text(pattern))
                             .add("first", number(0))
                             .add("count", number(count))
                             .add("dt", number(script_.dt))
                             .value());
}

void Importer::add_mesh_obstacles(JsonValue::Array& bodies) {
  for (std::size_t i = 0; i < script_.mesh_obstacles.size(); ++i) {
    const IpcMeshObstacle& obstacle = script_.mesh_obstacles[i];
    const std::string name = fresh_name(obstacle.path, namesakes(obstacle.path) == 1);
    Object result;
    result.add("type", text("obstacle")).add("name", text(name));
    result.add("mesh", mesh_value(sources_[obstacle_source_[i]]));
    result.add("transform", placing_value(obstacle_placings_[i], obstacle.rotate, false));
    if (const auto found = staging_.mesh_obstacles.find(i); found != staging_.mesh_obstacles.end())
      if (JsonValue how = motion(found->second); !how.is_null()) result.add("motion", std::move(how));
    bodies.push_back(at_line(obstacle.line, result.value()));
    frictions_.push_back({name, obstacle.friction});
    if (obstacle.friction > 0)
      note(obstacle.line,
           fmt::format("the friction of this meshCO, {:g}, acts here; the reference reads it but "
                       "computes none: write 0 to have the same motion",
                       obstacle.friction));
  }
}

void Importer::add_half_spaces(JsonValue::Array& bodies) {
  const auto grounds = std::count_if(script_.half_spaces.begin(), script_.half_spaces.end(),
                                     [](const IpcHalfSpace& h) { return h.ground; });
  for (std::size_t i = 0; i < script_.half_spaces.size(); ++i) {
    const IpcHalfSpace& h = script_.half_spaces[i];
    const bool alone = (h.ground ? grounds : Index(script_.half_spaces.size()) - grounds) == 1;
    const std::string name = fresh_name(h.ground ? "ground" : "half_space", alone);
    const auto moving = staging_.half_spaces.find(i);
    Object result;
    result.add("type", text("half_space")).add("name", text(name));
    result.add("origin", numbers(h.origin)).add("normal", numbers(h.normal));
    if (moving != staging_.half_spaces.end())
      if (JsonValue how = motion(moving->second); !how.is_null()) result.add("motion", std::move(how));
    bodies.push_back(at_line(h.line, result.value()));
    frictions_.push_back({name, h.friction});
  }
}

}  // namespace apart::ipc
