#include <gtest/gtest.h>
#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/exact_intersection.hpp>
#include <support/any_pair.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace apart::test {
namespace {

using namespace exact;

// ---- An oracle on the integers
// --------------------------------------------------------------------------------- Two convex hulls are
// disjoint if and only if a direction separates them strictly, and then one of finitely many directions made
// of differences of their corners does. On small integers this is exact by itself and has nothing in common
// with orientation predicates.

using IntegerPoint = std::array<std::int64_t, 3>;
using IntegerHull = std::vector<IntegerPoint>;

IntegerPoint operator-(const IntegerPoint& a, const IntegerPoint& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
IntegerPoint cross(const IntegerPoint& a, const IntegerPoint& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
std::int64_t dot(const IntegerPoint& a, const IntegerPoint& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

bool separates(const IntegerPoint& direction, const IntegerHull& a, const IntegerHull& b) {
  auto range = [&](const IntegerHull& hull) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(),
                 high = std::numeric_limits<std::int64_t>::min();
    for (const auto& p : hull) {
      low = std::min(low, dot(direction, p));
      high = std::max(high, dot(direction, p));
    }
    return std::pair(low, high);
  };
  const auto [la, ha] = range(a);
  const auto [lb, hb] = range(b);
  return ha < lb || hb < la;
}

bool oracle_intersect(const IntegerHull& a, const IntegerHull& b) {
  IntegerHull all = a;
  all.insert(all.end(), b.begin(), b.end());
  IntegerHull differences;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) differences.push_back(all[i] - all[j]);
  for (const auto& e : differences) {
    if (separates(e, a, b)) return false;
    for (const auto& f : differences) {
      const IntegerPoint n = cross(e, f);
      if (separates(n, a, b) || separates(cross(e, n), a, b)) return false;
    }
  }
  return true;
}

/// An exact affine map from the integers to doubles that uses all 53 bits, so that rounded arithmetic goes
/// wrong.
struct Embedding {
  double scale = 1;
  Vector3 offset = Vector3::Zero();
  Vector3 operator()(const IntegerPoint& p) const {
    return Vector3(double(p[0]), double(p[1]), double(p[2])) * scale + offset;
  }
};
// Small integers times a 43-bit number plus a 50-bit one: exact.
const Embedding wide{
    .scale = 8796093022151.0 / 1125899906842624.0,
    .offset = Vector3(1125899906842597.0, -1125899906842573.0, 1125899906842589.0) / 1125899906842624.0};

class IntegerSampler {
 public:
  explicit IntegerSampler(int seed, int range) : random_(seed), coordinate_(-range, range) {}
  IntegerHull hull(int size) {
    IntegerHull points(size);
    for (auto& p : points)
      for (auto& x : p) x = coordinate_(random_);
    return points;
  }

 private:
  std::mt19937 random_;
  std::uniform_int_distribution<int> coordinate_;
};

TEST(ExactIntersection, EmbeddingUsedByTheTestsIsExact) {
  for (int x = -40; x <= 40; ++x)
    for (int k = 0; k < 3; ++k) {
      IntegerPoint p{0, 0, 0};
      p[k] = x;
      const long double exact = (long double)(x)*wide.scale + wide.offset[k];
      ASSERT_EQ((long double)(wide(p)[k]), exact);
    }
}

TEST(ExactIntersection, AllPredicatesAgreeWithIntegerSeparationIncludingDegenerateCases) {
  int hits = 0, misses = 0;
  for (int range : {1, 2, 4, 12}) {
    IntegerSampler sample(range, range);
    for (int trial = 0; trial < 3000; ++trial) {
      for (auto [m, n] : {std::pair{2, 3}, {2, 2}, {1, 3}, {1, 2}, {1, 1}}) {
        const IntegerHull a = sample.hull(m), b = sample.hull(n);
        const bool expected = oracle_intersect(a, b);
        expected ? ++hits : ++misses;
        for (const Embedding& embed : {Embedding{}, wide}) {
          auto p = [&](int i) { return embed(a[i]); };
          auto q = [&](int i) { return embed(b[i]); };
          bool found = false;
          if (m == 2 && n == 3) found = edge_intersects_triangle(p(0), p(1), q(0), q(1), q(2));
          if (m == 2 && n == 2) found = edges_intersect(p(0), p(1), q(0), q(1));
          if (m == 1 && n == 3) found = point_on_triangle(p(0), q(0), q(1), q(2));
          if (m == 1 && n == 2) found = point_on_edge(p(0), q(0), q(1));
          if (m == 1 && n == 1) found = points_coincide(p(0), q(0));
          ASSERT_EQ(found, expected) << m << "-" << n << " range " << range << " trial " << trial;
        }
      }
    }
  }
  EXPECT_GT(hits, 2000);
  EXPECT_GT(misses, 2000);
}

TEST(ExactIntersection, OrientationIsTheSignOfTheVolume) {
  const Vector3 o = Vector3::Zero(), x = Vector3::UnitX(), y = Vector3::UnitY(), z = Vector3::UnitZ();
  EXPECT_EQ(orientation(o, x, y, z), 1);
  EXPECT_EQ(orientation(o, y, x, z), -1);
  EXPECT_EQ(orientation(o, x, y, x + y), 0);
  IntegerSampler sample(7, 6);
  for (int trial = 0; trial < 2000; ++trial) {
    const IntegerHull t = sample.hull(4);
    const std::int64_t volume = dot(cross(t[1] - t[0], t[2] - t[0]), t[3] - t[0]);
    EXPECT_EQ(orientation(wide(t[0]), wide(t[1]), wide(t[2]), wide(t[3])), (volume > 0) - (volume < 0));
  }
}

TEST(ExactIntersection, OneUnitInTheLastPlaceDecides) {
  // A triangle in the plane x + y + z = 1 and an edge that ends in it, one bit short of it, and one bit
  // behind it.
  const Vector3 a(1, 0, 0), b(0, 1, 0), c(0, 0, 1), far(2, 2, 2);
  const Vector3 on(0.25, 0.25, 0.5);
  Vector3 above = on, below = on;
  above.x() = std::nextafter(on.x(), 1.0);
  below.x() = std::nextafter(on.x(), 0.0);
  EXPECT_TRUE(edge_intersects_triangle(far, on, a, b, c));
  EXPECT_FALSE(edge_intersects_triangle(far, above, a, b, c));
  EXPECT_TRUE(edge_intersects_triangle(far, below, a, b, c));
  EXPECT_TRUE(point_on_triangle(on, a, b, c));
  EXPECT_FALSE(point_on_triangle(above, a, b, c));
  EXPECT_FALSE(point_on_triangle(below, a, b, c));
  EXPECT_TRUE(edges_intersect(far, on, a, 2 * on - a));
  EXPECT_FALSE(edges_intersect(far, above, a, 2 * on - a));
}

TEST(ExactIntersection, HalfSpaceSideIsExact) {
  const Vector3 origin(1.0 / 3, 1e8, -7), normal(0.6, 0.8, 0.1);
  EXPECT_EQ(half_space_side(origin, normal, origin), 0);
  // The doubles 0.6 and 0.8 are not in the ratio 3 : 4, but 0.6·4 − 0.8·3 rounds to zero.
  const long double exact = (long double)(0.6) * 4 - (long double)(0.8) * 3;
  ASSERT_NE(exact, 0);
  ASSERT_NEAR(double(exact), 0, 1e-15);
  EXPECT_EQ(half_space_side(Vector3::Zero(), normal, Vector3(4, -3, 0)), exact > 0 ? 1 : -1);
  Vector3 p = origin;
  p.y() = std::nextafter(p.y(), 2e8);
  EXPECT_EQ(half_space_side(origin, normal, p), 1);
  p.y() = std::nextafter(origin.y(), 0);
  EXPECT_EQ(half_space_side(origin, normal, p), -1);
  EXPECT_EQ(half_space_side(Vector3::Zero(), Vector3(1e300, 1e300, 0), Vector3(1e300, -1e300, 0)), 0);
}

TEST(ExactIntersection, SeparationAndVolumeSignsOfMovingPointsMatchIntegers) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> coordinate(-3, 3);
  auto point = [&] { return IntegerPoint{coordinate(random), coordinate(random), coordinate(random)}; };
  auto real = [](const IntegerPoint& p) { return Vector3(double(p[0]), double(p[1]), double(p[2])); };
  auto sign = [](std::int64_t v) { return (v > 0) - (v < 0); };
  for (int trial = 0; trial < 500; ++trial) {
    // Time k/8: everything times 8 stays on the integers.
    auto at = [](const IntegerPoint& p, const IntegerPoint& q, int k) {
      return IntegerPoint{(8 - k) * p[0] + k * q[0], (8 - k) * p[1] + k * q[1], (8 - k) * p[2] + k * q[2]};
    };
    std::array<IntegerPoint, 4> from, to;
    std::array<Path, 4> path;
    for (int i = 0; i < 4; ++i) {
      from[i] = point();
      to[i] = point();
      path[i] = {real(from[i]), real(to[i])};
    }
    const IntegerPoint direction = point();
    for (int k = 0; k <= 8; ++k)
      ASSERT_EQ(separation_sign(real(direction), path[0], path[1], k / 8.0),
                sign(dot(direction, at(from[0], to[0], k) - at(from[1], to[1], k))));
    const auto signs = volume_signs(path, 0.25, 0.75);
    auto volume = [&](int k) {
      const IntegerPoint o = at(from[0], to[0], k);
      return dot(cross(at(from[1], to[1], k) - o, at(from[2], to[2], k) - o), at(from[3], to[3], k) - o);
    };
    ASSERT_EQ(signs[0], sign(volume(2)));
    ASSERT_EQ(signs[3], sign(volume(6)));
    // The promise: equal signs of all coefficients mean that sign at every time between.
    if (std::set<int>(signs.begin(), signs.end()).size() == 1) {
      for (int k = 2; k <= 6; ++k) ASSERT_EQ(sign(volume(k)), signs[0]);
    }
    // The middle is a mean of the coefficients: b0 + 3 b1 + 3 b2 + b3 = 8 · volume(middle).
    for (int s : {-1, 1})
      if (s * signs[1] > 0 && s * signs[2] > 0 && s * signs[0] >= 0 && s * signs[3] >= 0) {
        ASSERT_EQ(sign(volume(4)), s);
      }
  }
}

// ---- Search
// ----------------------------------------------------------------------------------------------------

struct Soup {
  Matrix3X points;
  Faces faces;
  Edges segments;
  Eigen::VectorXi isolated;
};

Soup random_soup(int seed, double size) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-1, 1);
  constexpr int n_faces = 60, n_segments = 40, n_points = 20;
  Soup soup;
  soup.points.resize(3, 3 * n_faces + 2 * n_segments + n_points);
  soup.faces.resize(3, n_faces);
  soup.segments.resize(2, n_segments);
  soup.isolated.resize(n_points);
  Index next = 0;
  auto vertex = [&](const Vector3& centre) {
    soup.points.col(next) =
        centre + size * Vector3(coordinate(random), coordinate(random), coordinate(random));
    return next++;
  };
  auto place = [&] { return Vector3(coordinate(random), coordinate(random), coordinate(random)); };
  for (Index f = 0; f < n_faces; ++f) {
    const Vector3 centre = place();
    for (int k = 0; k < 3; ++k) soup.faces(k, f) = vertex(centre);
  }
  for (Index s = 0; s < n_segments; ++s) {
    const Vector3 centre = place();
    for (int k = 0; k < 2; ++k) soup.segments(k, s) = vertex(centre);
  }
  for (Index p = 0; p < n_points; ++p) soup.isolated[p] = vertex(place());
  // Plant the contacts that have probability zero.
  auto vertex_of = [&](Index p) { return soup.points.col(soup.isolated[p]); };
  vertex_of(0) = soup.points.col(soup.faces(0, 5));
  vertex_of(1) = soup.points.col(soup.segments(1, 7));
  vertex_of(2) = vertex_of(3).eval();
  soup.points.col(soup.segments(0, 1)) = soup.points.col(soup.segments(0, 2)).eval();
  return soup;
}

