#include <apart/bodies/linear_map.hpp>

#include <apart/core/parallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace apart {

namespace {

/// The first of four consecutive nodes that a vertex depends on; −1 if it depends on others.
Index first_of_four(std::span<const Influence> influences) {
  if (influences.size() != 4) return -1;
  for (Index k = 1; k < 4; ++k)
    if (influences[std::size_t(k)].node != influences[0].node + k) return -1;
  return influences[0].node;
}

/// A column as a vector of the length that processors add at once; its fourth number means nothing.
Vector4 padded_column(const Matrix3X& m, Index column) {
  if (column + 1 < m.cols()) return Eigen::Map<const Vector4>(m.data() + 3 * column);
  return Vector4(m(0, column), m(1, column), m(2, column), 0);
}

}  // namespace

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
  const Index first_node = first_of_four(influences), end = vertex_count();
  if (runs_.empty() || runs_.back().first_node != first_node)
    runs_.push_back({end - 1, end, first_node});
  else
    runs_.back().end = end;
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
  const auto of_any = [&](Index begin, Index end) {
    for (Index v = begin; v < end; ++v) {
      const auto row = influences(v);
      Vector3 sum = row[0].weight * p.col(row[0].node);
      for (std::size_t k = 1; k < row.size(); ++k) sum += row[k].weight * p.col(row[k].node);
      x.col(v) = sum;
    }
  };
  const auto of_four = [&](Index begin, Index end, Index node) {
    const Vector4 p0 = padded_column(p, node), p1 = padded_column(p, node + 1),
                  p2 = padded_column(p, node + 2), p3 = padded_column(p, node + 3);
    const Influence* w = entries_.data() + start_[std::size_t(begin)];
    for (Index v = begin; v < end; ++v, w += 4) {
      const Vector4 sum = w[0].weight * p0 + w[1].weight * p1 + w[2].weight * p2 + w[3].weight * p3;
      if (v + 1 < end)  // the next column is written after this one
        Eigen::Map<Vector4>(x.data() + 3 * std::ptrdiff_t(v)) = sum;
      else
        x.col(v) = sum.head<3>();
    }
  };
  parallel_chunks(vertex_count(), 4096, [&](Index begin, Index end) {
    auto run =
        std::upper_bound(runs_.begin(), runs_.end(), begin, [](Index v, const Run& r) { return v < r.end; });
    for (; run != runs_.end() && run->begin < end; ++run) {
      const Index from = std::max(begin, run->begin), to = std::min(end, run->end);
      if (run->first_node < 0)
        of_any(from, to);
      else
        of_four(from, to, run->first_node);
    }
  });
  return x;
}

Matrix3X LinearMap::pull_back(const Matrix3X& g) const {
  Matrix3X p = Matrix3X::Zero(3, node_count_);
  for (const Run& run : runs_) {
    if (run.first_node < 0) {
      for (Index v = run.begin; v < run.end; ++v)
        for (const Influence& i : influences(v)) p.col(i.node) += i.weight * g.col(v);
      continue;
    }
    std::array<Vector4, 4> sum;
    sum.fill(Vector4::Zero());
    const Influence* w = entries_.data() + start_[std::size_t(run.begin)];
    for (Index v = run.begin; v < run.end; ++v, w += 4) {
      const Vector4 on_vertex = padded_column(g, v);
      for (std::size_t k = 0; k < 4; ++k) sum[k] += w[k].weight * on_vertex;
    }
    for (Index k = 0; k < 4; ++k) p.col(run.first_node + k) += sum[std::size_t(k)].head<3>();
  }
  return p;
}

VectorX LinearMap::bound(const VectorX& d) const {
  VectorX result = VectorX::Zero(vertex_count());
  for (Index v = 0; v < vertex_count(); ++v)
    for (const Influence& i : influences(v)) result[v] += std::abs(i.weight) * d[i.node];
  return result;
}

}  // namespace apart
