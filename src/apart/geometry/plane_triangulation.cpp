#include <apart/geometry/plane_triangulation.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace apart {

namespace {

using Vector2 = Eigen::Vector2d;

Vector3 raised(const Vector2& p, double z = 0) {
  return {p[0], p[1], z};
}

/// Delaunay triangulation that grows point by point [Bowyer 1981, Watson 1981], with exact signs. Around all
/// points there is a triangle so large that it does not matter.
class Delaunay {
 public:
  explicit Delaunay(const std::vector<Vector2>& points) : x_(points) {
    Vector2 low = x_[0], high = x_[0];
    for (const Vector2& p : x_) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    const Vector2 middle = 0.5 * (low + high);
    const double size = 1e4 * (high - low).maxCoeff();
    const int n = int(x_.size());
    x_.push_back(middle + Vector2(-size, -size));
    x_.push_back(middle + Vector2(size, -size));
    x_.push_back(middle + Vector2(0, size));
    triangles_.push_back({{n, n + 1, n + 2}, {-1, -1, -1}, true});
    for (int p = 0; p < n; ++p) insert(p);
  }

  /// Without the triangles at the corners of the large one.
  std::vector<std::array<int, 3>> triangles() const {
    std::vector<std::array<int, 3>> result;
    const int n = int(x_.size()) - 3;
    for (const Triangle& t : triangles_)
      if (t.alive && std::ranges::all_of(t.corners, [&](int p) { return p < n; }))
        result.push_back(t.corners);
    return result;
  }

 private:
  struct Triangle {
    std::array<int, 3> corners;
    std::array<int, 3> across;  ///< the triangle beyond the side opposite of each corner; −1: none
    bool alive;
  };

  int side(int a, int b, int p) const {
    return exact::orientation(raised(x_[std::size_t(a)]), raised(x_[std::size_t(b)]),
                              raised(x_[std::size_t(p)]), raised(x_[std::size_t(a)], 1));
  }
  bool in_circle(const Triangle& t, int p) const {
    return exact::in_circle(x_[std::size_t(t.corners[0])], x_[std::size_t(t.corners[1])],
                            x_[std::size_t(t.corners[2])], x_[std::size_t(p)]) > 0;
  }

  /// A triangle that contains the point, walking from the last one.
  int locate(int p) const {
    int at = int(triangles_.size()) - 1;
    for (;;) {
      const Triangle& t = triangles_[std::size_t(at)];
      int next = -1;
      for (std::size_t k = 0; k < 3 && next < 0; ++k)
        if (side(t.corners[(k + 1) % 3], t.corners[(k + 2) % 3], p) < 0) next = t.across[k];
      if (next < 0) return at;
      at = next;
    }
  }

  void insert(int p) {
    // All triangles whose circle contains the point are replaced by a fan around it.
    std::vector<int> cavity = {locate(p)};
    std::set<int> known = {cavity[0]};
    for (std::size_t i = 0; i < cavity.size(); ++i)
      for (const int next : triangles_[std::size_t(cavity[i])].across)
        if (next >= 0 && !known.contains(next) && in_circle(triangles_[std::size_t(next)], p)) {
          known.insert(next);
          cavity.push_back(next);
        }
    // A point on a side of the first one: what is beyond has it in its circle, or is degenerate with it.
    std::map<int, int> from, to;  // by the first and by the second end of a side of the cavity: new triangle
    for (const int c : cavity) {
      const Triangle old = triangles_[std::size_t(c)];
      triangles_[std::size_t(c)].alive = false;
      for (std::size_t k = 0; k < 3; ++k) {
        if (old.across[k] >= 0 && known.contains(old.across[k])) continue;
        const int a = old.corners[(k + 1) % 3], b = old.corners[(k + 2) % 3], made = int(triangles_.size());
        triangles_.push_back({{p, a, b}, {old.across[k], -1, -1}, true});
        if (old.across[k] >= 0) {
          Triangle& beyond = triangles_[std::size_t(old.across[k])];
          std::ranges::replace(beyond.across, c, made);
        }
        from[a] = to[b] = made;
      }
    }
    for (const auto& [a, made] : from) {
      // The side p–a belongs to the triangle that ends in a as well.
      const int other = to.at(a);
      triangles_[std::size_t(made)].across[2] = other;
      triangles_[std::size_t(other)].across[1] = made;
    }
  }

