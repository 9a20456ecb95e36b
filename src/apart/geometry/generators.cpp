#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace apart::generate {

namespace {

using Vector2 = Eigen::Vector2d;

// ---- arguments
// -------------------------------------------------------------------------------------------------------

constexpr double most_cells = 20e6;

void require_positive(const char* generator, const char* parameter, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError("{}: {}: got {}, must be a positive finite number", generator, parameter, value);
}

void require_at_least(const char* generator, const char* parameter, int value, int least) {
  if (value < least)
    throw InputError("{}: {}: got {}, must be at least {}", generator, parameter, value, least);
}

/// `count` is a double because products of the arguments may not fit an integer.
void require_size(const char* generator, const char* parameters, double count) {
  if (count > most_cells)
    throw InputError("{}: {} give {:.3g} cells or points, at most {:.3g} are allowed; choose a coarser mesh",
                     generator, parameters, count, most_cells);
}

/// i / n − 1/2, exactly symmetric: centred(n − i, n) = −centred(i, n).
double centred(int i, int n) {
  return (i - 0.5 * n) / n;
}

// ---- collecting cells
// ------------------------------------------------------------------------------------------------

struct Builder {
  std::vector<Vector3> points;
  std::vector<std::array<int, 4>> tetrahedra;
  std::vector<std::array<int, 3>> faces;

  /// A tetrahedron in either orientation.
  void tetrahedron(int a, int b, int c, int d) {
    const bool positive = signed_volume6(points[std::size_t(a)], points[std::size_t(b)],
                                         points[std::size_t(c)], points[std::size_t(d)]) > 0;
    tetrahedra.push_back(positive ? std::array{a, b, c, d} : std::array{a, b, d, c});
  }
  void triangle(int a, int b, int c) { faces.push_back({a, b, c}); }
  /// Quadrilateral a b c d (counter-clockwise from outside), cut along a–c or b–d.
  void quadrilateral(int a, int b, int c, int d, bool cut_ac) {
    triangle(a, b, cut_ac ? c : d);
    cut_ac ? triangle(a, c, d) : triangle(b, c, d);
  }

  Mesh mesh() const {
    Mesh mesh;
    mesh.points =
        Matrix3X::Map(points.empty() ? nullptr : points.front().data(), 3, Eigen::Index(points.size()));
    mesh.tetrahedra = Tetrahedra::Map(tetrahedra.empty() ? nullptr : tetrahedra.front().data(), 4,
                                      Eigen::Index(tetrahedra.size()));
    mesh.faces = Faces::Map(faces.empty() ? nullptr : faces.front().data(), 3, Eigen::Index(faces.size()));
    return mesh;
  }
};

// ---- circles
// ---------------------------------------------------------------------------------------------------------

/// (cos x, sin x) for 0 ≤ x ≤ π/4 by their power series; the C library's differ between machines in the last
/// bit.
Vector2 cos_sin(double x) {
  double c = 1, s = 1;
  for (int n = 18; n >= 2; n -= 2) {
    c = 1 - x * x / (n * (n - 1)) * c;
    s = 1 - x * x / (n * (n + 1)) * s;
  }
  return {c, x * s};
}

/// Point k of n on the unit circle. Reduced to the first octant in integers, so that it is exactly symmetric.
Vector2 on_circle(std::int64_t k, std::int64_t n) {
  const std::int64_t octant = 8 * k / n % 8;
  std::int64_t rest = 8 * k % n;  // in units of an n-th of an octant
  if (octant % 2 == 1) rest = n - rest;
  Vector2 p = rest == n ? Vector2::Constant(std::sqrt(0.5)).eval()
                        : cos_sin(std::numbers::pi / 4 * (double(rest) / double(n)));
  if (octant % 4 == 1 || octant % 4 == 2) std::swap(p[0], p[1]);
  if (octant >= 2 && octant <= 5) p[0] = -p[0];
  if (octant >= 4) p[1] = -p[1];
  return p;
}

/// (cos, sin) of 0 ≤ degrees ≤ 180.
Vector2 cos_sin_degrees(double degrees) {
  if (degrees > 90) {
    const Vector2 p = cos_sin_degrees(180 - degrees);
    return {-p[0], p[1]};
  }
  if (degrees > 45) return cos_sin_degrees(90 - degrees).reverse();
  return cos_sin(degrees * (std::numbers::pi / 180));
}

/// The unit disc cut into rings of nearly equilateral triangles around its centre, point 0.
struct Disc {
  std::vector<double> radius;                 ///< of each point, in [0, 1]
  std::vector<Vector2> direction;             ///< of each point, unit
  std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise
  int rim_begin = 0, rim_count = 0;           ///< the points on the rim, counter-clockwise

