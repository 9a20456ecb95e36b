// Scripts of the reference implementation as scenes: order of conversion, files, placement, settings.
#include <apart/geometry/aabb.hpp>
#include <apart/importers/ipc/importer.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/validation.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>

namespace apart::ipc {

ImportedScene Importer::import() {
  try {
    return convert();
  } catch (const InputError& e) {
    const std::string what = e.what();
    if (what.starts_with(*place_)) throw;
    throw InputError("{}: {}", *place_, what);
  }
}

ImportedScene Importer::convert() {
  for (const IpcIgnored& ignored : script_.ignored) note(ignored.line, ignored.message);
  read_meshes();
  place_shapes();
  place_mesh_obstacles();
  staging_ = stage_ipc_script(script_, components_, obstacle_points_);
  for (const IpcHandle& handle : staging_.handles) handle_places_.push_back(place_choice(handle.where));
  for (const IpcPush& push : staging_.pushes) push_places_.push_back(place_choice(push.where));
  find_scale();
  report_unused();
  add_shapes();
  add_mesh_obstacles();
  add_half_spaces();
  scene_.place = at_line(1);
  scene_.name = name_;
  scene_.description = fmt::format("converted from {}", script_.file.filename().string());
  scene_.time = time();
  scene_.gravity = Vector3(0, script_.gravity ? -9.80665 : 0, 0);
  scene_.contact = contact();
  scene_.solver = solver();
  // The reference writes at most 100 states a second.
  scene_.output.every = Index(number(std::clamp(std::round(0.01 / script_.dt), 1.0, 1e9)));
  for (std::string& line : staging_.notes) notes_.push_back(std::move(line));
  return {std::move(scene_), std::move(notes_)};
}

void Importer::note(int line, std::string_view what) {
  notes_.push_back(fmt::format("{}:{}: {}", *place_, line, what));
}

std::optional<fs::path> Importer::find(const std::string& path) const {
  const fs::path given = path;
  fs::path inside = given;
  if (given.begin() != given.end() && *given.begin() == "input") inside = given.lexically_relative("input");
  return find_upward(script_.file, std::array{given, inside});
}

std::string Importer::path_value(const fs::path& file) const {
  return written_path(file, directory_);
}

Mesh Importer::only(Mesh mesh, int dimension) {
  if (dimension != 3) mesh.tetrahedra.resize(4, 0);
  if (dimension != 2) mesh.faces.resize(3, 0);
  if (dimension != 1) mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  return mesh;
}

Source Importer::read_source(const std::string& path, int line) const {
  const std::string extension = lower_case(fs::path(path).extension().string());
  const std::string other = fs::path(path).replace_extension(".obj").string();
  const auto missing = [&]() -> Source {
    fail(line, "mesh {} not found; it is looked for in the script's folder and those above it", path);
  };
  Source source;
  const auto file = find(path), instead = find(other);
  try {
    if (extension == ".msh" || extension == ".obj") {
      if (!file) return missing();
      source = {*file, only(read_mesh(*file), extension == ".msh" ? 3 : 2), extension == ".msh" ? 3 : 2};
    } else if (extension == ".seg") {
      if (file) {
        source = {*file, only(read_mesh(*file), 1), 1};
      } else {
        if (!instead) return missing();
        Mesh mesh = read_mesh(*instead);
        mesh.edges = edges_of(mesh.faces);
        source = {*instead, only(std::move(mesh), 1), 1, true};
      }
    } else if (extension == ".pt") {
      if (!file && !instead) return missing();
      const fs::path& read = file ? *file : *instead;
      source = {read, only(read_obj(read), 0), 0, true};
    } else {
      fail(line,
           "mesh {}: must be .msh (tetrahedra), .obj (triangles), .seg (segments) or .pt (points); convert "
           "it",
           path);
    }
  } catch (const LocatedError&) {
    throw;
  } catch (const InputError& e) {
    const std::string what = e.what();
    if (what.starts_with(*place_)) throw;
    throw InputError("{}:{}: {}", *place_, line, what);
  }
  const Mesh& mesh = source.mesh;
  if (source.dimension > 0 && mesh.tetrahedra.cols() + mesh.faces.cols() + mesh.edges.cols() == 0)
    fail(line, "mesh {} has no {}; check the file", path,
         source.dimension == 3   ? "tetrahedra"
         : source.dimension == 2 ? "triangles"
                                 : "segments");
  return source;
}

void Importer::read_meshes() {
  Problems problems;
  if (script_.shapes.empty()) fail(1, "has no shapes; add them with 'shapes input N'");
  std::map<std::string, std::size_t> known;
  const auto read = [&](const std::string& path, int line) {
    if (const auto found = known.find(path); found != known.end()) return found->second;
    try {
      sources_.push_back(read_source(path, line));
    } catch (const InputError& e) {
      problems.add(e.what());
      sources_.emplace_back();
    }
    return known[path] = sources_.size() - 1;
  };
  for (const IpcShape& shape : script_.shapes) shape_source_.push_back(read(shape.path, shape.line));
  for (const IpcMeshObstacle& obstacle : script_.mesh_obstacles)
    obstacle_source_.push_back(read(obstacle.path, obstacle.line));
  problems.throw_if_any();
  if (std::none_of(shape_source_.begin(), shape_source_.end(),
                   [&](std::size_t s) { return sources_[s].dimension == 3; }))
    fail(script_.shapes.front().line,
         "no shape has tetrahedra, so nothing can move; add one from a .msh file");
}

void Importer::place_shapes() {
  double count = 0;
  for (const IpcShape& shape : script_.shapes) count += shape.counts.cast<double>().prod();
  if (count > most_components)
    fail(script_.shapes.front().line, "the script has {} shapes, at most {} are read; merge some of them",
         count, most_components);
  for (std::size_t s = 0; s < script_.shapes.size(); ++s) {
    const IpcShape& shape = script_.shapes[s];
    const Source& source = sources_[shape_source_[s]];
    const Matrix3 rotation = euler(shape.rotate);
    for (int i = 0; i < shape.counts[0]; ++i)
      for (int j = 0; j < shape.counts[1]; ++j)
        for (int k = 0; k < shape.counts[2]; ++k) {
          const Vector3 at = shape.translate + shape.spacing.cwiseProduct(Vector3(i, j, k));
          IpcComponent component{s, source.dimension, {}, {}};
          component.rest = ((rotation * shape.scale.asDiagonal()) * source.mesh.points).colwise() + at;
          component.start = component.rest;
          components_.push_back(std::move(component));
          placings_.push_back({shape.scale, at, rotation});
        }
  }
  const auto box = [&] {
    Aabb all;
    for (const IpcComponent& c : components_) all.include(bounding_box(c.start));
    return all;
  };
  turned_ = script_.turn_degrees != 0;
  if (turned_) {
    turn_ = about(script_.turn_axis, script_.turn_degrees);
    const Aabb all = box();
    const Vector3 center = 0.5 * (all.upper - all.lower);  // half the extent, wherever the scene is
    for (IpcComponent& c : components_) c.start = (turn_ * (c.start.colwise() - center)).colwise() + center;
    for (Placing& p : placings_) {
      p.rotate = turn_ * p.rotate;
      p.translate = turn_ * (p.translate - center) + center;
    }
  }
  if (script_.size > 0) {
    const Aabb all = box();
    size_factor_ = script_.size / (all.upper - all.lower).maxCoeff();
    const Vector3 corner = size_factor_ * all.lower;
    for (IpcComponent& c : components_) {
      c.rest = (size_factor_ * c.rest).colwise() - corner;
      c.start = (size_factor_ * c.start).colwise() - corner;
    }
    for (Placing& p : placings_) {
      p.scale *= size_factor_;
      p.translate = size_factor_ * p.translate - corner;
    }
  }
  for (const IpcComponent& c : components_) unlifted_.push_back(c.start.col(0));
}

void Importer::place_mesh_obstacles() {
  for (std::size_t i = 0; i < script_.mesh_obstacles.size(); ++i) {
    const IpcMeshObstacle& obstacle = script_.mesh_obstacles[i];
    const Matrix3X& points = sources_[obstacle_source_[i]].mesh.points;
    const Aabb box = bounding_box(points);
    if (!((box.upper - box.lower).maxCoeff() > 0))
      fail(obstacle.line, "mesh {} has no extent, so it cannot be scaled; use 'shapes' for single points",
           obstacle.path);
    Placing p;
    p.scale = Vector3::Constant(obstacle.scale / (box.upper - box.lower).maxCoeff());
    p.rotate = euler(obstacle.rotate);
    p.translate = obstacle.origin - p.rotate * p.scale.cwiseProduct(points.rowwise().mean());
    obstacle_points_.push_back(((p.rotate * p.scale.asDiagonal()) * points).colwise() + p.translate);
    obstacle_placings_.push_back(p);
  }
}

void Importer::find_scale() {
  Aabb box;
  for (const IpcComponent& c : components_)
    if (c.dimension == 3) box.include(bounding_box(c.rest));
  length_ = box.diagonal();
  if (!(length_ > 0 && length_ < 1e100))
    fail(script_.shapes.front().line, "the shapes are {:.3g} m across; check scales and translations",
         length_);
  // Some scripts have lifted everything.
  for (std::size_t c = 0; c < components_.size(); ++c)
    placings_[c].translate += components_[c].start.col(0) - unlifted_[c];
}

TransformDescription Importer::placing_value(const Placing& p, const Vector3& angles, bool turned) const {
  TransformDescription result;
  const Vector3 scale = numbers(p.scale);
  if (scale[0] == scale[1] && scale[0] == scale[2])
    result.scale = scale[0];
  else
    result.scale = scale;
  result.rotate = rotation_value(p.rotate, angles, turned);
  result.translate = numbers(p.translate);
  return result;
}

TimeDescription Importer::time() const {
  TimeDescription result;
  result.dt = number(script_.dt);
  result.tend = number(script_.duration);
  if (script_.newmark) {
    result.integrator = Integrator::newmark;
    result.beta = number(script_.beta);
    result.gamma = number(script_.gamma);
  }
  result.max_motion = 0;  // a step is one solve there
  return result;
}

double Importer::tuned(std::size_t first) const {
  double value = 1e-3;
  if (script_.tuning.size() > first) value = std::min(script_.tuning[first], 1e-3);
  if (script_.tuning.size() > first + 1) value = std::min(script_.tuning[first], script_.tuning[first + 1]);
  return value * (script_.absolute_parameters ? 1 : length_);
}

ContactDescription Importer::contact() const {
  ContactDescription result;
  result.dhat = Length{number(tuned(1))};
  result.barrier_stiffness = StiffnessRule::published;
  result.friction_coefficient = number(script_.self_friction);
  result.epsv = Length{number(tuned(4))};
  result.friction_iterations = std::max(0, script_.friction_iterations);
  const auto pair = [](const std::string& a, const std::string& b, bool enabled) {
    PairDescription rule;
    rule.bodies = {a, b};
    rule.enabled = enabled;
    return rule;
  };
  if (!script_.self_collision) result.pairs.push_back(pair("*", "*", false));
  for (const Friction& f : frictions_) {
    result.pairs.push_back(pair(f.body, "*", true));
    result.pairs.back().friction_coefficient = number(f.coefficient);
  }
  return result;
}

SolverDescription Importer::solver() const {
  SolverDescription result;
  result.tolerance =
      Length{number((script_.tolerances.empty() ? 1e-2 : script_.tolerances.back()) * length_)};
  result.termination = Termination::published;
  if (script_.tight_inclusion) result.ccd = CcdMethod::tight_inclusion;
  return result;
}

void Importer::report_unused() {
  if (!script_.tuning.empty() && script_.tuning[0] != 0)
    note(1,
         fmt::format("the barrier stiffness {:g} of 'tuning' has no effect here: it follows from the forces",
                     script_.tuning[0]));
  if (script_.tolerances.size() > 1 && std::any_of(script_.tolerances.begin(), script_.tolerances.end(),
                                                   [&](double t) { return t != script_.tolerances.back(); }))
    note(1, fmt::format("'tol' gives some steps tolerances of their own; here the last, {:g}, holds for all",
                        script_.tolerances.back()));
  if (staging_.uses_shape_options) return;
  for (const IpcShape& shape : script_.shapes) {
    const auto unused = [&](std::string_view option) {
      note(shape.line, fmt::format("'{}' has no effect with script '{}'", option, script_.script));
    };
    if (shape.velocity &&
        (!shape.velocity->isZero(0) || shape_dimension(std::size_t(&shape - script_.shapes.data())) == 3))
      unused("linearVelocity");
    if (shape.angular_velocity) unused("angularVelocity");
    if (shape.initial_velocity) unused("initVel");
    if (!shape.dirichlet.empty()) unused("DBC");
    if (!shape.sequence.empty()) unused("meshSeq");
  }
}

}  // namespace apart::ipc

namespace apart {

ImportedScene import_ipc_script(const std::filesystem::path& file, const ImportOptions& options) {
  return ipc::Importer(file, options.directory).import();
}

}  // namespace apart
