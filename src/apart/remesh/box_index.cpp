#include <apart/remesh/box_index.hpp>

#include <algorithm>
#include <numeric>

namespace apart {

namespace {

constexpr Index leaf_size = 8;

}  // namespace

BoxIndex::BoxIndex(std::vector<Aabb> boxes) : boxes_(std::move(boxes)), order_(boxes_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  if (!order_.empty()) build(0, Index(order_.size()));
}

void BoxIndex::build(Index begin, Index end) {
  const std::size_t self = nodes_.size();
  nodes_.push_back({{}, begin, end});
  Aabb centres;
  for (Index i = begin; i < end; ++i) {
    const Aabb& box = boxes_[std::size_t(order_[std::size_t(i)])];
    nodes_[self].box.include(box);
    centres.include(box.centre());
  }
  if (end - begin <= leaf_size) return;
  int axis;
  (centres.upper - centres.lower).maxCoeff(&axis);
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(
      order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](Index a, Index b) {
        const double x = boxes_[std::size_t(a)].centre()[axis], y = boxes_[std::size_t(b)].centre()[axis];
        return x != y ? x < y : a < b;
      });
  build(begin, middle);
  nodes_[self].right = Index(nodes_.size());
  build(middle, end);
}

std::vector<Index> BoxIndex::meeting(const Aabb& box) const {
  std::vector<Index> found, open;
  if (!nodes_.empty()) open.push_back(0);
  while (!open.empty()) {
    const Index n = open.back();
    const Node& node = nodes_[std::size_t(n)];
    open.pop_back();
    if (!node.box.near(box)) continue;
    if (node.right >= 0) {
      open.insert(open.end(), {node.right, n + 1});
      continue;
    }
    for (Index i = node.begin; i < node.end; ++i)
      if (boxes_[std::size_t(order_[std::size_t(i)])].near(box)) found.push_back(order_[std::size_t(i)]);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace apart
