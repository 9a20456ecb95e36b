#include <apart/basis/bernstein_parts.hpp>

#include <algorithm>

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

Eigen::MatrixXd BernsteinParts::restricted(const BernsteinTetrahedron& basis,
                                           const Eigen::MatrixXd& coefficients,
                                           const std::vector<bool>& wanted) const {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(coefficients.rows(), count_ * basis.size());
  if (root_ != nothing) restrict_from(root_, basis, coefficients, wanted, result);
  return result;
}

void BernsteinParts::restrict_from(int node, const BernsteinTetrahedron& basis, Eigen::MatrixXd coefficients,
                                   const std::vector<bool>& wanted, Eigen::MatrixXd& result) const {
  const Node& n = nodes_[std::size_t(node)];
  if (!is_wanted(n, wanted)) return;
  if (n.part != nothing) {
    result.middleCols(n.part * basis.size(), basis.size()) = coefficients;
    return;
  }
  Eigen::MatrixXd other = basis.bisect(coefficients, n.a, n.b);
  if (n.halves[0] != nothing) restrict_from(n.halves[0], basis, std::move(coefficients), wanted, result);
  if (n.halves[1] != nothing) restrict_from(n.halves[1], basis, std::move(other), wanted, result);
}

Eigen::MatrixXd BernsteinParts::gathered(const BernsteinTetrahedron& basis,
                                         const Eigen::MatrixXd& weights) const {
  if (root_ == nothing) return Eigen::MatrixXd::Zero(weights.rows(), basis.size());
  return gather_to(root_, basis, weights);
}

Eigen::MatrixXd BernsteinParts::gather_to(int node, const BernsteinTetrahedron& basis,
                                          const Eigen::MatrixXd& weights) const {
  if (node == nothing) return Eigen::MatrixXd::Zero(weights.rows(), basis.size());
  const Node& n = nodes_[std::size_t(node)];
  if (n.part != nothing) return weights.middleCols(n.part * basis.size(), basis.size());
  return basis.unite(gather_to(n.halves[0], basis, weights), gather_to(n.halves[1], basis, weights), n.a,
                     n.b);
}

}  // namespace apart
