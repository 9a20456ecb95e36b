#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/run/checkpoint.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <array>

namespace apart {

namespace {

template <class AnyState>
auto matrices(AnyState& state) {
  return std::array{std::pair("nodes", &state.nodes),
                    std::pair("velocity", &state.velocity),
                    std::pair("acceleration", &state.acceleration),
                    std::pair("mean_acceleration", &state.mean_acceleration),
                    std::pair("previous_nodes", &state.previous_nodes),
                    std::pair("previous_velocity", &state.previous_velocity),
                    std::pair("anchors", &state.anchors),
                    std::pair("friction", &state.friction)};
}
template <class AnyState>
auto reals(AnyState& state) {
  return std::array{std::pair("time", &state.time), std::pair("barrier_stiffness", &state.barrier_stiffness),
                    std::pair("step_length", &state.step_length),
                    std::pair("force_scale", &state.force_scale)};
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
    hash.add(body.mesh.faces);
    hash.add(body.mesh.edges);
    hash.add(body.mesh.vertices);
    hash.add(body.mass.valuePtr(), std::size_t(body.mass.nonZeros()) * sizeof(double));
    if (body.elastic) {
      hash.add(body.elastic->volume);
      hash.add(body.elastic->material_of.data(), body.elastic->material_of.size() * sizeof(Index));
    }
    if (body.shell) {
      for (const Matrix2& m : body.shell->inverse_rest) hash.add(m);
      hash.add(body.shell->rest_angle);
    }
  }
  return hash.value();
}

void write_checkpoint(const std::filesystem::path& file, const State& state, std::uint64_t scene) {
  Archive archive;
  archive.integers["scene"] = std::int64_t(scene);
  archive.integers["step"] = state.step;
  for (const auto& [name, value] : reals(state)) archive.reals[name] = *value;
  for (const auto& [name, matrix] : matrices(state)) archive.matrices[name] = *matrix;
  archive.vectors["limit_stiffness"] = state.limit_stiffness;
  write_archive(file, checkpoint_mark, checkpoint_format, archive);
}

State read_checkpoint(const std::filesystem::path& file, const Model& model, std::uint64_t scene) {
  Archive archive = read_archive(file, checkpoint_mark, checkpoint_format);
  State state;
  try {
    if (std::uint64_t(archive.integers.at("scene")) != scene)
      throw InputError(
          "{}: belongs to another scene: scene.json or a mesh that it reads has changed since the run began; "
          "put it back, or start a new run",
          file.string());
    state.step = Index(archive.integers.at("step"));
    for (const auto& [name, value] : reals(state)) *value = archive.reals.at(name);
    for (const auto& [name, matrix] : matrices(state)) *matrix = std::move(archive.matrices.at(name));
    state.limit_stiffness = std::move(archive.vectors.at("limit_stiffness"));
  } catch (const std::out_of_range&) {
    throw InputError("{}: does not hold all of a state; start the run again", file.string());
  }
  for (const auto& [name, matrix] : matrices(state)) {
    if (matrix != &state.anchors && matrix != &state.friction && matrix->cols() != model.node_count())
      throw InputError("{}: holds {} nodes, the scene has {}; it belongs to another scene", file.string(),
                       matrix->cols(), model.node_count());
    if (!matrix->allFinite())
      throw InputError("{}: holds coordinates that are not finite; start the run again", file.string());
  }
  Index shells = 0;
  for (const Body& body : model.bodies) shells += body.shell && body.presence.covers(state.time);
  if (state.friction.cols() != (state.step > 0 ? model.surface.vertex_count() : 0) ||
      state.limit_stiffness.size() != (state.step > 0 ? shells : 0) || !state.limit_stiffness.allFinite())
    throw InputError("{}: holds forces that do not fit the bodies of the scene; it belongs to another scene",
                     file.string());
  if (state.step > 0 && state.anchors.cols() != ScriptedNodes(model).anchor_count())
    throw InputError(
        "{}: has {} nodes held by conditions that begin late, the scene has {}; it belongs to another scene",
        file.string(), state.anchors.cols(), ScriptedNodes(model).anchor_count());
  return state;
}

CheckpointFiles::CheckpointFiles(const std::filesystem::path& directory, std::uint64_t fingerprint)
    : newest(directory / "checkpoint"), older(directory / "checkpoint.older"), scene(fingerprint) {}

void CheckpointFiles::keep(const State& state) const {
  // First the new one beside both, then the names change: whenever the machine stops, a good one has a name.
  std::filesystem::path fresh = newest;
  fresh += ".new";
  write_checkpoint(fresh, state, scene);
  std::error_code error;
  if (std::filesystem::exists(newest, error)) std::filesystem::rename(newest, older, error);
  std::filesystem::rename(fresh, newest, error);
  if (error)
    throw InputError("{}: cannot be written: {}; check the folder's permissions", newest.string(),
                     error.message());
}

ReadCheckpoint CheckpointFiles::read(const Model& model) const {
  const auto there = [](const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::exists(file, error);
  };
  if (!there(newest) && !there(older))
    throw InputError("{}: there is no checkpoint in this folder, so no run can go on from it; start it anew",
                     newest.parent_path().string());
  std::string trouble;
  try {
    return {read_checkpoint(newest, model, scene), {}};
  } catch (const InputError& e) {
    trouble = e.what();
  }
  if (!there(older)) throw InputError("{}", trouble);
  try {
    return {read_checkpoint(older, model, scene), trouble};
  } catch (const InputError& e) {
    throw InputError("{}\nThe checkpoint before is no better: {}\nStart the run anew", trouble, e.what());
  }
}

}  // namespace apart
