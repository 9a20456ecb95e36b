#include <apart/basis/bernstein_parts.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <bit>

namespace apart {

namespace {

/// The bisections from the highest bit on.
std::uint32_t aligned(BernsteinPath path) {
  return path << std::countl_zero(path);
}

}  // namespace

bool comes_before(BernsteinPath first, BernsteinPath second) {
  return aligned(first) < aligned(second);
}

std::span<const BernsteinPath> within(std::span<const BernsteinPath> paths, BernsteinPath path) {
  const std::uint32_t first = aligned(path), last = first + ((1u << std::countl_zero(path)) - 1);
  const auto begin = std::ranges::lower_bound(paths, first, {}, aligned),
             end = std::ranges::upper_bound(begin, paths.end(), last, {}, aligned);
  // One that `path` leads into begins with the same bits.
  if (begin != end && *begin < path) return {};
  return {begin, end};
}

BernsteinParts::BernsteinParts(const std::vector<BernsteinPath>& paths) : count_(Index(paths.size())) {
  ensure(std::ranges::is_sorted(paths, comes_before), "BernsteinParts: paths are in the order of the tree");
  root_ = add(paths, 1, 0, reference_corners());
  for (const BernsteinPath path : paths) depth_ = std::max(depth_, std::size_t(std::bit_width(path)) - 1);
}

/// `paths`: those within, of which the first is number `first`.
int BernsteinParts::add(std::span<const BernsteinPath> paths, BernsteinPath path, int first,
                        const BernsteinCorners& corners) {
  if (paths.empty()) return nothing;
  const int result = int(nodes_.size());
  nodes_.emplace_back();
  Node node;
  node.first = first;
  node.last = first + int(paths.size());
  if (paths.front() == path) {
    ensure(paths.size() == 1, "BernsteinParts: parts do not overlap");
  } else {
    const auto [a, b] = longest_edge(corners);
    node.a = a, node.b = b;
    BernsteinCorners kept = corners, other = corners;
    kept.col(b) = other.col(a) = 0.5 * (corners.col(a) + corners.col(b));
    const auto at_a = within(paths, 2 * path), at_b = within(paths, 2 * path + 1);
    ensure(at_a.size() + at_b.size() == paths.size(), "BernsteinParts: parts do not overlap");
    node.halves[0] = add(at_a, 2 * path, first, kept);
    node.halves[1] = add(at_b, 2 * path + 1, first + int(at_a.size()), other);
  }
  nodes_[std::size_t(result)] = node;
  return result;
}

template <class Enters, class AtPart>
void BernsteinParts::walk(const BernsteinTetrahedron& basis, int node, std::size_t depth, Matrix coefficients,
                          Room& room, const Enters& enters, const AtPart& visit) const {
  if (node == nothing) return;
  const Node& n = nodes_[std::size_t(node)];
  if (!enters(n, coefficients)) return;
  if (n.is_part()) {
    visit(n.first, coefficients);
    return;
  }
  Matrix other = room.others[depth].shaped(coefficients.rows(), coefficients.cols());
  basis.bisect(coefficients, n.a, n.b, other);
  walk(basis, n.halves[0], depth + 1, coefficients, room, enters, visit);
  walk(basis, n.halves[1], depth + 1, other, room, enters, visit);
}

/// What a walk begins with.
BernsteinParts::Matrix BernsteinParts::begun(Rows coefficients, Room& room) const {
  if (room.others.size() < depth_) room.others.resize(depth_);
  Matrix start = room.start.shaped(coefficients.rows(), coefficients.cols());
  start = coefficients;
  return start;
}

void BernsteinParts::restrict(const BernsteinTetrahedron& basis, Rows coefficients,
                              std::span<const int> wanted, Room& room, Visit visit) const {
  std::size_t k = 0;  // those before are done
  const auto enters = [&](const Node& node, const Matrix&) {
    return k < wanted.size() && wanted[k] < node.last;
  };
  walk(basis, root_, 0, begun(coefficients, room), room, enters,
       [&](int, const Matrix& there) { visit(k++, there); });
}

BernsteinParts::Low BernsteinParts::low(const BernsteinTetrahedron& basis, Rows coefficients, double share,
                                        Room& room) const {
  const Index size = basis.size();
  room.low.clear();
  const auto is_low = [&](const Node&, const Matrix& there) {
    bool all_above = true;
    for (Index i = 0; i < size; ++i) all_above &= there(0, i) - share * there(1, i) > 0;
    return !all_above;
  };
  Matrix found = room.result.shaped(2, count_ * size);
  walk(basis, root_, 0, begun(coefficients, room), room, is_low, [&](int part, const Matrix& there) {
    found.middleCols(Index(room.low.size()) * size, size) = there;
    room.low.push_back(part);
  });
  return {room.low, Matrix(found.data(), 2, Index(room.low.size()) * size)};
}

BernsteinParts::Matrix BernsteinParts::gathered(const BernsteinTetrahedron& basis, Rows weights,
                                                std::span<const int> wanted, Room& room) const {
  if (room.others.size() < depth_) room.others.resize(depth_);
  Matrix result = room.start.shaped(weights.rows(), basis.size());
  std::size_t k = 0;
  gather_to(root_, 0, result, {basis, weights, wanted, room.others}, k);
  return result;
}

/// `k`: those of the wanted parts before that are done.
void BernsteinParts::gather_to(int node, std::size_t depth, Matrix sum, const Gathering& from,
                               std::size_t& k) const {
  if (node == nothing || k == from.wanted.size() || from.wanted[k] >= nodes_[std::size_t(node)].last) {
    sum.setZero();
    return;
  }
  const Node& n = nodes_[std::size_t(node)];
  if (n.is_part()) {
    sum = from.weights.middleCols(Index(k++) * from.basis.size(), from.basis.size());
    return;
  }
  gather_to(n.halves[0], depth + 1, sum, from, k);
  Matrix other = from.others[depth].shaped(sum.rows(), sum.cols());
  gather_to(n.halves[1], depth + 1, other, from, k);
  from.basis.unite(sum, other, n.a, n.b);
}

}  // namespace apart
