#pragma once
#include <apart/basis/bernstein.hpp>
#include <apart/core/function_ref.hpp>
#include <apart/core/matrix_buffer.hpp>

#include <cstdint>
#include <span>

namespace apart {

/// A part of the reference tetrahedron, by the bisections of its longest edge that lead there: a one, then a
/// bit for each, 0 for the half that bisect_longest leaves and 1 for the one that it returns.
using BernsteinPath = std::uint32_t;

/// Parts in the order of the tree of bisections: those within the first half of a tetrahedron come before
/// those within the second one.
bool comes_before(BernsteinPath first, BernsteinPath second);
/// Of paths in this order to parts that do not overlap: those to the part that `path` leads to, or into it.
std::span<const BernsteinPath> within(std::span<const BernsteinPath> paths, BernsteinPath path);

/// Some parts of the reference tetrahedron that do not overlap, and the tree of bisections that leads to them
/// all. The coefficients of a polynomial on a part are a linear map of those on the whole. As a matrix it
/// would have size² numbers for each part; the tree applies it with about size · degree / 2 averages.
class BernsteinParts {
 public:
  BernsteinParts() = default;
  /// `paths`: in the order of the tree, which is that of the parts.
  explicit BernsteinParts(const std::vector<BernsteinPath>& paths);
  Index count() const { return count_; }

  using Matrix = MatrixBuffer::Matrix;
  using Rows = Eigen::Ref<const Eigen::MatrixXd>;
  /// Memory for what follows, one after the other.
  class Room {
    friend BernsteinParts;
    MatrixBuffer start, result;
    std::vector<MatrixBuffer> others;  ///< of the bisections that lead to a part
    std::vector<int> low;
  };
  /// visit(k, coefficients of wanted[k]) for some parts, in their order: those of polynomials on the whole,
  /// one row each.
  using Visit = FunctionRef<void(std::size_t k, const Matrix& coefficients)>;
  void restrict(const BernsteinTetrahedron& basis, Rows coefficients, std::span<const int> wanted, Room& room,
                Visit visit) const;
  /// The transposed map: from weights of coefficients on these parts, `basis.size()` columns for each, to
  /// weights of those on the whole. In `room`, until that is used again.
  Matrix gathered(const BernsteinTetrahedron& basis, Rows weights, std::span<const int> wanted,
                  Room& room) const;

  /// Parts on which one polynomial has a coefficient that is not above `share` times that of another one, and
  /// the coefficients of both there, `basis.size()` columns for each. What is above on a half of the tree is
  /// so on all parts within, as their coefficients are averages; such halves are not looked at further.
  struct Low {
    std::span<const int> parts;
    Matrix coefficients;
  };
  /// Of the two rows of `coefficients`. In `room`, until that is used again.
  Low low(const BernsteinTetrahedron& basis, Rows coefficients, double share, Room& room) const;

 private:
  static constexpr int nothing = -1;  ///< a half that contains no part
  /// A tetrahedron that is a part, or whose edge from a to b is cut.
  struct Node {
    int a = 0, b = 0;
    std::array<int, 2> halves = {nothing, nothing};  ///< nodes_
    int first = 0, last = 0;                         ///< parts within, from first, before last
    bool is_part() const { return halves[0] == nothing && halves[1] == nothing; }
  };
  int add(std::span<const BernsteinPath> paths, BernsteinPath path, int first,
          const BernsteinCorners& corners);
  /// A walk over the tree, from a node with the coefficients there: into the halves for which
  /// enters(node, coefficients) holds, visit(part, coefficients) at its leaves. Changes `coefficients`.
  template <class Enters, class AtPart>
  void walk(const BernsteinTetrahedron& basis, int node, std::size_t depth, Matrix coefficients, Room& room,
            const Enters& enters, const AtPart& visit) const;
  Matrix begun(Rows coefficients, Room& room) const;
  struct Gathering {
    const BernsteinTetrahedron& basis;
    const Rows& weights;
    std::span<const int> wanted;
    std::vector<MatrixBuffer>& others;
  };
  void gather_to(int node, std::size_t depth, Matrix sum, const Gathering& from, std::size_t& k) const;

  Index count_ = 0;
  std::size_t depth_ = 0;  ///< most bisections that lead to a part
  int root_ = nothing;
  std::vector<Node> nodes_;
};

}  // namespace apart