TEST(FindIntersections, AgreesWithAllPairsOnRandomSoups) {
  for (int seed = 0; seed < 5; ++seed) {
    const Soup soup = random_soup(seed, seed == 0 ? 0.02 : 0.4);
    const Matrix3X& x = soup.points;
    std::vector<PrimitivePair> expected;
    auto face = [&](Index f) { return Primitive{{soup.faces(0, f), soup.faces(1, f), soup.faces(2, f)}}; };
    auto edge = [](Index a, Index b) { return Primitive{{std::min(a, b), std::max(a, b), -1}}; };
    std::vector<Primitive> edges;
    for (Index f = 0; f < soup.faces.cols(); ++f)
      for (int k = 0; k < 3; ++k) edges.push_back(edge(soup.faces(k, f), soup.faces((k + 1) % 3, f)));
    std::vector<Primitive> segments;
    for (Index s = 0; s < soup.segments.cols(); ++s)
      segments.push_back(edge(soup.segments(0, s), soup.segments(1, s)));
    edges.insert(edges.end(), segments.begin(), segments.end());
    auto at = [&](Index i) -> Vector3 { return x.col(i); };
    auto add = [&](const Primitive& a, const Primitive& b, bool hit) {
      if (hit && !PrimitivePair{a, b}.share_vertex()) expected.push_back({a, b});
    };
    for (Index f = 0; f < soup.faces.cols(); ++f) {
      const auto [i, j, k] = face(f).vertices;
      for (const Primitive& e : edges)
        add(e, face(f), edge_intersects_triangle(at(e.vertices[0]), at(e.vertices[1]), at(i), at(j), at(k)));
      for (Index p : soup.isolated)
        add({{p, -1, -1}}, face(f), point_on_triangle(at(p), at(i), at(j), at(k)));
    }
    for (Index s = 0; s < Index(segments.size()); ++s) {
      const auto& v = segments[s].vertices;
      for (Index r = 0; r < s; ++r) {
        const auto& w = segments[r].vertices;
        if (edges_intersect(at(v[0]), at(v[1]), at(w[0]), at(w[1])))
          expected.push_back({std::min(segments[r], segments[s]), std::max(segments[r], segments[s])});
      }
      for (Index p : soup.isolated) add({{p, -1, -1}}, segments[s], point_on_edge(at(p), at(v[0]), at(v[1])));
    }
    for (Index p = 0; p < soup.isolated.size(); ++p)
      for (Index q = 0; q < p; ++q)
        add({{soup.isolated[q], -1, -1}}, {{soup.isolated[p], -1, -1}},
            points_coincide(at(soup.isolated[p]), at(soup.isolated[q])));
    std::sort(expected.begin(), expected.end());
    const Surface s = surface(Index(x.cols()), soup.faces, soup.segments, soup.isolated);
    const auto found = find_intersections(x, s, any_pair);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(found, expected) << "seed " << seed;
    std::set<std::pair<int, int>> kinds;
    for (const auto& pair : found) kinds.insert({pair.a.size(), pair.b.size()});
    EXPECT_EQ(kinds.size(), seed == 0 ? 4u : 5u) << "small triangles rarely cross; else every kind occurs";
  }
}

