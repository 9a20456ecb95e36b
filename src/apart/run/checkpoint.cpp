#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/potentials/grip.hpp>
#include <apart/run/checkpoint.hpp>
#include <apart/simulation/joint_control.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace apart {

namespace {

/// Where an archive holds members of a state of the type of `member`.
auto& place_of(Archive& archive, const Index& /*member*/) {
  return archive.integers;
}
auto& place_of(Archive& archive, const double& /*member*/) {
  return archive.reals;
}
auto& place_of(Archive& archive, const VectorX& /*member*/) {
  return archive.vectors;
}
auto& place_of(Archive& archive, const Matrix3X& /*member*/) {
  return archive.matrices;
}

// ---- meshes that are not those of the scene --------------------------------------------------------------

constexpr std::string_view set_kind_names[] = {"points", "segments", "facets"};
static_assert(std::size(set_kind_names) == set_kind_count);

/// Numbers of an archive are reals, which hold every index exactly.
template <class Integers>
VectorX as_reals(const Integers& integers) {
  VectorX result(Eigen::Index(integers.size()));
  Eigen::Index i = 0;
  for (const int value : integers) result[i++] = value;
  return result;
}

std::vector<Index> as_integers(const VectorX& reals) {
  std::vector<Index> result;
  for (const double value : reals) {
    if (!(value >= 0 && value <= std::numeric_limits<Index>::max() && value == std::floor(value)))
      throw InputError("holds the index {}, must be a whole number, 0 or more", value);
    result.push_back(Index(value));
  }
  return result;
}

template <class Cells>
Cells as_cells(const VectorX& reals) {
  const std::vector<Index> integers = as_integers(reals);
  constexpr Eigen::Index rows = Cells::RowsAtCompileTime == Eigen::Dynamic ? 1 : Cells::RowsAtCompileTime;
  if (Eigen::Index(integers.size()) % rows != 0)
    throw InputError("holds {} corners of cells, must be a multiple of {}", integers.size(), rows);
  Cells cells = Cells::Zero(rows == 1 ? Eigen::Index(integers.size()) : rows,
                            rows == 1 ? 1 : Eigen::Index(integers.size()) / rows);
  std::copy(integers.begin(), integers.end(), cells.data());
  return cells;
}

/// The numbers of one body's shape in an archive.
class ShapeArchive {
 public:
  explicit ShapeArchive(std::size_t body) : prefix_(fmt::format("mesh {} ", body)) {}

  void write(const BodyShape& shape, Archive& archive) const {
    const Mesh& mesh = shape.mesh;
    archive.matrices[name("points")] = mesh.points;
    archive.matrices[name("rest_points")] = shape.rest_points;
    archive.vectors[name("tetrahedra")] = as_reals(mesh.tetrahedra.reshaped());
    archive.vectors[name("faces")] = as_reals(mesh.faces.reshaped());
    archive.vectors[name("edges")] = as_reals(mesh.edges.reshaped());
    archive.vectors[name("vertices")] = as_reals(mesh.vertices);
    archive.vectors[name("texture")] = mesh.face_texture.reshaped();
    archive.vectors[name("cell_substance")] = as_reals(shape.sets.cell_substance);
    for_each_set(shape.sets, [&](const std::string& set, SetKind kind, std::size_t i) {
      archive.vectors[set] = as_reals(shape.sets.list(kind)[i].members);
    });
  }

  bool is_in(const Archive& archive) const { return archive.matrices.contains(name("points")); }

  /// Throws std::out_of_range if something is missing, InputError if it makes no sense. `sets`: those of the
  /// body as the scene has it.
  BodyShape read(const Archive& archive, const BodySets& sets) const {
    BodyShape shape{.mesh = {}, .rest_points = archive.matrices.at(name("rest_points")), .sets = sets};
    Mesh& mesh = shape.mesh;
    mesh.points = archive.matrices.at(name("points"));
    mesh.tetrahedra = as_cells<Tetrahedra>(archive.vectors.at(name("tetrahedra")));
    mesh.faces = as_cells<Faces>(archive.vectors.at(name("faces")));
    mesh.edges = as_cells<Edges>(archive.vectors.at(name("edges")));
    mesh.vertices = as_cells<Eigen::VectorXi>(archive.vectors.at(name("vertices")));
    const VectorX& texture = archive.vectors.at(name("texture"));
    if (texture.size() != 0 && texture.size() != 6 * mesh.faces.cols())
      throw InputError("holds {} texture coordinates for {} triangles", texture.size(), mesh.faces.cols());
    mesh.face_texture = texture.reshaped(6, texture.size() / 6);
    shape.sets.cell_substance = as_integers(archive.vectors.at(name("cell_substance")));
    for_each_set(sets, [&](const std::string& set, SetKind kind, std::size_t i) {
      std::vector<Index> members = as_integers(archive.vectors.at(set));
      if (std::ranges::adjacent_find(members, std::greater_equal<>()) != members.end())
        throw InputError("holds a set whose members do not ascend");
      shape.sets.replace(kind, i, std::move(members));
    });
    return shape;
  }

