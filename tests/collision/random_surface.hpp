#pragma once
// Random surfaces with everything a surface may contain, and the pairs on them by definition.
#include <apart/collision/stencil.hpp>
#include <support/random.hpp>

#include <Eigen/Geometry>
#include <vector>

namespace apart::test {

/// Pair settings of the bodies of `random_surface`: different reaches, and some pairs switched off.
inline PairTable random_pairs(int bodies, double dhat, Random& random) {
  PairTable pairs(bodies, {.dhat = dhat});
  for (int a = 0; a < bodies; ++a)
    for (int b = a; b < bodies; ++b)
      pairs.set(a, b,
                {.enabled = random.below(5) != 0,
                 .dhat = dhat * random.uniform(0.3, 1),
                 .thickness = random.below(2) ? 0 : 0.5 * dhat * random.uniform(0, 1)});
  return pairs;
}

/// Patches of a few connected triangles, chains of segments and single points, of several bodies, in the unit
/// cube.
inline CollisionSurface random_surface(int patches, double size, double dhat, Random& random) {
  const int bodies = 4;
  std::vector<Vector3> x;
  std::vector<Eigen::Vector3i> faces;
  std::vector<Eigen::Vector2i> segments;
  std::vector<int> body;
  const auto vertex = [&](const Vector3& at, int of) {
    x.push_back(at);
    body.push_back(of);
    return int(x.size()) - 1;
  };
  for (int p = 0; p < patches; ++p) {
    const Vector3 centre = random.vector();
    const int of = random.below(bodies);
    const auto near = [&] { return vertex(centre + size * random.vector(), of); };
    switch (p % 3) {
      case 0: {  // a fan
        const int hub = near();
        int last = near();
        for (int k = 0; k < 4; ++k) {
          const int next = near();
          faces.push_back({hub, last, next});
          last = next;
        }
        break;
      }
      case 1: {  // a chain
        int last = near();
        for (int k = 0; k < 3; ++k) {
          const int next = near();
          segments.push_back({last, next});
          last = next;
        }
        break;
      }
      default:
        for (int k = 0; k < 3; ++k) near();
    }
  }
  Matrix3X rest(3, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) rest.col(Index(i)) = x[i];
  Faces f(3, faces.size());
  for (std::size_t i = 0; i < faces.size(); ++i) f.col(Index(i)) = faces[i];
  Edges e(2, segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) e.col(Index(i)) = segments[i];
  return {rest, f, e, body, random_pairs(bodies, dhat, random), {}};
}

/// Two rectangular sheets of n × n vertices and unit size, one above the other, with vertical noise.
inline CollisionSurface two_sheets(int n, double apart, double noise, double turn,
                                   const PairSettings& settings, Random& random) {
  Matrix3X x(3, 2 * n * n);
  Faces faces(3, 4 * (n - 1) * (n - 1));
  std::vector<int> body(2 * n * n);
  Index f = 0;
  for (int sheet = 0; sheet < 2; ++sheet)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int v = (sheet * n + i) * n + j;
        const Vector3 flat(i / double(n - 1) - 0.5, j / double(n - 1) - 0.5,
                           sheet * apart + noise * random.uniform(-1, 1));
        x.col(v) = Eigen::AngleAxisd(sheet * turn, Vector3::UnitZ()) * flat;
        body[v] = sheet;
        if (i + 1 == n || j + 1 == n) continue;
        faces.col(f++) << v, v + n, v + n + 1;
        faces.col(f++) << v, v + n + 1, v + 1;
      }
  return {x, faces, Edges(2, 0), body, PairTable(2, settings), {}};
}

/// All vertices go the same way, each besides a `scatter` of that its own.
inline Matrix3X random_motion(Index vertices, double size, double scatter, Random& random) {
  Matrix3X p(3, vertices);
  const Vector3 common = size * random.vector();
  for (Index v = 0; v < vertices; ++v) p.col(v) = common + scatter * size * random.vector();
  return p;
}

inline double distance(const Stencil& s, const Matrix3X& x) {
  return std::sqrt(squared_distance(s.kind, s.gather(x)));
}

/// Thickness and dhat of a pair by definition: those of the bodies, but for neighbours in one connected piece
/// that has a thickness.
inline ContactRange range_of(const CollisionSurface& surface, const Stencil& s) {
  const Index a = s.vertices[0], b = s.vertices[first_count(s.kind)];
  const PairSettings& settings = surface.settings(a, b);
  std::vector<bool> reached(surface.vertex_count(), false);
  reached[a] = true;
  for (bool more = true; more;) {
    more = false;
    for (auto edge : surface.edges.colwise())
      if (reached[edge[0]] != reached[edge[1]]) more = reached[edge[0]] = reached[edge[1]] = true;
  }
  const double reach = settings.thickness + settings.dhat;
  const double made = std::sqrt(squared_distance(s.kind, s.gather(surface.rest)));
  if (!reached[b] || settings.thickness == 0 || made >= reach) return {settings.thickness, settings.dhat};
  return {settings.thickness * made / (2 * reach), settings.dhat * made / (2 * reach), true};
}

/// Every pair that contact is defined for, however far apart, in canonical order.
inline Candidates all_pairs(const CollisionSurface& surface) {
  Candidates all;
  const auto add = [&](const Stencil& s) {
    for (int i = 0; i < first_count(s.kind); ++i)
      for (int j = first_count(s.kind); j < s.size(); ++j)
        if (s.vertices[i] == s.vertices[j]) return;
    if (surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]).enabled) all.push_back(s);
  };
  std::vector<bool> on_edge(surface.vertex_count());
  for (Index e = 0; e < surface.edges.cols(); ++e)
    on_edge[surface.edges(0, e)] = on_edge[surface.edges(1, e)] = true;
  const auto on_face = [&](Index e) {
    for (auto face : surface.faces.colwise())
      if ((face.array() == surface.edges(0, e)).any() && (face.array() == surface.edges(1, e)).any())
        return true;
    return false;
  };
  for (Index v = 0; v < surface.vertex_count(); ++v) {
    if (!on_edge[v]) {
      for (Index w = v + 1; w < surface.vertex_count(); ++w)
        if (!on_edge[w]) add({PairKind::point_point, {v, w, -1, -1}});
    }
    for (Index e = 0; e < surface.edges.cols(); ++e)
      if (!on_face(e)) add({PairKind::point_edge, {v, surface.edges(0, e), surface.edges(1, e), -1}});
    for (auto face : surface.faces.colwise()) add({PairKind::point_triangle, {v, face[0], face[1], face[2]}});
  }
  const Edges& e = surface.edges;
  for (Index a = 0; a < e.cols(); ++a)
    for (Index b = a + 1; b < e.cols(); ++b) add({PairKind::edge_edge, {e(0, a), e(1, a), e(0, b), e(1, b)}});
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace apart::test
