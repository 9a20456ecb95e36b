#include <apart/basis/bernstein_parts.hpp>

#include <algorithm>
#include <bit>

namespace apart {

bool leads_into(BernsteinPath path, BernsteinPath begin) {
  while (path > begin) {
    path /= 2;
    if (path == begin) return true;
  }
  return false;
}

BernsteinParts::BernsteinParts(const std::vector<BernsteinPath>& paths) : count_(Index(paths.size())) {
  root_ = add(paths, 1, reference_corners());
  for (const BernsteinPath path : paths) depth_ = std::max(depth_, std::size_t(std::bit_width(path)) - 1);
}

int BernsteinParts::add(const std::vector<BernsteinPath>& paths, BernsteinPath path,
                        const BernsteinCorners& corners) {
  const auto at = std::ranges::find(paths, path);
  const bool is_part = at != paths.end();
  if (!is_part && std::ranges::none_of(paths, [&](BernsteinPath p) { return leads_into(p, path); }))
    return nothing;
  const int result = int(nodes_.size());
  nodes_.emplace_back();
  Node node;
  node.first = Index(parts_in_order_.size());
  if (is_part) {
    node.part = int(at - paths.begin());
    parts_in_order_.push_back(node.part);
  } else {
    const auto [a, b] = longest_edge(corners);
    node.a = a, node.b = b;
    BernsteinCorners kept = corners, other = corners;
    kept.col(b) = other.col(a) = 0.5 * (corners.col(a) + corners.col(b));
    node.halves = {add(paths, 2 * path, kept), add(paths, 2 * path + 1, other)};
  }
  node.last = Index(parts_in_order_.size());
  nodes_[std::size_t(result)] = node;
  return result;
}

bool BernsteinParts::is_wanted(const Node& node, const std::vector<bool>& wanted) const {
  if (wanted.empty()) return true;
  return std::any_of(parts_in_order_.begin() + node.first, parts_in_order_.begin() + node.last,
                     [&](int part) { return wanted[std::size_t(part)]; });
}

BernsteinParts::Matrix BernsteinParts::restricted(const BernsteinTetrahedron& basis, Rows coefficients,
                                                  Room& room, const std::vector<bool>& wanted) const {
  if (room.others.size() < depth_) room.others.resize(depth_);
  Matrix result = room.result.shaped(coefficients.rows(), count_ * basis.size());
  result.setZero();
  if (root_ == nothing) return result;
  Matrix start = room.start.shaped(coefficients.rows(), coefficients.cols());
  start = coefficients;
  restrict_from(root_, 0, start, {basis, wanted, room.others, result});
  return result;
}

void BernsteinParts::restrict_from(int node, std::size_t depth, Matrix coefficients,
                                   const Restriction& to) const {
  const Node& n = nodes_[std::size_t(node)];
  if (!is_wanted(n, to.wanted)) return;
  if (n.part != nothing) {
    to.result.middleCols(n.part * to.basis.size(), to.basis.size()) = coefficients;
    return;
  }
  Matrix other = to.others[depth].shaped(coefficients.rows(), coefficients.cols());
  to.basis.bisect(coefficients, n.a, n.b, other);
  if (n.halves[0] != nothing) restrict_from(n.halves[0], depth + 1, coefficients, to);
  if (n.halves[1] != nothing) restrict_from(n.halves[1], depth + 1, other, to);
}

BernsteinParts::Matrix BernsteinParts::gathered(const BernsteinTetrahedron& basis, Rows weights,
                                                Room& room) const {
  if (room.others.size() < depth_) room.others.resize(depth_);
  Matrix result = room.result.shaped(weights.rows(), basis.size());
  gather_to(root_, 0, result, {basis, weights, room.others});
  return result;
}

void BernsteinParts::gather_to(int node, std::size_t depth, Matrix sum, const Gathering& from) const {
  if (node == nothing) {
    sum.setZero();
    return;
  }
  const Node& n = nodes_[std::size_t(node)];
  if (n.part != nothing) {
    sum = from.weights.middleCols(n.part * from.basis.size(), from.basis.size());
    return;
  }
  gather_to(n.halves[0], depth + 1, sum, from);
  Matrix other = from.others[depth].shaped(sum.rows(), sum.cols());
  gather_to(n.halves[1], depth + 1, other, from);
  from.basis.unite(sum, other, n.a, n.b);
}

}  // namespace apart