TEST(FindIntersections, LeavesOutPairsThatShareAVertexAndFilteredPairs) {
  // Two triangles in one plane overlap and share vertex 0: only their edges opposite to it are reported. A
  // third one pierces both.
  Matrix3X x(3, 8);
  x << 0, 2, 0, 2, 0, 0.5, 0.5, 0.6,  //
      0, 0, 2, 1, 1, 0.5, 0.5, 0.6,   //
      0, 0, 0, 0, 0, -1, 1, 1;
  Faces faces(3, 3);
  faces << 0, 0, 5,  //
      1, 3, 6,       //
      2, 4, 7;
  const Surface s = surface(8, faces, {}, {});
  const Primitive first{{0, 1, 2}}, second{{0, 3, 4}};
  const std::vector<PrimitivePair> piercing = {
      {{{5, 6, -1}}, first}, {{{5, 6, -1}}, second}, {{{5, 7, -1}}, first}, {{{5, 7, -1}}, second}};
  std::vector<PrimitivePair> all = {{{{1, 2, -1}}, second}, {{{3, 4, -1}}, first}};
  all.insert(all.end(), piercing.begin(), piercing.end());
  EXPECT_EQ(find_intersections(x, s, any_pair), all);
  auto different_bodies = [](Index i, Index j) { return (i < 5) != (j < 5); };
  EXPECT_EQ(find_intersections(x, s, different_bodies), piercing);
  EXPECT_TRUE(find_intersections(x, s, [](Index, Index) { return false; }).empty());
}

