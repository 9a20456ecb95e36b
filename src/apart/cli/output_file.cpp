#include <apart/cli/output_file.hpp>
#include <apart/core/error.hpp>
#include <apart/run/run_directory.hpp>

namespace apart {

namespace fs = std::filesystem;

void ensure_may_write(const fs::path& output, bool force) {
  std::error_code error;
  if (fs::is_directory(output, error)) throw InputError("{}: is a folder; name a file", output.string());
  if (is_file_of_run(output))
    throw InputError("{}: is one of the files of the run in this folder; choose another name",
                     output.string());
  if (!force && fs::exists(fs::symlink_status(output, error)))
    throw InputError("{}: exists; choose another name, or replace it with --force", output.string());
}

fs::path fresh_file(const fs::path& output) {
  std::error_code error;
  fs::path file = output;
  for (int i = 2; fs::exists(fs::symlink_status(file, error)); ++i)
    file =
        output.parent_path() / fmt::format("{}-{}{}", output.stem().string(), i, output.extension().string());
  return file;
}

}  // namespace apart
