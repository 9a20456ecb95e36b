// Volumes, and closed surfaces.
#include <apart/geometry/generators_parts.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace apart::generate {

namespace {

/// Triangles of a plane region, counter-clockwise, and the edges on its boundary, the inside on their left.
struct Section {
  int point_count;
  std::vector<std::array<int, 3>> triangles;
  std::vector<std::array<int, 2>> rim;
};

Section section_of(const Disc& disc) {
  Section section{disc.point_count(), disc.triangles, {}};
  for (int i = 0; i < disc.rim_count; ++i) section.rim.push_back({disc.rim(i), disc.rim(i + 1)});
  return section;
}

Section section_of(const PlaneTriangulation& made) {
  Section section{int(made.points.size()), made.triangles, {}};
  std::set<std::array<int, 2>> edges;
  for (const auto& t : made.triangles)
    for (std::size_t k = 0; k < 3; ++k) edges.insert({t[k], t[(k + 1) % 3]});
  for (const auto& [p, q] : edges)
    if (!edges.contains({q, p})) section.rim.push_back({p, q});
  return section;
}

/// Prisms between copies of a section, each copy seen counter-clockwise from the next; `ring`: the last is
/// joined to the first. `position` gives point p of copy k.
template <class Position>
Mesh sweep(const Section& section, int copies, bool ring, Content content, Position position) {
  Builder builder;
  const int n = section.point_count;
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
      for (auto [a, b, c] : section.triangles) {
        if (a > b) std::swap(a, b);
        if (b > c) std::swap(b, c);
        if (a > b) std::swap(a, b);
        builder.tetrahedron(index(a, low), index(b, low), index(c, low), index(c, high));
        builder.tetrahedron(index(a, low), index(b, low), index(b, high), index(c, high));
        builder.tetrahedron(index(a, low), index(a, high), index(b, high), index(c, high));
      }
    } else {
      for (const auto& [p, q] : section.rim)
        builder.quadrilateral(index(p, k), index(q, k), index(q, k + 1), index(p, k + 1),
                              (p < q) == (k % 2 == 0));
    }
  }
  if (content == Content::surface && !ring)
    for (const auto& [a, b, c] : section.triangles) {
      builder.triangle(a, c, b);
      builder.triangle(index(a, layers), index(b, layers), index(c, layers));
    }
  return content == Content::surface ? remove_unreferenced_points(builder.mesh()) : builder.mesh();
}

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
  return sweep(section_of(disc), ring_cells, true, content, [&](int p, int k) {
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
  return sweep(section_of(disc), length_cells + 1, false, content, [&](int p, int k) {
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

Mesh voussoir(const RingPart& part, const Eigen::Vector3i& cells, Content content) {
  const auto [inner, outer, depth, from, to] = part;
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

Mesh prism(const PlaneLoop& corners, const std::vector<PlaneLoop>& holes, double depth, double edge,
           Content content) {
  require_positive("prism", "depth", depth);
  if (!(edge >= 0 && std::isfinite(edge)))
    throw InputError("prism: edge: got {}, must be positive, or 0 for as few points as possible", edge);
  const PlaneTriangulation made = triangulate_polygon("prism", corners, holes, edge);
  const double layers = edge > 0 ? std::max(1.0, std::ceil(depth / edge * (1 - 1e-9))) : 1;
  require_size("prism", "edge", 3.0 * double(made.triangles.size()) * layers);
  return sweep(section_of(made), int(layers) + 1, false, content, [&](int p, int k) {
    const Vector2& x = made.points[std::size_t(p)];
    return Vector3(x[0], x[1], depth * centred(k, int(layers)));
  });
}

}  // namespace apart::generate