  int point_count() const { return int(radius.size()); }
  Vector2 point(int p) const { return radius[std::size_t(p)] * direction[std::size_t(p)]; }
  int rim(int i) const { return rim_begin + i % rim_count; }
};

Disc make_disc(int rings, int rim_count) {
  Disc disc;
  disc.radius = {0};
  disc.direction = {Vector2::UnitX()};
  int inner_begin = 0, inner_count = 1;
  for (int ring = 1; ring <= rings; ++ring) {
    const int begin = disc.point_count();
    const int count =
        int(std::max<std::int64_t>(3, (2 * std::int64_t(rim_count) * ring + rings) / (2 * rings)));
    for (int k = 0; k < count; ++k) {
      disc.radius.push_back(double(ring) / rings);
      disc.direction.push_back(on_circle(k, count));
    }
    // Zip the two rings together: go on along the ring whose next edge has its middle at the smaller angle.
    const auto inner = [&](int i) { return inner_begin + i % inner_count; };
    const auto outer = [&](int j) { return begin + j % count; };
    const int inner_edges = inner_count == 1 ? 0 : inner_count;
    for (int i = 0, j = 0; i < inner_edges || j < count;) {
      const bool along_outer = i == inner_edges || (j < count && std::int64_t(2 * j + 1) * inner_count <=
                                                                     std::int64_t(2 * i + 1) * count);
      if (along_outer)
        disc.triangles.push_back({inner(i), outer(j), outer(j + 1)}), ++j;
      else
        disc.triangles.push_back({inner(i), outer(j), inner(i + 1)}), ++i;
    }
    inner_begin = begin;
    inner_count = count;
  }
  disc.rim_begin = inner_begin;
  disc.rim_count = inner_count;
  return disc;
}

/// Prisms between `layers` copies of a disc, each copy seen counter-clockwise from the next; `ring`: the last
/// is joined to the first. `position` gives point p of copy k.
template <class Position>
Mesh sweep(const Disc& disc, int copies, bool ring, Content content, Position position) {
  Builder builder;
  const int n = disc.point_count();
  for (int k = 0; k < copies; ++k)
    for (int p = 0; p < n; ++p) builder.points.push_back(position(p, k));
  const auto index = [&](int p, int k) { return k % copies * n + p; };

  const int layers = ring ? copies : copies - 1;
  for (int k = 0; k < layers; ++k) {
    // The side of the prism over edge (p, q), p < q, is cut from p below to q above in even layers, from q
    // below to p above in odd ones. So neighbours agree, every prism can be cut, and no direction of twist is
    // preferred.
    const int low = k % 2 == 0 ? k : k + 1, high = k % 2 == 0 ? k + 1 : k;
    if (content == Content::tetrahedra) {
      for (auto [a, b, c] : disc.triangles) {
        if (a > b) std::swap(a, b);
        if (b > c) std::swap(b, c);
        if (a > b) std::swap(a, b);
        builder.tetrahedron(index(a, low), index(b, low), index(c, low), index(c, high));
        builder.tetrahedron(index(a, low), index(b, low), index(b, high), index(c, high));
        builder.tetrahedron(index(a, low), index(a, high), index(b, high), index(c, high));
      }
    } else {
      for (int i = 0; i < disc.rim_count; ++i) {
        const int p = disc.rim(i), q = disc.rim(i + 1);
        builder.quadrilateral(index(p, k), index(q, k), index(q, k + 1), index(p, k + 1),
                              (p < q) == (k % 2 == 0));
      }
    }
  }
  if (content == Content::surface && !ring)
    for (const auto& [a, b, c] : disc.triangles) {
      builder.triangle(a, c, b);
      builder.triangle(index(a, layers), index(b, layers), index(c, layers));
    }
  return content == Content::surface ? remove_unreferenced_points(builder.mesh()) : builder.mesh();
}

// ---- the sphere
// ------------------------------------------------------------------------------------------------------

/// An icosahedron around the centre, each of its 20 sectors cut edgewise, and each layer of points moved onto
/// a sphere. In a sector the points are the triples (i, j, l) ≥ 0 of integers, weights of its three corners;
/// i + j + l is the layer, 0 the centre.
class Icosphere {
 public:
  explicit Icosphere(int layers) : layers_(layers) {
    const double phi = std::numbers::phi;
    for (double a : {-1.0, 1.0})
      for (double b : {-phi, phi})
        for (int axis = 0; axis < 3; ++axis) {
          Vector3 corner;
          corner[axis] = 0;
          corner[(axis + 1) % 3] = a;
          corner[(axis + 2) % 3] = b;
          corners_.push_back(corner.normalized());
        }
    // The 30 shortest distances are the edges: their ends enclose an angle of cosine 1/√5, all others less.
    const auto adjacent = [&](int a, int b) { return corners_[a].dot(corners_[b]) > 0.4; };
    for (int a = 0; a < 12; ++a)
      for (int b = a + 1; b < 12; ++b) {
        if (!adjacent(a, b)) continue;
        edge_[a][b] = edge_[b][a] = edge_count_++;
        for (int c = b + 1; c < 12; ++c)
          if (adjacent(a, c) && adjacent(b, c)) {
            const bool outward = corners_[a].cross(corners_[b]).dot(corners_[c]) > 0;
            sectors_.push_back(outward ? std::array{a, b, c} : std::array{a, c, b});
          }
      }
    ensure(edge_count_ == 30 && sectors_.size() == 20, "an icosahedron has 30 edges and 20 faces");
  }