TEST(FindIntersections, LeavesOutGroupsAsAFilterWould) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(0, 1);
  const Index triangles = 240, lines = 120, loose = 60, count = 3 * triangles + 2 * lines + loose;
  Matrix3X x(3, count);
  Faces faces(3, triangles);
  Edges segments(2, lines);
  Eigen::VectorXi points(loose);
  std::vector<int> group(std::size_t(count), 0);
  Index next = 0;
  // Primitives that begin at a random place, eight groups of them, and some in none.
  const auto add = [&](int corners) {
    const Vector3 at(unit(random), unit(random), unit(random));
    const int of = int(unit(random) * 10) - 2;
    for (int k = 0; k < corners; ++k) {
      group[std::size_t(next)] = of;
      // A point is at a corner of a triangle, so that some touch.
      x.col(next++) = corners == 1 ? Vector3(x.col(Index(unit(random) * 3 * triangles)))
                                   : at + 0.25 * Vector3(unit(random), unit(random), unit(random));
    }
    return int(next) - corners;
  };
  for (Index t = 0; t < triangles; ++t) faces.col(t).setConstant(add(3)) += Eigen::Vector3i(0, 1, 2);
  for (Index l = 0; l < lines; ++l) segments.col(l).setConstant(add(2)) += Eigen::Vector2i(0, 1);
  for (Index p = 0; p < loose; ++p) points[p] = add(1);
  const Surface s = surface(count, faces, segments, points);
  const auto apart = [&](Index i, Index j) {
    return group[std::size_t(i)] < 0 || group[std::size_t(i)] != group[std::size_t(j)];
  };
  const auto all = find_intersections(x, s, any_pair), expected = find_intersections(x, s, apart);
  EXPECT_LT(expected.size(), all.size());
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(find_intersections(x, s, any_pair, std::size_t(-1), group), expected);
}

