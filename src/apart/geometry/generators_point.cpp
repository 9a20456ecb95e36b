// Free points.
#include <apart/geometry/generators_parts.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace apart::generate {

namespace {

/// Numbers in [0, 1) that are the same on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Mesh points(const Eigen::Vector3i& counts, double spacing) {
  for (int d = 0; d < 3; ++d) require_at_least("points", "counts", counts[d], 1);
  require_positive("points", "spacing", spacing);
  require_size("points", "counts", double(counts[0]) * counts[1] * counts[2]);
  Mesh mesh;
  mesh.points.resize(3, counts.prod());
  Index p = 0;
  for (int k = 0; k < counts[2]; ++k)
    for (int j = 0; j < counts[1]; ++j)
      for (int i = 0; i < counts[0]; ++i)
        mesh.points.col(p++) = spacing * (Vector3(i, j, k) - 0.5 * (counts.cast<double>() - Vector3::Ones()));
  mesh.vertices = Eigen::VectorXi::LinSpaced(p, 0, p - 1);
  return mesh;
}

Mesh packing(const Vector3& size, double radius, double gap, int count, unsigned seed) {
  for (int k = 0; k < 3; ++k) require_positive("packing", "size", size[k]);
  require_positive("packing", "radius", radius);
  require_at_least("packing", "count", count, 0);
  if (!(gap >= 0) || !std::isfinite(gap)) throw InputError("packing: gap: got {}, must not be negative", gap);
  const Vector3 room = size - Vector3::Constant(2 * radius);
  if (!(room.minCoeff() >= 0))
    throw InputError("packing: size: got {} x {} x {}, must hold a ball of radius {}", size[0], size[1],
                     size[2], radius);
  const double apart = 2 * radius + gap;
  require_size("packing", "size and radius", size.prod() / (apart * apart * apart));
  // A grid with cells so small that each holds at most one centre.
  const double cell = apart / std::numbers::sqrt3;
  const Eigen::Vector3i n = (room / cell).array().floor().cast<int>() + 1;
  const auto cells = std::size_t(n.cast<double>().prod());
  std::vector<int> held(cells, -1);
  const auto at = [&](int i, int j, int k) -> int& {
    return held[(std::size_t(k) * std::size_t(n[1]) + std::size_t(j)) * std::size_t(n[0]) + std::size_t(i)];
  };
  Random random(seed);
  std::vector<Vector3> centres;
  constexpr int patience = 1000;  // consecutive tries without room
  for (int misses = 0; misses < patience && (count == 0 || int(centres.size()) < count); ++misses) {
    Vector3 x;
    for (int k = 0; k < 3; ++k) x[k] = room[k] * random();
    const Eigen::Vector3i c = (x / cell).array().floor().cast<int>().min(n.array() - 1);
    bool free = true;
    for (int k = std::max(0, c[2] - 2); free && k <= std::min(n[2] - 1, c[2] + 2); ++k)
      for (int j = std::max(0, c[1] - 2); free && j <= std::min(n[1] - 1, c[1] + 2); ++j)
        for (int i = std::max(0, c[0] - 2); free && i <= std::min(n[0] - 1, c[0] + 2); ++i)
          free = at(i, j, k) < 0 || (centres[std::size_t(at(i, j, k))] - x).norm() >= apart;
    if (!free) continue;
    at(c[0], c[1], c[2]) = int(centres.size());
    centres.push_back(x);
    misses = -1;
  }
  if (int(centres.size()) < count)
    throw InputError("packing: count: got {}, only {} balls fit; use fewer, or a larger box", count,
                     centres.size());
  Mesh mesh;
  mesh.points = Matrix3X::Map(centres.front().data(), 3, Eigen::Index(centres.size()));
  mesh.points.colwise() -= 0.5 * room;
  mesh.vertices = Eigen::VectorXi::LinSpaced(Eigen::Index(centres.size()), 0, int(centres.size()) - 1);
  return mesh;
}

}  // namespace apart::generate