  Mesh solid(double radius) const {
    Builder builder;
    builder.points.resize(std::size_t(layer_begin(layers_ + 1)));
    for (int s = 0; s < 20; ++s)
      for_triples(0, layers_, [&](Triple t) { builder.points[index(s, t)] = radius * position(s, t); });
    for (int s = 0; s < 20; ++s) for_triples(0, layers_ - 1, [&](Triple t) { add_cells(builder, s, t); });
    return builder.mesh();
  }

  Mesh surface(double radius) const {
    Builder builder;
    const int shift = layer_begin(layers_);
    builder.points.resize(std::size_t(layer_begin(layers_ + 1) - shift));
    for (int s = 0; s < 20; ++s)
      for_triples(layers_, layers_,
                  [&](Triple t) { builder.points[index(s, t) - shift] = radius * position(s, t); });
    for (int s = 0; s < 20; ++s) {
      const auto at = [&](Triple t) { return index(s, t) - shift; };
      for_triples(layers_ - 1, layers_ - 1, [&](Triple t) {
        builder.triangle(at(t + Triple(1, 0, 0)), at(t + Triple(0, 1, 0)), at(t + Triple(0, 0, 1)));
      });
      for_triples(layers_ - 2, layers_ - 2, [&](Triple t) {
        builder.triangle(at(t + Triple(0, 1, 1)), at(t + Triple(1, 0, 1)), at(t + Triple(1, 1, 0)));
      });
    }
    return builder.mesh();
  }

 private:
  using Triple = Eigen::Vector3i;

  /// All triples of the layers from..to.
  template <class F>
  static void for_triples(int from, int to, F call) {
    for (int layer = std::max(from, 0); layer <= to; ++layer)
      for (int i = 0; i <= layer; ++i)
        for (int j = 0; i + j <= layer; ++j) call(Triple(i, j, layer - i - j));
  }

  /// Number of points in the layers before this one: the centre, then 10 k² + 2 in layer k.
  static int layer_begin(int layer) {
    const std::int64_t k = layer - 1;
    return layer == 0 ? 0 : int(1 + 10 * (k * (k + 1) * (2 * k + 1) / 6) + 2 * k);
  }

  /// Within a layer: the 12 corners, the inner points of the 30 edges, the inner points of the 20 faces.
  int index(int sector, const Triple& t) const {
    const int k = t.sum();
    if (k == 0) return 0;
    const std::array<int, 3>& corners = sectors_[std::size_t(sector)];
    const int begin = layer_begin(k);
    const int zeros = int((t.array() == 0).count());
    if (zeros == 2) return begin + corners[t[0] > 0 ? 0 : t[1] > 0 ? 1 : 2];
    if (zeros == 1) {
      const int m = t[0] == 0 ? 0 : t[1] == 0 ? 1 : 2;  // opposite corner
      const int u = (m + 1) % 3, v = (m + 2) % 3;
      const int from_smaller = corners[u] < corners[v] ? t[v] : t[u];
      return begin + 12 + edge_[corners[u]][corners[v]] * (k - 1) + from_smaller - 1;
    }
    // Inner points with first weight 1, 2, ...: rows of k − 2, k − 3, ... points.
    const int row = t[0] - 1;
    const int in_face = row * (k - 2) - row * (row - 1) / 2 + t[1] - 1;
    return begin + 12 + 30 * (k - 1) + sector * ((k - 1) * (k - 2) / 2) + in_face;
  }

  /// In the unit ball.
  Vector3 position(int sector, const Triple& t) const {
    const int k = t.sum();
    if (k == 0) return Vector3::Zero();
    const std::array<int, 3>& c = sectors_[std::size_t(sector)];
    const Vector3 flat = t[0] * corners_[c[0]] + t[1] * corners_[c[1]] + t[2] * corners_[c[2]];
    return flat.normalized() * (double(k) / layers_);
  }

