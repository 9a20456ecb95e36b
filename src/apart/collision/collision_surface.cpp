#include <apart/collision/collision_surface.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace apart {

namespace {

void check(const PairSettings& s) {
  const auto rule = [](const char* name, double value, bool ok, const char* must) {
    if (!ok || !std::isfinite(value))
      throw InputError("contact settings: {}: got {}, must be {}", name, value, must);
  };
  rule("dhat", s.dhat, s.dhat > 0, "positive and finite (about 1e-3 of the scene's size is usual)");
  rule("thickness", s.thickness, s.thickness >= 0, "non-negative and finite (0: no thickness)");
  rule("epsv", s.epsv, s.epsv > 0, "positive and finite (about 1e-3 of a body's size per second is usual)");
  rule("friction", s.friction, s.friction >= 0, "non-negative and finite (0: no friction)");
  if (s.kinetic_friction)
    rule("kinetic friction", *s.kinetic_friction,
         *s.kinetic_friction >= 0 && *s.kinetic_friction <= s.friction,
         "non-negative and not above the friction of sticking");
}

/// Every column of `cells` has distinct vertices in range, all of one body.
template <class Cells>
void check(const Cells& cells, const char* name, const std::vector<int>& body) {
  for (Index c = 0; c < cells.cols(); ++c)
    for (int k = 0; k < cells.rows(); ++k) {
      const int v = cells(k, c), first = cells(0, c);
      if (v < 0 || v >= Index(body.size()))
        throw InputError("collision surface: {} {}: vertex {} does not exist, indices must be below {}", name,
                         c, v, body.size());
      if (body[v] != body[first])
        throw InputError(
            "collision surface: {} {}: vertices {} and {} belong to bodies {} and {}, must be one body", name,
            c, first, v, body[first], body[v]);
      for (int j = 0; j < k; ++j)
        if (cells(j, c) == v)
          throw InputError("collision surface: {} {} has vertex {} twice; remove this degenerate cell", name,
                           c, v);
    }
}

}  // namespace

PairTable::PairTable(int body_count, const PairSettings& everywhere)
    : count_(body_count), settings_(std::size_t(body_count) * body_count, everywhere) {
  check(everywhere);
}

void PairTable::set(int a, int b, const PairSettings& settings) {
  if (std::min(a, b) < 0 || std::max(a, b) >= count_)
    throw InputError("contact settings: bodies {} and {}, indices must lie in [0, {})", a, b, count_);
  check(settings);
  settings_[std::size_t(a) * count_ + b] = settings;
  settings_[std::size_t(b) * count_ + a] = settings;
}

namespace {

/// Forces are κ 2d |∂b/∂s|, with s of the order of ŝ = (2ξ + d̂) d̂ and d of ξ + d̂.
double force_scale(const PairSettings& s) {
  return s.stiffness_scale * (2 * s.thickness + s.dhat) * s.dhat * (s.thickness + s.dhat);
}

}  // namespace

double PairTable::force_per_stiffness() const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const PairSettings& s : settings_)
    if (s.enabled) smallest = std::min(smallest, force_scale(s));
  return std::isfinite(smallest) ? smallest : 1;
}

void PairTable::equalise_stiffness() {
  for (PairSettings& s : settings_) s.stiffness_scale = 1;
  const double smallest = force_per_stiffness();
  for (PairSettings& s : settings_)
    if (s.enabled) s.stiffness_scale = smallest / force_scale(s);
}

double PairTable::max_reach() const {
  double reach = 0;
  for (const PairSettings& s : settings_)
    if (s.enabled) reach = std::max(reach, s.thickness + s.dhat);
  return reach;
}

std::vector<double> PairTable::half_thickness() const {
  std::vector<double> half(std::size_t(count_), 0.0);
  for (int b = 0; b < count_; ++b) half[std::size_t(b)] = 0.5 * (*this)(b, b).thickness;
  for (int a = 0; a < count_; ++a)
    for (int b = a; b < count_; ++b) {
      const PairSettings& s = (*this)(a, b);
      double &x = half[std::size_t(a)], &y = half[std::size_t(b)];
      if (!s.enabled || x + y >= s.thickness) continue;
      const double missing = 0.5 * (s.thickness - (x + y)) * (1 + 1e-12);
      x += missing;
      if (a != b) y += missing;
    }
  return half;
}