TEST(FindIntersections, IdenticalDuplicatesIntersect) {
  Matrix3X x(3, 6);
  x << 0, 1, 0, 0, 1, 0,  //
      0, 0, 1, 0, 0, 1,   //
      0, 0, 0, 0, 0, 0;
  Faces faces(3, 2);
  faces << 0, 3, 1, 4, 2, 5;
  EXPECT_EQ(find_intersections(x, surface(6, faces, {}, {}), any_pair).size(), 6u);
}

TEST(FindIntersections, RejectsBadIndicesAndCoordinates) {
  Matrix3X x = Matrix3X::Random(3, 3);
  Faces faces(3, 1);
  faces << 0, 1, 3;
  EXPECT_THROW(surface(3, faces, {}, {}), InputError);
  faces << 0, 1, -1;
  EXPECT_THROW(surface(3, faces, {}, {}), InputError);
  faces << 0, 1, 2;
  Edges segments(2, 1);
  segments << 0, 7;
  EXPECT_THROW(surface(3, faces, segments, {}), InputError);
  x(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(find_intersections(x, surface(3, faces, {}, {}), any_pair), InputError);
}

/// A closed wavy tube surface with many triangles.
Soup wavy_torus(int around, int across) {
  Soup soup;
  soup.points.resize(3, around * across);
  soup.faces.resize(3, 2 * around * across);
  Index f = 0;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const double u = 2 * M_PI * i / around, v = 2 * M_PI * j / across;
      const double r = 0.3 + 0.02 * std::sin(9 * u) * std::cos(5 * v);
      soup.points.col(i * across + j) << (1 + r * std::cos(v)) * std::cos(u), r * std::sin(v),
          (1 + r * std::cos(v)) * std::sin(u);
      auto id = [&](int a, int b) { return (a % around) * across + b % across; };
      soup.faces.col(f++) << id(i, j), id(i, j + 1), id(i + 1, j + 1);
      soup.faces.col(f++) << id(i, j), id(i + 1, j + 1), id(i + 1, j);
    }
  return soup;
}

