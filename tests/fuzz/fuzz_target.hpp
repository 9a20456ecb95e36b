#pragma once
// What libFuzzer may do to the program: one target for each reader of files. A reader gives a value or throws
// InputError; any other exception, a crash, a leak, more than 5 s or more than 2 GB is a defect of the
// reader.
#include <filesystem>
#include <span>
#include <string_view>

namespace apart::test {

/// One reader with the check of what it gives. `run` throws for everything that is a defect.
struct Target {
  std::string_view name;  ///< also of its folder in corpus/
  void (*run)(std::string_view input);
};

std::span<const Target> targets();

/// Whether `call` ends in a value; false if it throws an InputError, which must say something. Others pass
/// on.
template <class Call>
bool accepted(Call call);

/// Throws a std::logic_error, which nothing catches, unless `condition` holds.
void require(bool condition, const char* what);

/// A file of this name with these bytes, in a folder that belongs to this process.
std::filesystem::path input_file(std::string_view name, std::string_view bytes);

void read_obj_file(std::string_view input);
void read_ply_file(std::string_view input);
void read_stl_file(std::string_view input);
void read_seg_file(std::string_view input);
void read_gmsh_file(std::string_view input);
void read_vtk_file(std::string_view input);
void read_vtu_file(std::string_view input);
void read_stitch_file(std::string_view input);
void read_weight_file(std::string_view input);
void read_json_text(std::string_view input);
void read_expression_text(std::string_view input);
void read_scene_text(std::string_view input);
void read_ipc_script_file(std::string_view input);
void read_rigid_ipc_file(std::string_view input);
void read_polyfem_file(std::string_view input);
void read_query_file(std::string_view input);
void read_frame_file(std::string_view input);
void read_frame_index_file(std::string_view input);
void read_iterates_file(std::string_view input);
void read_digests_file(std::string_view input);
void read_checkpoint_file(std::string_view input);

}  // namespace apart::test

#include <apart/core/error.hpp>

namespace apart::test {

template <class Call>
bool accepted(Call call) {
  try {
    call();
    return true;
  } catch (const InputError& e) {
    require(std::string_view(e.what()).size() > 5, "an InputError says what is wrong");
    return false;
  }
}

}  // namespace apart::test
