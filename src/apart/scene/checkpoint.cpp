#include <apart/core/error.hpp>
#include <apart/io/sealed_file.hpp>
#include <apart/scene/checkpoint.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <array>
#include <cstring>

namespace apart {

namespace {

constexpr std::string_view mark = "apartCHK";
constexpr std::uint32_t format = 2;

/// What precedes the matrices, which follow as doubles.
struct Header {
  std::int64_t step = 0;
  std::int64_t node_count = 0, anchor_count = 0;
  double time = 0;
  double barrier_stiffness = 0, force_scale = 0;
};

/// All matrices of a state, in the order of the file.
template <class AnyState>
auto matrices(AnyState& state) {
  return std::array{&state.nodes,          &state.velocity,          &state.acceleration,
                    &state.previous_nodes, &state.previous_velocity, &state.anchors};
}

std::size_t matrix_bytes(std::int64_t columns) {
  return std::size_t(columns) * 3 * sizeof(double);
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const State& state) {
  const Header header{state.step, state.nodes.cols(),      state.anchors.cols(),
                      state.time, state.barrier_stiffness, state.force_scale};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const Matrix3X* matrix : matrices(state))
    bytes.append(reinterpret_cast<const char*>(matrix->data()), matrix_bytes(matrix->cols()));
  write_sealed(file, mark, format, bytes);
}

State read_checkpoint(const std::filesystem::path& file, const Model& model) {
  const std::string bytes = read_sealed(file, mark, format);
  Header header;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || header.node_count != model.node_count() || header.anchor_count < 0 ||
      bytes.size() != sizeof header + 5 * matrix_bytes(header.node_count) + matrix_bytes(header.anchor_count))
    throw InputError("{}: holds {} nodes, the scene has {}; it belongs to another scene", file.string(),
                     header.node_count, model.node_count());
  if (header.step > 0 && header.anchor_count != ScriptedNodes(model).anchor_count())
    throw InputError(
        "{}: has {} nodes held by conditions that begin late, the scene has {}; it belongs to another scene",
        file.string(), header.anchor_count, ScriptedNodes(model).anchor_count());
  State state;
  state.step = Index(header.step);
  state.time = header.time;
  state.barrier_stiffness = header.barrier_stiffness;
  state.force_scale = header.force_scale;
  const char* at = bytes.data() + sizeof header;
  for (Matrix3X* matrix : matrices(state)) {
    matrix->resize(3, matrix == &state.anchors ? header.anchor_count : header.node_count);
    std::memcpy(matrix->data(), at, matrix_bytes(matrix->cols()));
    at += matrix_bytes(matrix->cols());
    if (!matrix->allFinite())
      throw InputError("{}: holds coordinates that are not finite; start the run again", file.string());
  }
  return state;
}

}  // namespace apart