  /// The cells whose smallest triple is t: a small sector, an octahedron outside it, and an inverted sector
  /// outside that, as far as the layers reach.
  void add_cells(Builder& builder, int sector, const Triple& t) const {
    const Triple e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto at = [&](const Triple& offset) { return index(sector, t + offset); };
    builder.tetrahedron(at(Triple::Zero()), at(e[0]), at(e[1]), at(e[2]));
    const int room = layers_ - t.sum();
    if (room < 2) return;
    // Cut the octahedron along the shortest of its diagonals, each from e[m] to the opposite e[m+1] + e[m+2].
    int best = 0;
    double best_length = std::numeric_limits<double>::infinity();
    for (int m = 0; m < 3; ++m) {
      const double length = (builder.points[std::size_t(at(e[m]))] -
                             builder.points[std::size_t(at(e[(m + 1) % 3] + e[(m + 2) % 3]))])
                                .norm();
      if (length < 0.999999 * best_length) {  // ties must not depend on rounding
        best = m;
        best_length = length;
      }
    }
    const Triple a = e[best], b = e[(best + 1) % 3], c = e[(best + 2) % 3];
    const int around[4] = {at(b), at(c), at(a + c), at(a + b)};
    for (int q = 0; q < 4; ++q) builder.tetrahedron(at(a), at(b + c), around[q], around[(q + 1) % 4]);
    if (room >= 3) builder.tetrahedron(at(a + b), at(a + c), at(b + c), at(a + b + c));
  }

  int layers_;
  std::vector<Vector3> corners_;
  std::vector<std::array<int, 3>> sectors_;  ///< corners of each face, counter-clockwise from outside
  int edge_[12][12] = {};                    ///< number of the edge between two corners
  int edge_count_ = 0;
};

/// Convex solid: tetrahedra from every face to the mean of the corners, or the faces alone. Faces are
/// counter-clockwise from outside.
Mesh convex(std::vector<Vector3> corners, std::vector<std::array<int, 3>> faces, Content content) {
  Builder builder;
  Vector3 centre = Vector3::Zero();
  for (const Vector3& c : corners) centre += c / double(corners.size());
  builder.points = std::move(corners);
  if (content == Content::surface) {
    builder.faces = std::move(faces);
    return builder.mesh();
  }
  const int inner = int(builder.points.size());
  builder.points.push_back(centre);
  for (const auto& f : faces) builder.tetrahedron(f[0], f[1], f[2], inner);
  return builder.mesh();
}

}  // namespace

// ---- the generators
// --------------------------------------------------------------------------------------------------

// Every cell holds the regular tetrahedron of its four corners with even i + j + k, and four more at the odd
// corners. So the cut of a face joins its even corners, on both sides of it, and no diagonal direction is
// preferred.
Mesh box(const Vector3& size, const Eigen::Vector3i& cells, Content content) {
  for (int d = 0; d < 3; ++d) require_positive("box", "size", size[d]);
  for (int d = 0; d < 3; ++d) require_at_least("box", "cells", cells[d], 1);
  require_size("box", "cells", (content == Content::tetrahedra ? 5.0 : 1.0) * cells[0] * cells[1] * cells[2]);

  Builder builder;
  for (int k = 0; k <= cells[2]; ++k)
    for (int j = 0; j <= cells[1]; ++j)
      for (int i = 0; i <= cells[0]; ++i)
        builder.points.push_back(
            size.cwiseProduct(Vector3(centred(i, cells[0]), centred(j, cells[1]), centred(k, cells[2]))));
  const auto index = [&](const Eigen::Vector3i& p) {
    return (p[2] * (cells[1] + 1) + p[1]) * (cells[0] + 1) + p[0];
  };

  if (content == Content::tetrahedra) {
    for (int k = 0; k < cells[2]; ++k)
      for (int j = 0; j < cells[1]; ++j)
        for (int i = 0; i < cells[0]; ++i) {
          // Corner 0 is even; its neighbours along x, y, z are odd.
          const Eigen::Vector3i base(i + (i + j + k) % 2, j, k);
          const int dx = (i + j + k) % 2 == 0 ? 1 : -1;
          const auto at = [&](int x, int y, int z) { return index(base + Eigen::Vector3i(dx * x, y, z)); };
          builder.tetrahedron(at(0, 0, 0), at(1, 1, 0), at(1, 0, 1), at(0, 1, 1));
          builder.tetrahedron(at(1, 0, 0), at(0, 0, 0), at(1, 1, 0), at(1, 0, 1));
          builder.tetrahedron(at(0, 1, 0), at(0, 0, 0), at(1, 1, 0), at(0, 1, 1));
          builder.tetrahedron(at(0, 0, 1), at(0, 0, 0), at(1, 0, 1), at(0, 1, 1));
          builder.tetrahedron(at(1, 1, 1), at(1, 1, 0), at(1, 0, 1), at(0, 1, 1));
        }
    return builder.mesh();
  }
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::Vector3i u = Eigen::Vector3i::Unit((axis + 1) % 3),
                          v = Eigen::Vector3i::Unit((axis + 2) % 3);
    for (bool upper : {false, true})
      for (int b = 0; b < cells.dot(v); ++b)
        for (int a = 0; a < cells.dot(u); ++a) {
          const Eigen::Vector3i p = a * u + b * v + (upper ? cells[axis] : 0) * Eigen::Vector3i::Unit(axis);
          const bool even = p.sum() % 2 == 0;
          // u × v points along the axis: outward on the upper side only.
          if (upper)
            builder.quadrilateral(index(p), index(p + u), index(p + u + v), index(p + v), even);
          else
            builder.quadrilateral(index(p), index(p + v), index(p + u + v), index(p + u), even);
        }
  }
  return remove_unreferenced_points(builder.mesh());
}

