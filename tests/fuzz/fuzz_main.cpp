// The program that libFuzzer drives: `apart_fuzz --target=obj [libFuzzer's options] corpus/obj`; `--targets`
// lists the names. One program for all targets, because linking is what costs.
#include "fuzz_target.hpp"

#include <support/temporary_directory.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace apart::test {

std::span<const Target> targets() {
  static constexpr Target all[] = {
      {"obj", read_obj_file},
      {"ply", read_ply_file},
      {"stl", read_stl_file},
      {"seg", read_seg_file},
      {"gmsh", read_gmsh_file},
      {"vtk", read_vtk_file},
      {"vtu", read_vtu_file},
      {"stitches", read_stitch_file},
      {"weights", read_weight_file},
      {"json", read_json_text},
      {"expression", read_expression_text},
      {"scene", read_scene_text},
      {"ipc_script", read_ipc_script_file},
      {"rigid_ipc", read_rigid_ipc_file},
      {"polyfem", read_polyfem_file},
      {"queries", read_query_file},
      {"frame", read_frame_file},
      {"frame_index", read_frame_index_file},
      {"iterates", read_iterates_file},
      {"digests", read_digests_file},
      {"checkpoint", read_checkpoint_file},
  };
  return all;
}

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

std::filesystem::path input_file(std::string_view name, std::string_view bytes) {
  static const TemporaryDirectory folder;
  const std::filesystem::path file = folder / name;
  write_file(file, bytes);
  return file;
}

namespace {

const Target* chosen = nullptr;

}  // namespace

}  // namespace apart::test

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace apart::test;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument == "--targets") {
      for (const Target& target : targets()) std::printf("%s\n", target.name.data());
      std::exit(0);
    }
    for (const Target& target : targets())
      if (argument.starts_with("--target=") && argument.substr(9) == target.name) chosen = &target;
  }
  if (chosen) return 0;
  std::fprintf(stderr, "apart_fuzz: choose with --target=NAME; --targets lists the names\n");
  std::exit(64);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    apart::test::chosen->run({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& e) {  // says what it was before libFuzzer sees an abort
    std::fprintf(stderr, "apart_fuzz: %s\n", e.what());
    std::abort();
  }
  return 0;
}
