#pragma once
#include <apart/core/error.hpp>
#include <apart/core/types.hpp>

#include <array>
#include <filesystem>
#include <iosfwd>
#include <span>
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
    constexpr int most = 35;  // points of a tetrahedron of degree 4
    static_assert(Matrix::RowsAtCompileTime <= most);
    ensure(matrix.rows() <= most, "TextWriter: more rows than a line has room for");
    std::array<typename Matrix::Scalar, most> numbers;
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      for (Eigen::Index r = 0; r < matrix.rows(); ++r) numbers[std::size_t(r)] = matrix(r, c);
      line(prefix, {numbers.data(), std::size_t(matrix.rows())}, shift);
    }
  }

 private:
  void line(std::string_view prefix, std::span<const double> numbers, int shift);
  void line(std::string_view prefix, std::span<const int> numbers, int shift);
  std::ostream& out_;
  std::string line_;
};

/// Throws InputError if the mesh has cells that a format cannot hold.
void require_no_cells(const std::filesystem::path& file, std::string_view format, Eigen::Index count,
                      std::string_view cells, std::string_view remedy);

}  // namespace apart
