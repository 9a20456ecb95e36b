// Bodies of a script, their sequences of meshes, and its obstacles.
#include <apart/geometry/aabb.hpp>
#include <apart/importers/ipc/importer.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>
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

MeshDescription Importer::mesh_of(const Source& source) const {
  if (!source.written_out) {
    FileMesh mesh;
    mesh.file = path_value(source.file);
    return mesh;
  }
  InlineMesh mesh;
  for (const auto& point : source.mesh.points.colwise()) mesh.points.push_back(numbers(point));
  for (const auto& edge : source.mesh.edges.colwise()) mesh.segments.push_back(edge);
  return mesh;
}

MaterialDescription Importer::material(const IpcShape& shape) const {
  const IpcMaterial& m = shape.material ? *shape.material : script_.material;
  const auto of = [&](auto description) {
    description.E = number(m.young);
    description.nu = number(m.poisson);
    description.rho = number(m.density);
    return MaterialDescription(description);
  };
  return script_.energy == IpcScript::Energy::neo_hookean ? of(NeoHookeanDescription{})
                                                          : of(FixedCorotatedDescription{});
}

void Importer::add_shapes() {
  std::size_t c = 0;
  for (std::size_t s = 0; s < script_.shapes.size(); ++s) {
    const IpcShape& shape = script_.shapes[s];
    const std::size_t copies = std::size_t(shape.counts.prod());
    const bool alike = copies > 1 && can_be_array(c, copies);
    if (alike) {
      scene_.bodies.push_back(body(c, fresh_name(shape.path, namesakes(shape.path) == 1), true));
    } else {
      for (std::size_t i = 0; i < copies; ++i)
        scene_.bodies.push_back(
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
  const std::optional<IpcMovement> how = whole_movement(first);
  for (std::size_t c = first; c < first + count; ++c) {
    const auto moving = staging_.components.find(c);
    if (moving != staging_.components.end() && moving->second.spin)
      return false;  // each about its own centre
    if (whole_movement(c) != how || velocity(c) != velocity(first)) return false;
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

BodyDescription Importer::body(std::size_t component, const std::string& name, bool array) {
  const IpcComponent& c = components_[component];
  const IpcShape& shape = script_.shapes[c.shape];
  const auto named = [&](auto result) {
    result.place = at_line(shape.line);
    result.name = name;
    return result;
  };
  const bool options = staging_.uses_shape_options;
  if ((options && !shape.sequence.empty()) || leads_folder(component)) return named(sequence(component));
  const auto placed = [&](auto result) {
    result.mesh = mesh_of(sources_[shape_source_[c.shape]]);
    result.transform = placing_value(placings_[component], shape.rotate, turned_);
    if (array) {
      ArrayDescription copies;
      copies.counts = shape.counts;
      copies.spacing = numbers((script_.size > 0 ? size_factor_ : 1) * shape.spacing);
      result.array = copies;
    }
    return named(std::move(result));
  };
  if (c.dimension == 3) return placed(volume(component));
  ObstacleDescription obstacle;
  obstacle.motion = whole_motion(component);
  if (options) merge_dirichlet(component, obstacle.motion);
  return placed(std::move(obstacle));
}

VolumeDescription Importer::volume(std::size_t component) {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  const bool options = staging_.uses_shape_options;
  const bool scripted =
      (options && (shape.velocity || shape.angular_velocity)) || staging_.components.contains(component);
  VolumeDescription result;
  result.material = material(shape);
  if (!scripted) set_initial_velocity(result, component);
  result.motion = whole_motion(component);
  if (scripted && !result.motion) result.fixed.emplace_back();  // all of it
  add_handles(result.fixed, component);
  if (options && !scripted) add_dirichlet(result.fixed, component);
  add_loads(result.loads, component);
  result.damping.stiffness = number(std::max(0.0, damping_time()));
  return result;
}

std::optional<IpcMovement> Importer::whole_movement(std::size_t component) const {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  if (staging_.uses_shape_options && (shape.velocity || shape.angular_velocity))
    return steady(shape.velocity.value_or(Vector3::Zero()), shape.angular_velocity.value_or(Vector3::Zero()),
                  components_[component].start);
  const auto found = staging_.components.find(component);
  return found == staging_.components.end() ? std::nullopt : std::optional(found->second);
}

std::optional<MotionDescription> Importer::whole_motion(std::size_t component) const {
  const std::optional<IpcMovement> movement = whole_movement(component);
  return movement ? motion(*movement) : std::nullopt;
}

void Importer::merge_dirichlet(std::size_t component, std::optional<MotionDescription>& whole) const {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  for (const IpcDirichlet& d : shape.dirichlet) {
    const Chosen chosen = choose_box(component, d.low, d.high);
    if (chosen.points.empty() || (d.velocity.isZero(0) && d.angular_velocity.isZero(0))) continue;
    const bool always = d.range.from <= 0 && d.range.until >= 1e300 && script_.dirichlet_range.from <= 0 &&
                        script_.dirichlet_range.until >= 1e300;
    if (Index(chosen.points.size()) < components_[component].start.cols() || !always || whole)
      fail(d.line,
           "this DBC moves a part of a shape without tetrahedra, or for a part of the time; such a shape "
           "moves as a whole, with linearVelocity, angularVelocity or meshSeq");
    whole = motion(steady(d.velocity, d.angular_velocity, components_[component].start));
  }
}

void Importer::set_initial_velocity(DynamicBody& body, std::size_t component) const {
  const IpcShape& shape = script_.shapes[components_[component].shape];
  if (const auto found = staging_.initial_velocity.find(component); found != staging_.initial_velocity.end())
    body.velocity = numbers(found->second);
  if (!staging_.uses_shape_options || !shape.initial_velocity) return;
  // The reference turns about the centre of the bounding box, this program about the centre of mass.
  const Vector3 omega = *shape.initial_angular_velocity;
  const Vector3 arm = mass_center(component) - center_of(component);
  Vector3 velocity = *shape.initial_velocity;
  if (arm.norm() > 1e-9 * bounding_box(components_[component].start).diagonal())
    velocity += (degrees * omega).cross(arm);
  body.velocity = numbers(velocity);
  body.angular_velocity = numbers(omega);
}

void Importer::add_handles(std::vector<FixedDescription>& fixed, std::size_t component) const {
  for (std::size_t h = 0; h < staging_.handles.size(); ++h) {
    const IpcHandle& handle = staging_.handles[h];
    Chosen chosen = choose(handle_places_[h], component);
    if (chosen.points.empty()) continue;
    FixedDescription entry;
    entry.place = at_line(script_.script_line);
    entry.where = std::move(chosen.where);
    entry.motion = motion(handle.movement);
    if (handle.until < infinity) entry.until = number(handle.until);
    fixed.push_back(std::move(entry));
  }
}

void Importer::add_dirichlet(std::vector<FixedDescription>& fixed, std::size_t component) {
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
    FixedDescription entry;
    entry.place = at_line(d.line);
    entry.where = std::move(chosen.where);
    entry.motion = motion(steady(d.velocity, d.angular_velocity, points, d.range));
    set_times(entry, d.range, script_.dirichlet_range);
    fixed.push_back(std::move(entry));
    earlier.push_back({&d, std::move(chosen.points)});
  }
}

void Importer::add_loads(std::vector<LoadDescription>& loads, std::size_t component) {
  const auto body_force = [&](int line, Chosen& chosen, const Vector3& acceleration) {
    BodyForceDescription load;
    load.place = at_line(line);
    load.where = std::move(chosen.where);
    for (std::size_t k = 0; k < 3; ++k) load.acceleration[k] = number(acceleration[Index(k)]);
    return load;
  };
  for (std::size_t p = 0; p < staging_.pushes.size(); ++p) {
    const IpcPush& push = staging_.pushes[p];
    Chosen chosen = choose(push_places_[p], component);
    if (chosen.points.empty()) continue;
    loads.push_back(body_force(script_.script_line, chosen, push.acceleration));
  }
  for (const IpcNeumann& n : script_.shapes[components_[component].shape].neumann) {
    Chosen chosen = choose_box(component, n.low, n.high);
    if (chosen.points.empty()) {
      note(n.line, "this NBC chooses no points; it has no effect");
      continue;
    }
    BodyForceDescription load = body_force(n.line, chosen, n.acceleration);
    set_times(load, n.range, script_.neumann_range);
    loads.push_back(std::move(load));
  }
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

ObstacleDescription Importer::sequence(std::size_t component) {
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
  Source source{file(0), {}, c.dimension, extension != ".seg" && c.dimension < 2};
  if (source.written_out) {
    source.mesh = only(first, -1);
    if (c.dimension == 1) source.mesh.edges = edges_of(first.faces);
  }
  ObstacleDescription result;
  result.mesh = mesh_of(source);
  result.sequence.emplace();
  result.sequence->files = path_value(*found / "{}") + extension;
  result.sequence->count = count;
  result.sequence->dt = number(script_.dt);
  return result;
}

void Importer::add_mesh_obstacles() {
  for (std::size_t i = 0; i < script_.mesh_obstacles.size(); ++i) {
    const IpcMeshObstacle& given = script_.mesh_obstacles[i];
    ObstacleDescription obstacle;
    obstacle.place = at_line(given.line);
    obstacle.name = fresh_name(given.path, namesakes(given.path) == 1);
    obstacle.mesh = mesh_of(sources_[obstacle_source_[i]]);
    obstacle.transform = placing_value(obstacle_placings_[i], given.rotate, false);
    if (const auto found = staging_.mesh_obstacles.find(i); found != staging_.mesh_obstacles.end())
      obstacle.motion = motion(found->second);
    frictions_.push_back({obstacle.name, given.friction});
    scene_.bodies.push_back(std::move(obstacle));
    if (given.friction > 0)
      note(given.line, fmt::format("the friction of this meshCO, {:g}, acts here; the reference reads it but "
                                   "computes none: write 0 to have the same motion",
                                   given.friction));
  }
}

void Importer::add_half_spaces() {
  const auto grounds = std::count_if(script_.half_spaces.begin(), script_.half_spaces.end(),
                                     [](const IpcHalfSpace& h) { return h.ground; });
  for (std::size_t i = 0; i < script_.half_spaces.size(); ++i) {
    const IpcHalfSpace& given = script_.half_spaces[i];
    const bool alone = (given.ground ? grounds : Index(script_.half_spaces.size()) - grounds) == 1;
    HalfSpaceDescription plane;
    plane.place = at_line(given.line);
    plane.name = fresh_name(given.ground ? "ground" : "half_space", alone);
    plane.origin = numbers(given.origin);
    plane.normal = numbers(given.normal);
    if (const auto moving = staging_.half_spaces.find(i); moving != staging_.half_spaces.end())
      plane.motion = motion(moving->second);
    frictions_.push_back({plane.name, given.friction});
    scene_.bodies.push_back(std::move(plane));
  }
}

}  // namespace apart::ipc
