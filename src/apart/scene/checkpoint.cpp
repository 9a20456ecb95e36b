#include <apart/core/error.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/scene/checkpoint.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <array>

namespace apart {

namespace {

template <class AnyState>
auto matrices(AnyState& state) {
  return std::array{std::pair("nodes", &state.nodes),
                    std::pair("velocity", &state.velocity),
                    std::pair("acceleration", &state.acceleration),
                    std::pair("previous_nodes", &state.previous_nodes),
                    std::pair("previous_velocity", &state.previous_velocity),
                    std::pair("anchors", &state.anchors),
                    std::pair("friction", &state.friction)};
}
template <class AnyState>
auto reals(AnyState& state) {
  return std::array{std::pair("time", &state.time), std::pair("barrier_stiffness", &state.barrier_stiffness),
                    std::pair("force_scale", &state.force_scale)};
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const State& state) {
  Archive archive;
  archive.integers["step"] = state.step;
  for (const auto& [name, value] : reals(state)) archive.reals[name] = *value;
  for (const auto& [name, matrix] : matrices(state)) archive.matrices[name] = *matrix;
  archive.vectors["limit_stiffness"] = state.limit_stiffness;
  write_archive(file, checkpoint_mark, checkpoint_format, archive);
}

State read_checkpoint(const std::filesystem::path& file, const Model& model) {
  Archive archive = read_archive(file, checkpoint_mark, checkpoint_format);
  State state;
  try {
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

CheckpointFiles::CheckpointFiles(std::filesystem::path directory)
    : newest(directory / "checkpoint"), older(directory / "checkpoint.older") {}

void CheckpointFiles::keep(const State& state) const {
  // First the new one beside both, then the names change: whenever the machine stops, a good one has a name.
  std::filesystem::path fresh = newest;
  fresh += ".new";
  write_checkpoint(fresh, state);
  std::error_code error;
  if (std::filesystem::exists(newest, error)) std::filesystem::rename(newest, older, error);
  std::filesystem::rename(fresh, newest, error);
  if (error)
    throw InputError("{}: cannot be written: {}; check the folder's permissions", newest.string(),
                     error.message());
}

ReadCheckpoint CheckpointFiles::read(const Model& model) const {
  std::string trouble;
  try {
    return {read_checkpoint(newest, model), {}};
  } catch (const InputError& e) {
    trouble = e.what();
  }
  try {
    return {read_checkpoint(older, model), trouble};
  } catch (const InputError&) {
    throw InputError("{}", trouble);  // the older one is no better; the newest is what the user asks about
  }
}

}  // namespace apart
