#include <apart/bodies/linear_map.hpp>

#include <apart/core/parallel.hpp>

namespace apart {

LinearMap LinearMap::identity(Index node_count) {
  LinearMap map(node_count);
  for (Index v = 0; v < node_count; ++v) {
    const Influence self{v, 1.0};
    map.add_vertex({&self, 1});
  }
  return map;
}

void LinearMap::add_vertex(std::span<const Influence> influences) {
  entries_.insert(entries_.end(), influences.begin(), influences.end());
  start_.push_back(Index(entries_.size()));
}

void LinearMap::append(const LinearMap& other, std::span<const Index> vertices, Index first_node) {
  for (const Index v : vertices) {
    for (Influence i : other.influences(v)) {
      i.node += first_node;
      entries_.push_back(i);
    }
    start_.push_back(Index(entries_.size()));
  }
}

Matrix3X LinearMap::positions(const Matrix3X& q) const {
  return push_forward(q, q);
}

Matrix3X LinearMap::push_forward(const Matrix3X&, const Matrix3X& p) const {
  Matrix3X x(3, vertex_count());
  parallel_for(
      vertex_count(),
      [&](Index v) {
        const auto row = influences(v);
        Vector3 sum = row[0].weight * p.col(row[0].node);
        for (std::size_t k = 1; k < row.size(); ++k) sum += row[k].weight * p.col(row[k].node);
        x.col(v) = sum;
      },
      4096);
  return x;
}

Matrix3X LinearMap::pull_back(const Matrix3X&, const Matrix3X& g) const {
  Matrix3X p = Matrix3X::Zero(3, node_count_);
  for (Index v = 0; v < vertex_count(); ++v)
    for (const Influence& i : influences(v)) p.col(i.node) += i.weight * g.col(v);
  return p;
}

}  // namespace apart