TEST(FindIntersections, HandlesAHundredThousandTrianglesQuicklyAndFindsTheOnePlantedBit) {
  Soup soup = wavy_torus(320, 160);
  const Surface s = surface(Index(soup.points.cols()), soup.faces, {}, {});
  const double start = process_cpu_seconds();
  EXPECT_TRUE(find_intersections(soup.points, s, any_pair).empty());
  const double seconds = process_cpu_seconds() - start;
  RecordProperty("milliseconds", int(1000 * seconds));
  EXPECT_LT(seconds, 20);  // about 1 s in a release build; sanitizers and busy machines take longer
  // Push one vertex through the triangle on the other side of the tube by the smallest amount.
  const Index moved = 5, target = soup.faces(0, 200), b = soup.faces(1, 200), c = soup.faces(2, 200);
  soup.points.col(moved) =
      0.25 * soup.points.col(target) + 0.25 * soup.points.col(b) + 0.5 * soup.points.col(c);
  const auto hits = find_intersections(soup.points, s, any_pair);
  EXPECT_FALSE(hits.empty());
  set_thread_count(2);
  EXPECT_EQ(find_intersections(soup.points, s, any_pair), hits);
  set_thread_count(1);
}

TEST(ForEachCandidate, HandsOverEachOverlappingPairOnce) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> coordinate(0, 1);
  constexpr int n = 400;
  std::vector<Box> boxes(2 * n);
  for (auto& box : boxes) {
    const Vector3 lower(coordinate(random), coordinate(random), coordinate(random));
    box = {lower, lower + 0.2 * Vector3(coordinate(random), coordinate(random), coordinate(random))};
  }
  std::vector<Primitive> a, b;
  for (Index i = 0; i < n; ++i) {
    a.push_back({{i, -1, -1}});
    b.push_back({{n + i, -1, -1}});
  }
  std::multiset<std::pair<Index, Index>> found;
  auto collect = [&](std::span<const PrimitivePair> batch) {
    for (const auto& pair : batch) found.insert(std::minmax(pair.a.vertices[0], pair.b.vertices[0]));
  };
  auto expect = [&](auto&& in) {
    std::multiset<std::pair<Index, Index>> expected;
    for (Index i = 0; i < 2 * n; ++i)
      for (Index j = i + 1; j < 2 * n; ++j)
        if (in(i, j) && boxes[i].overlaps(boxes[j])) expected.insert({i, j});
    EXPECT_EQ(found, expected);
    EXPECT_GT(expected.size(), 100u);
    found.clear();
  };
  for_each_candidate(a, b, {boxes, any_pair}, collect);
  expect([](Index i, Index j) { return i < n && j >= n; });
  for_each_candidate(a, a, {boxes, any_pair}, collect);
  expect([](Index i, Index j) { return i < n && j < n; });
}

// ---- Neighbours
// ------------------------------------------------------------------------------------------------

/// Small integers, so that half-way points and sums are exact.
class Lattice {
 public:
  explicit Lattice(int seed) : random_(seed) {}
  Vector3 point(int range) {
    std::uniform_int_distribution<int> integer(-range, range);
    return {double(integer(random_)), double(integer(random_)), double(integer(random_))};
  }

 private:
  std::mt19937 random_;
};