Mesh sphere(double radius, int resolution, Content content) {
  require_positive("sphere", "radius", radius);
  require_at_least("sphere", "resolution", resolution, 1);
  require_size("sphere", "resolution",
               20 * std::pow(double(resolution), content == Content::tetrahedra ? 3 : 2));
  const Icosphere icosphere(resolution);
  return content == Content::tetrahedra ? icosphere.solid(radius) : icosphere.surface(radius);
}

Mesh torus(double major, double minor, int ring_cells, int tube_cells, Content content) {
  require_positive("torus", "major", major);
  require_positive("torus", "minor", minor);
  if (minor >= major) throw InputError("torus: minor: got {}, must be less than major ({})", minor, major);
  require_at_least("torus", "ring_cells", ring_cells, 3);
  require_at_least("torus", "tube_cells", tube_cells, 3);
  const int rings = std::max(1, (tube_cells + 3) / 6);  // rings about as thick as their cells are long
  // A disc of so many rings has about tube_cells · rings triangles, and each prism three tetrahedra.
  require_size("torus", "ring_cells and tube_cells", 3.0 * ring_cells * tube_cells * rings);
  const Disc disc = make_disc(rings, tube_cells);
  return sweep(disc, ring_cells, true, content, [&](int p, int k) {
    const Vector2 tube = disc.point(p), ring = on_circle(k, ring_cells);
    const double distance = major + minor * tube[0];
    return Vector3(distance * ring[0], minor * tube[1], distance * ring[1]);
  });
}

Mesh cylinder(double radius, double length, int resolution, int length_cells, Content content) {
  require_positive("cylinder", "radius", radius);
  require_positive("cylinder", "length", length);
  require_at_least("cylinder", "resolution", resolution, 1);
  require_at_least("cylinder", "length_cells", length_cells, 1);
  require_size("cylinder", "resolution and length_cells", 18.0 * resolution * resolution * length_cells);
  const Disc disc = make_disc(resolution, 6 * resolution);
  return sweep(disc, length_cells + 1, false, content, [&](int p, int k) {
    const Vector2 x = radius * disc.point(p);
    return Vector3(x[0], length * centred(k, length_cells),
                   -x[1]);  // −: counter-clockwise from above
  });
}

Mesh mat(double width, double thickness, int cells, Content content) {
  require_positive("mat", "width", width);
  require_positive("mat", "thickness", thickness);
  require_at_least("mat", "cells", cells, 1);
  require_size("mat", "cells", 5.0 * cells * cells);
  return box({width, thickness, width}, {cells, 1, cells}, content);
}

Mesh rod(double length, double thickness, int cells, int cross_cells, Content content) {
  require_positive("rod", "length", length);
  require_positive("rod", "thickness", thickness);
  require_at_least("rod", "cells", cells, 1);
  require_at_least("rod", "cross_cells", cross_cells, 1);
  require_size("rod", "cells and cross_cells", 5.0 * cells * cross_cells * cross_cells);
  return box({length, thickness, thickness}, {cells, cross_cells, cross_cells}, content);
}

Mesh spike(double width, double height, Content content) {
  require_positive("spike", "width", width);
  require_positive("spike", "height", height);
  const double a = 0.5 * width;
  return convex({{-a, 0, -a}, {a, 0, -a}, {a, 0, a}, {-a, 0, a}, {0, height, 0}},
                {{0, 1, 2}, {0, 2, 3}, {1, 0, 4}, {2, 1, 4}, {3, 2, 4}, {0, 3, 4}}, content);
}

Mesh wedge(double width, double height, double length, Content content) {
  require_positive("wedge", "width", width);
  require_positive("wedge", "height", height);
  require_positive("wedge", "length", length);
  const double a = 0.5 * width, b = 0.5 * length;
  return convex({{-a, 0, -b}, {a, 0, -b}, {a, 0, b}, {-a, 0, b}, {0, height, -b}, {0, height, b}},
                {{0, 1, 2}, {0, 2, 3}, {1, 0, 4}, {3, 2, 5}, {2, 1, 4}, {2, 4, 5}, {0, 3, 5}, {0, 5, 4}},
                content);
}

