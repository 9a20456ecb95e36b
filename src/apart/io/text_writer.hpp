#pragma once
#include <apart/core/error.hpp>
#include <apart/core/types.hpp>

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

namespace apart {

/// Writes matrices as text, one column to a line. Numbers are the shortest that read back as the same double.
class TextWriter {
 public:
  explicit TextWriter(std::ostream& out) : out_(out) {}

  /// "prefix a b c" for each column; `shift` is added to integers (formats that count from 1).
  template <class Matrix>
  void columns(std::string_view prefix, const Matrix& matrix, int shift = 0) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      line_.assign(prefix);
      for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
        if (!line_.empty()) line_ += ' ';
        if constexpr (std::is_integral_v<typename Matrix::Scalar>)
          fmt::format_to(std::back_inserter(line_), "{}", matrix(r, c) + shift);
        else
          fmt::format_to(std::back_inserter(line_), "{}", matrix(r, c));
      }
      line_ += '\n';
      out_ << line_;
    }
  }

 private:
  std::ostream& out_;
  std::string line_;
};

/// Throws InputError if the mesh has cells that a format cannot hold.
inline void require_no_cells(const std::filesystem::path& file, std::string_view format, Eigen::Index count,
                             std::string_view cells, std::string_view remedy) {
  if (count > 0)
    throw InputError("{}: {} cannot hold the mesh's {} {}; {}", file.string(), format, count, cells, remedy);
}

}  // namespace apart
