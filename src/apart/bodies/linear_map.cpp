#include <apart/bodies/linear_map.hpp>

#include <apart/core/parallel.hpp>

#include <cmath>

namespace apart {

LinearMap LinearMap::identity(Index node_count) {
  LinearMap map(node_count);
  for (Index v = 0; v < node_count; ++v) {
    const Influence self{v, 1.0};
    map.add_vertex({&self, 1});
  }
  return map;
}

void LinearMap::add_vertex(std::span<const Influence> influences, const Vector3& offset) {
  if (offset_.empty() && !offset.isZero(0)) offset_.assign(std::size_t(vertex_count()), Vector3::Zero());
  entries_.insert(entries_.end(), influences.begin(), influences.end());
  start_.push_back(Index(entries_.size()));
  if (!offset.isZero(0) || !offset_.empty()) offset_.push_back(offset);
}

void LinearMap::append(const LinearMap& other, std::span<const Index> vertices, Index first_node) {
  std::vector<Influence> moved;
  for (const Index v : vertices) {
    moved.assign(other.influences(v).begin(), other.influences(v).end());
    for (Influence& i : moved) i.node += first_node;
    add_vertex(moved, other.offset_.empty() ? Vector3::Zero() : other.offset_[std::size_t(v)]);
  }
}

Matrix3X LinearMap::positions(const Matrix3X& q) const {
  Matrix3X x = push_forward(q);
  for (std::size_t v = 0; v < offset_.size(); ++v) x.col(Index(v)) += offset_[v];
  return x;
}

Vector3 LinearMap::position(Index v, FunctionRef<Vector3(Index node)> q) const {
  const auto row = influences(v);
  Vector3 sum = row[0].weight * q(row[0].node);
  for (std::size_t k = 1; k < row.size(); ++k) sum += row[k].weight * q(row[k].node);
  return offset_.empty() ? sum : Vector3(sum + offset_[std::size_t(v)]);
}

Matrix3X LinearMap::push_forward(const Matrix3X& p) const {
  Matrix3X x(3, vertex_count());
  parallel_chunks(vertex_count(), 4096, [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v) {
      const auto row = influences(v);
      Vector3 sum = row[0].weight * p.col(row[0].node);
      for (std::size_t k = 1; k < row.size(); ++k) sum += row[k].weight * p.col(row[k].node);
      x.col(v) = sum;
    }
  });
  return x;
}

Matrix3X LinearMap::pull_back(const Matrix3X& g) const {
  Matrix3X p = Matrix3X::Zero(3, node_count_);
  for (Index v = 0; v < vertex_count(); ++v)
    for (const Influence& i : influences(v)) p.col(i.node) += i.weight * g.col(v);
  return p;
}

VectorX LinearMap::bound(const VectorX& d) const {
  VectorX result = VectorX::Zero(vertex_count());
  for (Index v = 0; v < vertex_count(); ++v)
    for (const Influence& i : influences(v)) result[v] += std::abs(i.weight) * d[i.node];
  return result;
}

}  // namespace apart
