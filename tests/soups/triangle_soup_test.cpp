// Small soups of moving triangles, segments and points: the time that broad and narrow phase together answer
// is compared with a proof in exact arithmetic over all pairs, which shares no code with either.
#include "collision/random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/geometry/exact_intersection.hpp>
#include <apart/verify/path_proof.hpp>

#include <fmt/format.h>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>

namespace apart::test {
namespace {

struct Soup {
  CollisionSurface surface;
  Matrix3X x0, x1;
};

enum Kind { scattered, bullets, on_a_grid, sliding, far_and_scaled, folding, kind_count };
constexpr const char* kind_names[] = {"scattered", "bullets",        "on_a_grid",
                                      "sliding",   "far_and_scaled", "folding"};

Soup make_soup(Kind kind, Random& random) {
  std::vector<Vector3> x;
  std::vector<Eigen::Vector3i> faces;
  std::vector<Eigen::Vector2i> segments;
  const double size = random.uniform(0.2, 0.8);
  const auto vertex = [&](const Vector3& at) {
    x.push_back(at);
    return int(x.size()) - 1;
  };
  if (kind == folding) {
    // A strip of triangles that share vertices.
    for (int i = 0; i < 7; ++i)
      vertex({0.3 * (i / 2), i % 2 + 0.2 * random.uniform(-1, 1), 0.2 * random.uniform(-1, 1)});
    for (int i = 0; i + 2 < 7; ++i) faces.push_back({i, i + 1, i + 2});
  } else if (kind == sliding) {
    // Two triangles face to face, with a point between a third and them.
    const double gap = random.exponential(1e-7, 1e-2);
    for (int t = 0; t < 2; ++t) {
      const int first = int(x.size());
      for (int k = 0; k < 3; ++k) vertex({random.uniform(-1, 1), random.uniform(-1, 1), t * gap});
      faces.push_back({first, first + 1, first + 2});
    }
    vertex({random.uniform(-1, 1), random.uniform(-1, 1), 2 * gap});
  } else {
    const int triangles = 3 + random.below(2);
    for (int t = 0; t < triangles; ++t) {
      const Vector3 centre = random.vector();
      const int first = int(x.size());
      for (int k = 0; k < 3; ++k) vertex(centre + size * random.vector());
      faces.push_back({first, first + 1, first + 2});
    }
    const Vector3 centre = random.vector();
    const int first = vertex(centre + size * random.vector());
    segments.push_back({first, vertex(centre + size * random.vector())});
    vertex(random.vector());
  }

  const Index n = Index(x.size());
  Matrix3X x0(3, n), x1(3, n);
  for (Index v = 0; v < n; ++v) x0.col(v) = x[v];
  const double way = kind == bullets ? random.exponential(1, 10) : random.exponential(0.05, 2);
  const double own = kind == bullets ? 0.05 : 1;
  Vector3 common = Vector3::Zero();  // to the vertices of a triangle
  for (Index v = 0; v < n; ++v) {
    if (v % 3 == 0) common = random.vector();
    Vector3 move = way * ((1 - own) * common + own * random.vector());
    if (kind == sliding)
      move = Vector3(move.x(), move.y(), random.exponential(1e-9, 1e-3) * random.uniform(-1, 1));
    x1.col(v) = x0.col(v) + move;
  }
  if (kind == on_a_grid) {
    // Parallel edges, points in planes, meetings at times like 1/2: whatever is unlikely elsewhere.
    const auto round = [](double c) { return std::round(4 * c) / 4; };
    x0 = x0.unaryExpr(round);
    x1 = x1.unaryExpr(round);
  }
  if (kind == far_and_scaled) {
    const double scale = random.exponential(1e-6, 1e6);
    const Vector3 offset = (random.below(2) ? 1e3 : 0) * random.vector();
    x0 = scale * (x0.colwise() + offset);
    x1 = scale * (x1.colwise() + offset);
  }

  Faces f(3, faces.size());
  for (std::size_t i = 0; i < faces.size(); ++i) f.col(Index(i)) = faces[i];
  Edges e(2, segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) e.col(Index(i)) = segments[i];
  const double extent = (x0.rowwise().maxCoeff() - x0.rowwise().minCoeff()).norm();
  return {{x0, f, e, std::vector<int>(n, 0), PairTable(1, {.dhat = 0.02 * extent}), {}}, x0, x1};
}

/// Whether the soup starts apart, exactly.
bool starts_apart(const Soup& soup) {
  const CollisionSurface& s = soup.surface;
  Edges segments(2, s.free_edges.size());
  for (std::size_t i = 0; i < s.free_edges.size(); ++i) segments.col(Index(i)) = s.edges.col(s.free_edges[i]);
  Eigen::VectorXi points(s.isolated_vertices.size());
  for (std::size_t i = 0; i < s.isolated_vertices.size(); ++i) points[Index(i)] = s.isolated_vertices[i];
  const exact::Surface surface = exact::surface(s.vertex_count(), s.faces, segments, points);
  for (auto face : s.faces.colwise()) {
    const Vector3 a = soup.x0.col(face[0]), b = soup.x0.col(face[1]), c = soup.x0.col(face[2]);
    if ((b - a).cross(c - a).isZero(0)) return false;  // a triangle without area: nothing to collide with
  }
  return exact::find_intersections(
             soup.x0, surface, [](Index, Index) { return true; }, 1)
      .empty();
}

/// The time up to which all pairs are proven apart; `end` if throughout.
double proven_until(const Soup& soup, double end) {
  double proven = end;
  for (const Stencil& s : all_pairs(soup.surface)) {
    std::vector<exact::Path> a, b;
    exact::Box box_a, box_b;
    for (int i = 0; i < s.size(); ++i) {
      const Index v = s.vertices[i];
      const bool first = i < first_count(s.kind);
      auto& side = first ? a : b;
      exact::Box& box = first ? box_a : box_b;
      const Vector3 from = soup.x0.col(v), to = soup.x1.col(v);
      if (side.empty()) box = {from, from};
      box.lower = box.lower.cwiseMin(from).cwiseMin(to);
      box.upper = box.upper.cwiseMax(from).cwiseMax(to);
      side.push_back({from, to});
    }
    if (!box_a.overlaps(box_b)) continue;
    proven = std::min(proven, verify::proven_apart_until(a, b, 0, proven));
  }
  return proven;
}

/// Made-up answers that are too late by this share must be caught.
constexpr double late = 0.01;

void check_soups(unsigned seed, int count) {
  struct Tally {
    int soups = 0, bounded = 0, caught = 0, unproven = 0;
  };
  std::array<Tally, kind_count> tallies;
  const auto methods = broad_phase_methods();
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const Kind kind = Kind(i % kind_count);
    Soup soup = make_soup(kind, random);
    while (!starts_apart(soup)) soup = make_soup(kind, random);
    const Matrix3X p = soup.x1 - soup.x0;
    double latest = 0;
    std::size_t combination = 0;
    for (const CcdMethod method : {CcdMethod::additive, CcdMethod::tight_inclusion})
      for (const double gap_fraction : {0.0, 0.2}) {
        // Every broad phase is combined with every method of narrow phase, in turn.
        const auto& search = methods[(std::size_t(i / kind_count) + combination++) % methods.size()];
        CandidateCache cache(search.make(soup.surface), soup.surface.pairs.max_reach());
        const double time = collision_free_step(soup.surface, cache, {soup.x0, p},
                                                {.method = method, .gap_fraction = gap_fraction})
                                .alpha;
        EXPECT_GT(time, 0) << kind_names[kind] << " soup " << i << ": it starts apart";
        EXPECT_LE(time, 1);
        latest = std::max(latest, time);
      }
    Tally& tally = tallies[kind];
    ++tally.soups;
    // The proof of the latest answer serves the earlier ones. Without a gap to be left, primitives may be a
    // rounding apart at the answer itself, which no proof can see; just before it, it must. An answer that
    // the whole path is free is proven to the end.
    const double end = latest < 1 ? latest * (1 - 1e-6) : 1;
    if (const double proven = proven_until(soup, end); proven < end) {
      ++tally.unproven;
      // What is not proven may be a pair too close for the proof, but only where something is about to touch.
      EXPECT_GT(proven, end * (1 - 1e-4)) << kind_names[kind] << " soup " << i << ": answer " << latest;
    }
    if (latest * (1 + late) < 1) {
      ++tally.bounded;
      tally.caught += proven_until(soup, latest * (1 + late)) < latest * (1 + late);
    }
  }
  for (int k = 0; k < kind_count; ++k) {
    const Tally& tally = tallies[k];
    const std::string text = fmt::format("{} soups, {} bounded, {} caught if later, {} not proven",
                                         tally.soups, tally.bounded, tally.caught, tally.unproven);
    ::testing::Test::RecordProperty(kind_names[k], text);
    SCOPED_TRACE(kind_names[k] + (": " + text));
    EXPECT_GT(tally.bounded, tally.soups / 10) << "the soups are too thin";
    EXPECT_GT(tally.caught, 0.9 * tally.bounded) << "the check is blunt";
    EXPECT_LE(tally.unproven, tally.soups / 1000) << "the proof gives up too often";
  }
}

TEST(TriangleSoups, NothingTouchesBeforeTheTimeThatIsAnswered) {
  check_soups(1, 5'000);
}

TEST(TriangleSoups, NothingTouchesBeforeTheTimeThatIsAnsweredSlow) {
  check_soups(2, 100'000);
}

}  // namespace
}  // namespace apart::test
