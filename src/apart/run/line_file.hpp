#pragma once
#include <apart/core/error.hpp>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace apart {

/// A text file that grows line by line; every line is flushed before the next begins.
class LineFile {
 public:
  explicit LineFile(std::filesystem::path file) : file_(std::move(file)), stream_(file_, std::ios::app) {
    check();
  }
  void add(std::string_view line) {
    stream_ << line << '\n' << std::flush;
    check();
  }

 private:
  void check() const {
    if (!stream_)
      throw UnavailableError(
          "{}: cannot be written; check that the disk has space and the folder may be written to",
          file_.string());
  }
  std::filesystem::path file_;
  std::ofstream stream_;
};

}  // namespace apart
