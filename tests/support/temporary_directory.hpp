#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace apart::test {

/// A new empty folder, removed with all it holds at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "apart_test_XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) throw std::runtime_error("cannot create a temporary folder");
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path() / name; }

 private:
  std::string path_;
};

inline void write_file(const std::filesystem::path& file, std::string_view content) {
  std::filesystem::remove(file);  // overwriting makes some file systems wait for the disk
  std::ofstream(file, std::ios::binary) << content;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace apart::test