TEST(Neighbours, TrianglesOverlapIfAPlaceBesideTheirEdgeIsInBoth) {
  Lattice lattice(1);
  int overlaps = 0, flat = 0;
  for (int i = 0; i < 20000; ++i) {
    // Often in one plane.
    const Vector3 a = lattice.point(3), b = lattice.point(3), c = lattice.point(3);
    const Vector3 s = lattice.point(2);
    const Vector3 d = i % 2 == 0 ? lattice.point(3) : Vector3(a + s.x() * (b - a) + s.y() * (c - a));
    if (triangle_is_collapsed(a, b, c) || triangle_is_collapsed(a, b, d)) continue;
    // Close enough to the edge to be in a triangle on the same side: its angles are not that small.
    const Vector3 middle = 0.5 * (a + b), beside = middle + (c - middle) / 4096;
    const bool expected = point_on_triangle(beside, a, b, d);
    EXPECT_EQ(folded_triangles_overlap(a, b, c, d), expected) << i;
    EXPECT_EQ(folded_triangles_overlap(b, a, d, c), expected) << i;
    overlaps += expected;
    flat += orientation(a, b, c, d) == 0;
  }
  EXPECT_GT(overlaps, 1000);
  EXPECT_GT(flat, overlaps + 1000) << "flat ones that do not overlap are among them";
  const Vector3 a(0, 0, 0), b(1, 0, 0), c(0.3, 1, 0);
  EXPECT_FALSE(folded_triangles_overlap(a, b, c, Vector3(0.3, 1, 1e-300))) << "by a hair";
  EXPECT_TRUE(folded_triangles_overlap(a, b, c, c)) << "coincident";
}

TEST(Neighbours, EdgesOverlapIfTheHalfOfOneIsOnTheOther) {
  Lattice lattice(2);
  int overlaps = 0;
  for (int i = 0; i < 20000; ++i) {
    const Vector3 v = lattice.point(4), a = lattice.point(4);
    const Vector3 b = i % 2 == 0 ? lattice.point(4) : Vector3(v + lattice.point(2).x() * (a - v));
    if (v == a || v == b) continue;
    bool expected = false;
    for (const double part : {1.0, 0.0625}) expected |= point_on_edge(v + part * (b - v), v, a);
    EXPECT_EQ(folded_edges_overlap(v, a, b), expected) << i;
    EXPECT_EQ(folded_edges_overlap(v, b, a), expected) << i;
    overlaps += expected;
  }
  EXPECT_GT(overlaps, 1000);
}

TEST(Neighbours, AnEdgeEntersATriangleIfPartOfItIsThere) {
  Lattice lattice(3);
  int entered = 0;
  for (int i = 0; i < 20000; ++i) {
    const Vector3 v = lattice.point(3), a = lattice.point(3), b = lattice.point(3), s = lattice.point(2);
    const Vector3 p = i % 2 == 0 ? lattice.point(3) : Vector3(v + s.x() * (a - v) + s.y() * (b - v));
    if (triangle_is_collapsed(v, a, b) || p == v) continue;
    const bool expected = point_on_triangle(v + (p - v) / 4096, v, a, b);
    EXPECT_EQ(edge_enters_triangle(v, p, a, b), expected) << i;
    entered += expected;
  }
  EXPECT_GT(entered, 1000);
}

TEST(Neighbours, CollapsedIsExact) {
  EXPECT_TRUE(triangle_is_collapsed({0, 0, 0}, {1, 1, 1}, {3, 3, 3}));
  EXPECT_TRUE(triangle_is_collapsed({0, 0, 0}, {1, 1, 1}, {1, 1, 1}));
  EXPECT_FALSE(triangle_is_collapsed({0, 0, 0}, {1, 1, 1}, {3, 3, std::nextafter(3.0, 4.0)}));
}

TEST(SeparatedBy, IsExactAtTheGap) {
  const Vector3 o = Vector3::Zero();
  const auto rests = [](const Vector3& x) { return Path{x, x}; };
  // 3, 4, 5: the distance along the direction (3, 4, 0) is 5 exactly.
  EXPECT_TRUE(separated_by({3, 4, 0}, rests({3, 4, 7}), rests(o), 0.3, 5));
  EXPECT_FALSE(separated_by({3, 4, 0}, rests({3, 4, 7}), rests(o), 0.3, std::nextafter(5.0, 6.0)));
  EXPECT_FALSE(separated_by({-3, -4, 0}, rests({3, 4, 7}), rests(o), 0.3, 5)) << "from the other side";
  const Path moving{{3, 4, 0}, {9, 12, 0}};
  EXPECT_TRUE(separated_by({3, 4, 0}, moving, rests(o), 0.5, 10));
  EXPECT_FALSE(separated_by({3, 4, 0}, moving, rests(o), 0.5, std::nextafter(10.0, 11.0)));
}

}  // namespace
}  // namespace apart::test