Mesh voussoir(double inner, double outer, double depth, double from, double to, const Eigen::Vector3i& cells,
              Content content) {
  require_positive("voussoir", "inner", inner);
  require_positive("voussoir", "depth", depth);
  if (!(outer > inner) || !std::isfinite(outer))
    throw InputError("voussoir: outer: got {}, must be greater than inner ({})", outer, inner);
  if (!(from >= 0 && from < to && to <= 180))
    throw InputError("voussoir: from and to: got {} and {}, must be 0 <= from < to <= 180 degrees", from, to);
  // (radius, angle, z) is right-handed as (x, y, z) is: the unit box bends into the stone and keeps its
  // orientation.
  Mesh stone = box(Vector3::Ones(), cells, content);
  for (Index p = 0; p < stone.point_count(); ++p) {
    const Vector3 u = stone.points.col(p).array() + 0.5;
    const Vector2 direction = cos_sin_degrees((1 - u[1]) * from + u[1] * to);
    const double radius = (1 - u[0]) * inner + u[0] * outer;
    stone.points.col(p) << radius * direction[0], radius * direction[1], depth * (u[2] - 0.5);
  }
  return stone;
}

Mesh grid(double size_x, double size_z, int cells_x, int cells_z) {
  require_positive("grid", "size_x", size_x);
  require_positive("grid", "size_z", size_z);
  require_at_least("grid", "cells_x", cells_x, 1);
  require_at_least("grid", "cells_z", cells_z, 1);
  require_size("grid", "cells_x and cells_z", 2.0 * cells_x * cells_z);
  Builder builder;
  for (int k = 0; k <= cells_z; ++k)
    for (int i = 0; i <= cells_x; ++i)
      builder.points.push_back({size_x * centred(i, cells_x), 0, size_z * centred(k, cells_z)});
  const auto index = [&](int i, int k) { return k * (cells_x + 1) + i; };
  for (int k = 0; k < cells_z; ++k)
    for (int i = 0; i < cells_x; ++i)  // z then x: the normal is z × x = +y
      builder.quadrilateral(index(i, k), index(i, k + 1), index(i + 1, k + 1), index(i + 1, k),
                            (i + k) % 2 == 0);
  return builder.mesh();
}

Mesh bowl(double radius, double angle, int resolution) {
  require_positive("bowl", "radius", radius);
  if (!(angle > 0 && angle < 180))
    throw InputError("bowl: angle: got {}, must lie between 0 and 180 degrees", angle);
  require_at_least("bowl", "resolution", resolution, 1);
  require_size("bowl", "resolution", 6.0 * resolution * resolution);
  const Disc disc = make_disc(resolution, 6 * resolution);
  Builder builder;
  for (int p = 0; p < disc.point_count(); ++p) {
    const Vector2 polar = cos_sin_degrees(disc.radius[std::size_t(p)] * angle);
    const Vector2 flat = radius * polar[1] * disc.direction[std::size_t(p)];
    builder.points.push_back(
        {flat[0], radius * (1 - polar[0]), -flat[1]});  // −: counter-clockwise from above
  }
  builder.faces = disc.triangles;
  return builder.mesh();
}

Mesh revolution(const std::vector<Vector2>& profile, int resolution) {
  if (profile.size() < 2)
    throw InputError("revolution: profile: got {} points, must be at least 2", profile.size());
  for (const Vector2& p : profile) {
    require_positive("revolution", "profile radius", p[0]);
    if (!std::isfinite(p[1])) throw InputError("revolution: profile height: got {}, must be finite", p[1]);
  }
  for (std::size_t i = 1; i < profile.size(); ++i)
    if (profile[i] == profile[i - 1])
      throw InputError("revolution: profile: points {} and {} are equal", i - 1, i);
  require_at_least("revolution", "resolution", resolution, 3);
  require_size("revolution", "profile and resolution", 2.0 * double(profile.size()) * resolution);
  Builder builder;
  for (const Vector2& p : profile)
    for (int k = 0; k < resolution; ++k) {
      const Vector2 direction = on_circle(k, resolution);
      builder.points.push_back({p[0] * direction[0], p[1], p[0] * direction[1]});
    }
  const auto index = [&](int i, int k) { return i * resolution + k % resolution; };
  for (int i = 0; i + 1 < int(profile.size()); ++i)
    for (int k = 0; k < resolution; ++k)  // up × (x towards z) points away from the axis
      builder.quadrilateral(index(i, k), index(i + 1, k), index(i + 1, k + 1), index(i, k + 1),
                            (i + k) % 2 == 0);
  return builder.mesh();
}

