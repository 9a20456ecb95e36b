#include <apart/core/error.hpp>
#include <apart/io/sealed_file.hpp>
#include <apart/scene/checkpoint.hpp>

#include <cstring>

namespace apart {

namespace {

constexpr std::string_view mark = "apartCHK";
constexpr std::uint32_t format = 1;

/// What precedes the nodes and velocities, which follow as doubles.
struct Header {
  std::int64_t step = 0;
  std::int64_t node_count = 0;
  double time = 0;
  double barrier_stiffness = 0;
};

std::size_t matrix_bytes(std::int64_t node_count) {
  return std::size_t(node_count) * 3 * sizeof(double);
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const State& state) {
  const Header header{state.step, state.nodes.cols(), state.time, state.barrier_stiffness};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const Matrix3X* matrix : {&state.nodes, &state.velocity})
    bytes.append(reinterpret_cast<const char*>(matrix->data()), matrix_bytes(header.node_count));
  write_sealed(file, mark, format, bytes);
}

State read_checkpoint(const std::filesystem::path& file, const Model& model) {
  const std::string bytes = read_sealed(file, mark, format);
  Header header;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || header.node_count != model.node_count() ||
      bytes.size() != sizeof header + 2 * matrix_bytes(header.node_count))
    throw InputError("{}: holds {} nodes, the scene has {}; it belongs to another scene", file.string(),
                     header.node_count, model.node_count());
  State state;
  state.step = Index(header.step);
  state.time = header.time;
  state.barrier_stiffness = header.barrier_stiffness;
  const char* at = bytes.data() + sizeof header;
  for (Matrix3X* matrix : {&state.nodes, &state.velocity}) {
    matrix->resize(3, header.node_count);
    std::memcpy(matrix->data(), at, matrix_bytes(header.node_count));
    at += matrix_bytes(header.node_count);
  }
  if (!state.nodes.allFinite() || !state.velocity.allFinite())
    throw InputError("{}: holds coordinates that are not finite; start the run again", file.string());
  return state;
}

}  // namespace apart
