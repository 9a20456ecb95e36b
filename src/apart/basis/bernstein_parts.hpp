#pragma once
#include <apart/basis/bernstein.hpp>
#include <apart/core/matrix_buffer.hpp>

#include <cstdint>

namespace apart {

/// A part of the reference tetrahedron, by the bisections of its longest edge that lead there: a one, then a
/// bit for each, 0 for the half that bisect_longest leaves and 1 for the one that it returns.
using BernsteinPath = std::uint32_t;

/// Whether `path` leads to a part of the part that `begin` leads to, but not to that itself.
bool leads_into(BernsteinPath path, BernsteinPath begin);

/// Some parts of the reference tetrahedron that do not overlap, and the tree of bisections that leads to them
/// all. The coefficients of a polynomial on a part are a linear map of those on the whole. As a matrix it
/// would have size² numbers for each part; the tree applies it with about size · degree / 2 averages.
class BernsteinParts {
 public:
  BernsteinParts() = default;
  explicit BernsteinParts(const std::vector<BernsteinPath>& paths);
  Index count() const { return count_; }

  using Matrix = MatrixBuffer::Matrix;
  using Rows = Eigen::Ref<const Eigen::MatrixXd>;
  /// Memory for what follows, one after the other.
  class Room {
    friend BernsteinParts;
    MatrixBuffer start, result;
    std::vector<MatrixBuffer> others;  ///< of the bisections that lead to a part
  };
  /// Coefficients on the parts, `basis.size()` columns for each, of polynomials on the whole, one row each.
  /// Parts that are not wanted get zeros, and cost nothing; an empty list wants all. In `room`, until that is
  /// used again.
  Matrix restricted(const BernsteinTetrahedron& basis, Rows coefficients, Room& room,
                    const std::vector<bool>& wanted = {}) const;
  /// The transposed map: from weights of coefficients on the parts to weights of those on the whole.
  Matrix gathered(const BernsteinTetrahedron& basis, Rows weights, Room& room) const;

 private:
  static constexpr int nothing = -1;  ///< a half that contains no part
  /// A tetrahedron that is a part, or whose edge from a to b is cut.
  struct Node {
    int part = nothing;
    int a = 0, b = 0;
    std::array<int, 2> halves = {nothing, nothing};  ///< nodes_
    Index first = 0, last = 0;  ///< the parts within are those of parts_in_order_ from first, before last
  };
  int add(const std::vector<BernsteinPath>& paths, BernsteinPath path, const BernsteinCorners& corners);
  bool is_wanted(const Node& node, const std::vector<bool>& wanted) const;
  /// A walk over the tree.
  struct Restriction {
    const BernsteinTetrahedron& basis;
    const std::vector<bool>& wanted;
    std::vector<MatrixBuffer>& others;
    Matrix& result;
  };
  struct Gathering {
    const BernsteinTetrahedron& basis;
    const Rows& weights;
    std::vector<MatrixBuffer>& others;
  };
  /// Changes `coefficients`.
  void restrict_from(int node, std::size_t depth, Matrix coefficients, const Restriction& to) const;
  void gather_to(int node, std::size_t depth, Matrix sum, const Gathering& from) const;

  Index count_ = 0;
  std::size_t depth_ = 0;  ///< most bisections that lead to a part
  int root_ = nothing;
  std::vector<Node> nodes_;
  std::vector<int> parts_in_order_;
};

}  // namespace apart