Mesh ribbon(const std::vector<Vector3>& path, double width, int cells, int width_cells) {
  if (path.size() < 2) throw InputError("ribbon: path: got {} points, must be at least 2", path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!path[i].allFinite()) throw InputError("ribbon: path: point {} must be finite", i);
    if (i > 0 && path[i][0] == path[i - 1][0] && path[i][2] == path[i - 1][2])
      throw InputError("ribbon: path: points {} and {} are one above the other", i - 1, i);
  }
  require_positive("ribbon", "width", width);
  require_at_least("ribbon", "cells", cells, 1);
  require_at_least("ribbon", "width_cells", width_cells, 1);
  require_size("ribbon", "cells and width_cells", 2.0 * cells * width_cells);
  // A polyline so fine that its chords are the curve, and the length up to each of its points.
  constexpr int fine = 64;  // chords between two points of the path
  const int spans = int(path.size()) - 1;
  const auto point = [&](int i) { return path[std::size_t(std::clamp(i, 0, spans))]; };
  std::vector<Vector3> line;
  std::vector<double> length{0};
  for (int i = 0; i < spans; ++i)
    for (int j = i == 0 ? 0 : 1; j <= fine; ++j) {
      const double t = double(j) / fine;
      const Vector3 a = point(i), b = point(i + 1), u = 0.5 * (b - point(i - 1)),
                    v = 0.5 * (point(i + 2) - a);
      line.push_back(a + t * (u + t * (3 * (b - a) - 2 * u - v + t * (2 * (a - b) + u + v))));
      if (line.size() > 1) length.push_back(length.back() + (line.back() - line[line.size() - 2]).norm());
    }
  Builder builder;
  std::size_t chord = 0;
  for (int i = 0; i <= cells; ++i) {
    const double s = length.back() * i / cells;
    while (chord + 2 < line.size() && length[chord + 1] < s) ++chord;
    const double t = std::min((s - length[chord]) / (length[chord + 1] - length[chord]), 1.0);
    const Vector3 middle = line[chord] + t * (line[chord + 1] - line[chord]);
    for (int k = 0; k <= width_cells; ++k)
      builder.points.push_back(middle + Vector3(0, width * centred(k, width_cells), 0));
  }
  const auto index = [&](int i, int k) { return i * (width_cells + 1) + k; };
  for (int i = 0; i < cells; ++i)
    for (int k = 0; k < width_cells; ++k)
      builder.quadrilateral(index(i, k), index(i + 1, k), index(i + 1, k + 1), index(i, k + 1),
                            (i + k) % 2 == 0);
  Mesh mesh = builder.mesh();
  for (int k = 0; k <= width_cells; ++k) {
    mesh.groups["start"].points.push_back(index(0, k));
    mesh.groups["end"].points.push_back(index(cells, k));
  }
  return mesh;
}

Mesh segments(double length, int cells) {
  require_positive("segments", "length", length);
  require_at_least("segments", "cells", cells, 1);
  require_size("segments", "cells", cells);
  Mesh mesh;
  mesh.points.setZero(3, cells + 1);
  mesh.edges.resize(2, cells);
  for (int i = 0; i <= cells; ++i) mesh.points(0, i) = length * centred(i, cells);
  for (int i = 0; i < cells; ++i) mesh.edges.col(i) << i, i + 1;
  return mesh;
}

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

namespace {

/// Adds a line of points, its segments, and its ends to their groups.
class CurveBuilder {
 public:
  void add(std::span<const Vector3> line, bool closed = false) {
    const int first = int(points_.size()), n = int(line.size());
    points_.insert(points_.end(), line.begin(), line.end());
    for (int i = 0; i + 1 < n; ++i) edges_.push_back({first + i, first + i + 1});
    if (closed) {
      edges_.push_back({first + n - 1, first});
    } else {
      start_.points.push_back(first);
      end_.points.push_back(first + n - 1);
    }
  }
  Mesh mesh() const {
    Mesh mesh;
    mesh.points = Matrix3X::Map(points_.front().data(), 3, Eigen::Index(points_.size()));
    mesh.edges = Edges::Map(edges_.front().data(), 2, Eigen::Index(edges_.size()));
    if (!start_.points.empty()) {
      mesh.groups["start"] = start_;
      mesh.groups["end"] = end_;
    }
    return mesh;
  }