  std::vector<Vector2> x_;
  std::vector<Triangle> triangles_;
};

/// Sides of loops that are no edges of the triangles, as {loop, position}.
std::vector<std::pair<std::size_t, std::size_t>> missing_sides(
    const std::vector<PlaneLoop>& loops, const std::vector<std::array<int, 3>>& triangles) {
  std::set<std::pair<int, int>> edges;
  for (const auto& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) edges.insert(std::minmax(t[k], t[(k + 1) % 3]));
  std::vector<std::pair<std::size_t, std::size_t>> missing;
  int first = 0;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const int n = int(loops[l].size());
    for (int i = 0; i < n; ++i)
      if (!edges.contains(std::minmax(first + i, first + (i + 1) % n)))
        missing.emplace_back(l, std::size_t(i));
    first += n;
  }
  return missing;
}

void check_crossings(const std::vector<PlaneLoop>& loops) {
  std::vector<Vector2> points;
  std::vector<std::array<int, 2>> sides;
  for (const PlaneLoop& loop : loops) {
    const int first = int(points.size()), n = int(loop.size());
    for (int i = 0; i < n; ++i) sides.push_back({first + i, first + (i + 1) % n});
    points.insert(points.end(), loop.begin(), loop.end());
  }
  Matrix3X x(3, Index(points.size()));
  for (std::size_t p = 0; p < points.size(); ++p) x.col(Index(p)) = raised(points[p]);
  const Edges edges = Edges::Map(sides.data()->data(), 2, Index(sides.size()));
  const exact::Surface surface = exact::surface(Index(x.cols()), Faces(3, 0), edges, Eigen::VectorXi());
  const auto found = exact::find_intersections(
      x, surface, [](Index, Index) { return true; }, 1);
  if (found.empty()) return;
  const Vector3 at = x.col(found[0].a.vertices[0]);
  throw InputError("polygon: its sides cross or touch each other near ({:g}, {:g}); move its corners apart",
                   at[0], at[1]);
}

}  // namespace

bool is_inside(const Vector2& point, const std::vector<PlaneLoop>& loops) {
  bool inside = false;
  for (const PlaneLoop& loop : loops)
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Vector2 a = loop[i], b = loop[(i + 1) % loop.size()];
      if ((a[1] > point[1]) == (b[1] > point[1])) continue;
      if (point[0] < a[0] + (point[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])) inside = !inside;
    }
  return inside;
}

PlaneTriangulation triangulate(std::vector<PlaneLoop> loops, std::vector<Vector2> inner) {
  check_crossings(loops);
  constexpr int smoothings = 4, most_cuts = 40;
  int smoothed = 0;
  for (int cuts = 0;;) {
    PlaneTriangulation result;
    for (const PlaneLoop& loop : loops) result.points.insert(result.points.end(), loop.begin(), loop.end());
    const std::size_t fixed = result.points.size();
    result.points.insert(result.points.end(), inner.begin(), inner.end());
    result.triangles = Delaunay(result.points).triangles();
    if (auto missing = missing_sides(loops, result.triangles); !missing.empty()) {
      if (++cuts > most_cuts)
        throw InputError(
            "polygon: has corners too sharp for triangles; choose a shorter edge, or blunt them");
      std::ranges::reverse(missing);  // so that positions stay valid
      for (const auto& [l, i] : missing) {
        PlaneLoop& loop = loops[l];
        const Vector2 middle = 0.5 * (loop[i] + loop[(i + 1) % loop.size()]);
        loop.insert(loop.begin() + std::ptrdiff_t(i) + 1, middle);
      }
      continue;
    }
    std::erase_if(result.triangles, [&](const std::array<int, 3>& t) {
      Vector2 centre = Vector2::Zero();
      for (const int p : t) centre += result.points[std::size_t(p)] / 3;
      return !is_inside(centre, loops);
    });
    if (smoothed++ == smoothings || inner.empty()) return result;
    std::vector<Vector2> sum(result.points.size(), Vector2::Zero());
    std::vector<int> count(result.points.size(), 0);
    for (const auto& t : result.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        sum[std::size_t(t[k])] += result.points[std::size_t(t[(k + 1) % 3])];
        ++count[std::size_t(t[k])];
      }
    for (std::size_t i = 0; i < inner.size(); ++i)
      if (count[fixed + i] > 0) inner[i] = sum[fixed + i] / count[fixed + i];
  }
}

}  // namespace apart