 private:
  std::string name(std::string_view part) const { return prefix_ + std::string(part); }
  /// Sets are identified by their order, which follows from the scene.
  template <class F>
  void for_each_set(const BodySets& sets, const F& f) const {
    for (std::size_t k = 0; k < set_kind_count; ++k)
      for (std::size_t i = 0; i < sets.list(SetKind(k)).size(); ++i)
        f(name(fmt::format("set of {} {}", set_kind_names[k], i)), SetKind(k), i);
  }
  std::string prefix_;
};

void write_meshes(const Model& model, Archive& archive) {
  if (model.topology != 0) archive.integers["topology"] = model.topology;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    if (model.bodies[b].reshaped) ShapeArchive(b).write(shape_of(model.bodies[b]), archive);
}

/// The model with the meshes of the archive: that of the scene if there are none.
std::shared_ptr<const Model> read_meshes(const Archive& archive, const std::shared_ptr<const Model>& model) {
  const auto topology = archive.integers.find("topology");
  if (topology == archive.integers.end()) return model;
  if (topology->second < 1 || topology->second > std::numeric_limits<Index>::max())
    throw InputError("is of topology {}, must be more than 0", topology->second);
  std::map<int, BodyShape> shapes;
  for (std::size_t b = 0; b < model->bodies.size(); ++b)
    if (const ShapeArchive shape(b); shape.is_in(archive))
      shapes.emplace(int(b), shape.read(archive, model->bodies[b].sets));
  return with_shapes(*model, std::move(shapes), Index(topology->second));
}

/// FNV-1a.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    for (const auto* p = static_cast<const unsigned char*>(data); bytes > 0; --bytes, ++p)
      value_ = (value_ ^ *p) * 0x100000001b3u;
  }
  template <class Matrix>
  void add(const Matrix& m) {
    const std::int64_t size[] = {m.rows(), m.cols()};
    add(size, sizeof size);
    add(m.data(), std::size_t(m.size()) * sizeof(*m.data()));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace

std::uint64_t fingerprint(const SceneFile& file, const Model& model) {
  Hash hash;
  JsonValue scene = *file.json;
  std::erase_if(*scene.get_if<JsonValue::Object>(),
                [](const auto& member) { return member.first == "solver" || member.first == "output"; });
  const std::string text = to_text(scene);
  hash.add(text.data(), text.size());
  hash.add(model.initial_nodes);
  for (const Body& body : model.bodies) {
    hash.add(body.mesh.points);
    hash.add(body.mesh.tetrahedra);
    for (const CurvedCells& cells : body.mesh.curved) hash.add(cells.points);
    hash.add(body.mesh.faces);
    hash.add(body.mesh.edges);
    hash.add(body.mesh.vertices);
    hash.add(body.mass.valuePtr(), std::size_t(body.mass.nonZeros()) * sizeof(double));
    if (body.elastic) {
      hash.add(body.elastic->volume);
      hash.add(body.elastic->material_of.data(), body.elastic->material_of.size() * sizeof(Index));
    }
    if (body.planar) {
      hash.add(body.planar->volume);
      hash.add(body.planar->material_of.data(), body.planar->material_of.size() * sizeof(Index));
    }
    if (body.shell) {
      for (const Matrix2& m : body.shell->inverse_rest) hash.add(m);
      hash.add(body.shell->rest_angle);
    }
  }
  return hash.value();
}

void write_checkpoint(const std::filesystem::path& file, const State& state, const Model& model,
                      std::uint64_t scene, const Teamwork* together) {
  Archive archive;
  archive.integers["scene"] = std::int64_t(scene);
  for_each_member([&](const char* name, const auto& m) { place_of(archive, m)[name] = m; }, state);
  write_meshes(model, archive);
  if (together)
    together->write_archive(file, checkpoint_mark, checkpoint_format, archive);
  else
    write_archive(file, checkpoint_mark, checkpoint_format, archive);
}

void check_state(const std::string& where, const State& state, const Model& model) {
  for (const Matrix3X* of_nodes : {&state.nodes, &state.velocity, &state.acceleration,
                                   &state.mean_acceleration, &state.previous_nodes, &state.previous_velocity})
    if (of_nodes->cols() != model.node_count())
      throw InputError("{}: holds {} nodes, the scene has {}; it belongs to another scene", where,
                       of_nodes->cols(), model.node_count());
  const auto check_finite = [&](const char* name, const auto& member) {
    bool finite = true;
    if constexpr (requires { member.allFinite(); })
      finite = member.allFinite();
    else
      finite = std::isfinite(double(member));
    if (!finite) throw InputError("{}: its {} is not finite; start the run again", where, name);
  };
  for_each_member(check_finite, state);
  Index shells = 0;
  for (const Body& body : model.bodies) shells += body.shell && body.presence.covers(state.time);
  if (state.friction.cols() != (state.step > 0 ? model.surface.vertex_count() : 0) ||
      state.limit_stiffness.size() != (state.step > 0 ? shells : 0) ||
      !Grips::are_valid(state.grips, model.surface.vertex_count(), int(model.bodies.size())))
    throw InputError("{}: holds forces that do not fit the bodies of the scene; it belongs to another scene",
                     where);
  if (state.rest.size() != 0 && state.rest.size() != Index(model.bodies.size()))
    throw InputError("{}: holds {} bodies at rest, the scene has {}; it belongs to another scene", where,
                     state.rest.size(), model.bodies.size());
  const JointStateSizes joints(model);
  const bool begun = state.step > 0;
  if (state.joint_forces.size() != (begun ? joints.forces : 0) ||
      state.joint_angles.size() != (begun ? joints.joints : 0) ||
      state.joint_broken.size() != (begun ? joints.joints : 0) ||
      state.joint_anchors.cols() != (begun ? joints.anchors : 0))
    throw InputError("{}: holds joints that do not fit those of the scene; it belongs to another scene",
                     where);
  if (state.step > 0 && state.anchors.cols() != ScriptedNodes(model).anchor_count())
    throw InputError(
        "{}: has {} nodes with scripts that begin late, the scene has {}; it belongs to another scene", where,
        state.anchors.cols(), ScriptedNodes(model).anchor_count());
}

ReadCheckpoint read_checkpoint(const std::filesystem::path& file, const std::shared_ptr<const Model>& model,
                               std::uint64_t scene) {
  Archive archive = read_archive(file, checkpoint_mark, checkpoint_format);
  ReadCheckpoint result;
  State& state = result.state;
  try {
    if (std::uint64_t(archive.integers.at("scene")) != scene)
      throw InputError(
          "{}: belongs to another scene: scene.json or a mesh that it reads has changed since the run began; "
          "put it back, or start a new run",
          file.string());
    const auto take = [&](const char* name, auto& m) {
      m = std::remove_reference_t<decltype(m)>(std::move(place_of(archive, m).at(name)));
    };
    for_each_member(take, state);
    try {
      result.model = read_meshes(archive, model);
    } catch (const InputError& e) {
      throw InputError("{}: has a mesh that cannot be used: {}; start the run again", file.string(),
                       e.what());
    }
  } catch (const std::out_of_range&) {
    throw InputError("{}: does not hold all of a state; start the run again", file.string());
  }
  check_state(file.string(), state, *result.model);
  return result;
}

CheckpointFiles::CheckpointFiles(const std::filesystem::path& directory, std::uint64_t fingerprint)
    : newest(directory / "checkpoint"), older(directory / "checkpoint.older"), scene(fingerprint) {}

std::filesystem::path CheckpointFiles::fresh() const {
  std::filesystem::path file = newest;
  file += ".new";
  return file;
}

void CheckpointFiles::keep(const State& state, const Model& model, const Teamwork* together) const {
  // First the new one beside both, then the names change: whenever the machine stops, a good one has a name.
  std::error_code error;
  try {
    write_checkpoint(fresh(), state, model, scene, together);
  } catch (const InputError&) {
    std::filesystem::remove(fresh(), error);
    throw;
  }
  if (std::filesystem::exists(newest, error)) std::filesystem::rename(newest, older, error);
  std::filesystem::rename(fresh(), newest, error);
  if (error)
    throw UnavailableError("{}: cannot be written: {}; check the folder's permissions", newest.string(),
                           error.message());
}

ReadCheckpoint CheckpointFiles::read(const std::shared_ptr<const Model>& model) const {
  const auto there = [](const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::exists(file, error);
  };
  if (!there(newest) && !there(older))
    throw InputError(
        "{}: there is no checkpoint in this folder, so no run can be continued from it; start a new run",
        newest.parent_path().string());
  std::string trouble;
  try {
    return read_checkpoint(newest, model, scene);
  } catch (const InputError& e) {
    trouble = e.what();
  }
  if (!there(older)) throw InputError("{}", trouble);
  try {
    ReadCheckpoint result = read_checkpoint(older, model, scene);
    result.trouble = trouble;
    return result;
  } catch (const InputError& e) {
    throw InputError("{}\nThe previous checkpoint cannot be used either: {}\nStart a new run", trouble,
                     e.what());
  }
}

}  // namespace apart