 private:
  std::vector<Vector3> points_;
  std::vector<std::array<int, 2>> edges_;
  MeshGroup start_, end_;
};

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

Mesh bundle(double length, int cells, const Eigen::Vector2i& counts, double spacing, bool round) {
  require_positive("bundle", "length", length);
  require_positive("bundle", "spacing", spacing);
  require_at_least("bundle", "cells", cells, 1);
  for (int k = 0; k < 2; ++k) require_at_least("bundle", "counts", counts[k], 1);
  require_size("bundle", "counts and cells", double(counts[0]) * counts[1] * cells);
  CurveBuilder curves;
  std::vector<Vector3> line(std::size_t(cells) + 1);
  for (int k = 0; k < counts[1]; ++k)
    for (int i = 0; i < counts[0]; ++i) {
      const double x = i - 0.5 * (counts[0] - 1), z = k - 0.5 * (counts[1] - 1);
      const double u = 2 * x / counts[0], v = 2 * z / counts[1];
      if (round && u * u + v * v > 1) continue;
      for (int j = 0; j <= cells; ++j)
        line[std::size_t(j)] = {spacing * x, length * centred(j, cells), spacing * z};
      curves.add(line);
    }
  return curves.mesh();
}

Mesh helix(double radius, double pitch, int turns, int turn_cells) {
  require_positive("helix", "radius", radius);
  require_positive("helix", "pitch", pitch);
  require_at_least("helix", "turns", turns, 1);
  require_at_least("helix", "turn_cells", turn_cells, 3);
  require_size("helix", "turns and turn_cells", double(turns) * turn_cells);
  const int cells = turns * turn_cells;
  std::vector<Vector3> line;
  for (int i = 0; i <= cells; ++i) {
    const Vector2 p = radius * on_circle(i % turn_cells, turn_cells);
    line.emplace_back(p[0], pitch * turns * centred(i, cells), -p[1]);
  }
  CurveBuilder curves;
  curves.add(line);
  return curves.mesh();
}

Mesh ring(double radius, int cells) {
  require_positive("ring", "radius", radius);
  require_at_least("ring", "cells", cells, 3);
  require_size("ring", "cells", cells);
  std::vector<Vector3> line;
  for (int i = 0; i < cells; ++i) {
    const Vector2 p = radius * on_circle(i, cells);
    line.emplace_back(p[0], 0, -p[1]);
  }
  CurveBuilder curves;
  curves.add(line, true);
  return curves.mesh();
}

Mesh net(double size, int count, int cells, double distance) {
  require_positive("net", "size", size);
  require_positive("net", "distance", distance);
  require_at_least("net", "count", count, 1);
  require_at_least("net", "cells", cells, 2);
  require_size("net", "count and cells", 2.0 * count * cells);
  CurveBuilder curves;
  std::vector<Vector3> line(std::size_t(cells) + 1);
  for (int direction = 0; direction < 2; ++direction)
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j <= cells; ++j) {
        // Crossing k of the line is at (k + 1/2)/count of it, where its height is ± distance/2 by turns:
        // ± sin(π count s).
        const double s = double(j) / cells;
        double wave = std::fmod(s * count, 2.0);  // in half waves
        const double sign = ((i + direction) % 2 == 0 ? 1 : -1) * (wave < 1 ? 1 : -1);
        if (wave >= 1) wave -= 1;
        const double y = sign * 0.5 * distance * cos_sin_degrees(180 * wave)[1];
        const double along = size * centred(j, cells), across = size * ((i + 0.5) / count - 0.5);
        line[std::size_t(j)] = direction == 0 ? Vector3(along, y, across) : Vector3(across, y, along);
      }
      curves.add(line);
    }
  return curves.mesh();
}

Mesh hair(const Mesh& surface, double length, int cells, double root, int every) {
  require_positive("hair", "length", length);
  require_at_least("hair", "cells", cells, 1);
  require_at_least("hair", "every", every, 1);
  if (!(root >= 0) || !std::isfinite(root))
    throw InputError("hair: root: got {}, must not be negative", root);
  const Faces faces = surface.is_volume() ? boundary_faces(surface.tetrahedra) : surface.faces;
  if (faces.cols() == 0) throw InputError("hair: surface: has no triangles, hair stands on some");
  Matrix3X normal = Matrix3X::Zero(3, surface.point_count());
  std::vector<char> used(std::size_t(surface.point_count()), 0);
  for (Index f = 0; f < faces.cols(); ++f) {
    const Vector3 a = surface.points.col(faces(0, f)), b = surface.points.col(faces(1, f)),
                  c = surface.points.col(faces(2, f));
    for (int k = 0; k < 3; ++k) {
      normal.col(faces(k, f)) += (b - a).cross(c - a);
      used[std::size_t(faces(k, f))] = 1;
    }
  }
  require_size("hair", "surface and cells", double(surface.point_count()) / every * cells);
  CurveBuilder curves;
  std::vector<Vector3> line(std::size_t(cells) + 1);
  int skip = 0;
  for (Index v = 0; v < surface.point_count(); ++v) {
    if (!used[std::size_t(v)] || skip++ % every != 0) continue;
    const Vector3 n = normal.col(v).normalized();
    if (n.isZero(0)) continue;  // a fold without a side
    for (int j = 0; j <= cells; ++j)
      line[std::size_t(j)] = surface.points.col(v) + (root + length * j / cells) * n;
    curves.add(line);
  }
  return curves.mesh();
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
  constexpr int patience = 1000;  // throws in a row that find no room
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
    throw InputError("packing: count: got {}, only {} balls found room; use fewer, or a larger box", count,
                     centres.size());
  Mesh mesh;
  mesh.points = Matrix3X::Map(centres.front().data(), 3, Eigen::Index(centres.size()));
  mesh.points.colwise() -= 0.5 * room;
  mesh.vertices = Eigen::VectorXi::LinSpaced(Eigen::Index(centres.size()), 0, int(centres.size()) - 1);
  return mesh;
}

}  // namespace apart::generate