double PairTable::max_dhat() const {
  double dhat = 0;
  for (const PairSettings& s : settings_)
    if (s.enabled) dhat = std::max(dhat, s.dhat);
  return dhat;
}

double PairTable::min_dhat() const {
  double dhat = std::numeric_limits<double>::infinity();
  for (const PairSettings& s : settings_)
    if (s.enabled) dhat = std::min(dhat, s.dhat);
  return dhat;
}

CollisionSurface::CollisionSurface(Matrix3X rest_positions, Faces surface_faces, Edges free_segments,
                                   std::vector<int> body_of_vertex, PairTable pair_table,
                                   std::vector<HalfSpace> planes)
    : rest(std::move(rest_positions)),
      faces(std::move(surface_faces)),
      vertex_body(std::move(body_of_vertex)),
      pairs(std::move(pair_table)),
      half_spaces(std::move(planes)) {
  if (Index(vertex_body.size()) != vertex_count())
    throw InputError("collision surface: {} vertices but {} body indices, must be as many", vertex_count(),
                     vertex_body.size());
  for (Index v = 0; v < vertex_count(); ++v) {
    if (vertex_body[v] < 0 || vertex_body[v] >= pairs.body_count())
      throw InputError("collision surface: vertex {} is of body {}, must lie in [0, {})", v, vertex_body[v],
                       pairs.body_count());
    if (!rest.col(v).allFinite())
      throw InputError("collision surface: vertex {} is at ({}, {}, {}), must be finite", v, rest(0, v),
                       rest(1, v), rest(2, v));
  }
  check(faces, "triangle", vertex_body);
  check(free_segments, "segment", vertex_body);
  for (std::size_t i = 0; i < half_spaces.size(); ++i) {
    const HalfSpace& plane = half_spaces[i];
    if (!plane.origin.allFinite() || !(std::abs(plane.normal.norm() - 1) < 1e-9))
      throw InputError("half-space {}: normal ({}, {}, {}) must have unit length and the origin be finite", i,
                       plane.normal.x(), plane.normal.y(), plane.normal.z());
    if (plane.body < 0 || plane.body >= pairs.body_count())
      throw InputError("half-space {} is of body {}, must lie in [0, {})", i, plane.body, pairs.body_count());
    if (plane.carrier >= vertex_count() || (plane.carrier >= 0 && vertex_body[plane.carrier] != plane.body))
      throw InputError("half-space {} is carried by vertex {}, must be a vertex of its own body {}", i,
                       plane.carrier, plane.body);
  }

  // Edges of triangles first, so that a segment that repeats one of them is not taken for a free one.
  using Edge = std::array<int, 2>;
  const Edges face_edges = edges_of(faces);
  std::vector<std::pair<Edge, bool>> all;  // with 'free'
  all.reserve(face_edges.cols() + free_segments.cols());
  for (Index e = 0; e < face_edges.cols(); ++e) all.push_back({{face_edges(0, e), face_edges(1, e)}, false});
  for (Index e = 0; e < free_segments.cols(); ++e)
    all.push_back({{free_segments.col(e).minCoeff(), free_segments.col(e).maxCoeff()}, true});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end(), [](auto& a, auto& b) { return a.first == b.first; }),
            all.end());

  edges.resize(2, Index(all.size()));
  std::vector<char> on_edge(vertex_body.size(), 0);
  for (Index e = 0; e < edges.cols(); ++e) {
    for (int k = 0; k < 2; ++k) on_edge[edges(k, e) = all[e].first[k]] = 1;
    if (all[e].second) free_edges.push_back(e);
  }
  for (const HalfSpace& plane : half_spaces)
    if (plane.carrier >= 0) on_edge[plane.carrier] = 1;  // touches nothing itself
  for (Index v = 0; v < vertex_count(); ++v)
    if (!on_edge[v]) isolated_vertices.push_back(v);
  vertex_piece = connected_pieces(vertex_count(), {edges});
  const std::vector<double> half = pairs.half_thickness();
  if (std::any_of(half.begin(), half.end(), [](double h) { return h > 0; }))
    for (const int body : vertex_body) vertex_extent.push_back(half[std::size_t(body)]);
}

}  // namespace apart
