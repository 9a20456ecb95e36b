#include <apart/collision/contact_weights.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

/// Share of a crossing of two edges where one of the surfaces is smooth.
constexpr double smooth_share = 0.05;
/// No area or width is smaller than this share of the mean of its body: without weight there is no barrier.
constexpr double least_share = 1e-3;

/// Area times normal.
Vector3 triangle_area(const Matrix3X& x, const ContactWeights::TopCell& t) {
  const Vector3 a = x.col(t[1]) - x.col(t[0]), b = x.col(t[2]) - x.col(t[0]);
  return 0.5 * a.cross(b);
}

/// The largest area that triangles show in the direction of one of them. What touches at a sharp edge touches
/// one side of it, not both.
double shown_area(const std::vector<Vector3>& areas) {
  double largest = 0;
  for (const Vector3& towards : areas) {
    const double size = towards.norm();
    if (!(size > 0)) continue;
    double shown = 0;
    for (const Vector3& area : areas) shown += std::max(0.0, area.dot(towards) / size);
    largest = std::max(largest, shown);
  }
  return largest;
}

/// Unit vector from an edge to the third corner of a triangle, normal to the edge; zero if there is none.
Vector3 away_from(const Matrix3X& x, const std::array<Index, 2>& edge, const ContactWeights::TopCell& t) {
  Index third = t[0];
  for (const Index v : t)
    if (v != edge[0] && v != edge[1]) third = v;
  const Vector3 along = x.col(edge[1]) - x.col(edge[0]);
  Vector3 to = x.col(third) - x.col(edge[0]);
  if (const double squared = along.squaredNorm(); squared > 0) to -= to.dot(along) / squared * along;
  const double length = to.norm();
  return length > 0 ? Vector3(to / length) : Vector3::Zero();
}

bool contains(const ContactWeights::TopCell& t, Index v) {
  return t[0] == v || t[1] == v || t[2] == v;
}

}  // namespace

ContactWeights::ContactWeights(const SurfaceCells& cells, const std::vector<BodyGrain>& grains) {
  add_stars(cells);
  add_areas(cells, grains);
  add_sharpness(cells);
}

/// Triangles and free segments at each vertex, and the signs.
void ContactWeights::add_stars(const SurfaceCells& cells) {
  const std::size_t vertices = cells.vertex_body.size();
  std::vector<TopCell> tops;
  for (Index f = 0; f < cells.faces.cols(); ++f)
    tops.push_back({cells.faces(0, f), cells.faces(1, f), cells.faces(2, f)});
  std::sort(tops.begin(), tops.end());
  tops.erase(std::unique(tops.begin(), tops.end()), tops.end());  // as broad phases do

  edge_begin_.assign(vertices + 1, 0);
  for (Index e = 0; e < cells.edges.cols(); ++e) {
    edges_.push_back({.vertices = {cells.edges(0, e), cells.edges(1, e)}});
    ++edge_begin_[std::size_t(cells.edges(0, e)) + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) edge_begin_[v + 1] += edge_begin_[v];
  for (EdgeData& e : edges_) e.sign = 1;
  for (const TopCell& t : tops)
    for (int k = 0; k < 3; ++k) {
      EdgeData& e = edges_[std::size_t(find(t[std::size_t(k)], t[std::size_t((k + 1) % 3)]))];
      if (e.owner[0] < 0) e.owner = t;
      --e.sign;
    }
  for (const EdgeData& e : edges_)
    if (e.owner[0] < 0) tops.push_back({e.vertices[0], e.vertices[1], -1});

  star_begin_.assign(vertices + 1, 0);
  vertex_sign_.assign(vertices, 1);
  const auto for_each_corner = [&](auto visit) {
    for (const TopCell& t : tops)
      for (const Index v : t)
        if (v >= 0) visit(std::size_t(v), t);
  };
  for_each_corner([&](std::size_t v, const TopCell& t) {
    ++star_begin_[v + 1];
    vertex_sign_[v] -= t[2] >= 0;
  });
  for (std::size_t v = 0; v < vertices; ++v) star_begin_[v + 1] += star_begin_[v];
  star_.resize(std::size_t(star_begin_.back()));
  std::vector<Index> next(star_begin_.begin(), star_begin_.end() - 1);
  for_each_corner([&](std::size_t v, const TopCell& t) { star_[std::size_t(next[v]++)] = t; });
  for (const EdgeData& e : edges_)
    for (const Index v : e.vertices) vertex_sign_[std::size_t(v)] -= e.sign;
}

void ContactWeights::add_areas(const SurfaceCells& cells, const std::vector<BodyGrain>& grains) {
  const Index vertices = Index(cells.vertex_body.size());
  area_.setZero(vertices);
  std::vector<Vector3> areas;  // of the triangles at a vertex or edge
  for (Index v = 0; v < vertices; ++v) {
    const double diameter = grains[std::size_t(cells.vertex_body[std::size_t(v)])].width;
    areas.clear();
    for (const TopCell& t : star(v)) {
      if (t[2] >= 0)
        areas.push_back(triangle_area(cells.rest, t));
      else
        area_[v] += 0.5 * diameter * (cells.rest.col(t[1]) - cells.rest.col(t[0])).norm();
    }
    area_[v] += shown_area(areas) / 3;
    if (is_isolated(v)) area_[v] = std::numbers::pi / 4 * diameter * diameter;
  }
  for (EdgeData& e : edges_) {
    const double length = (cells.rest.col(e.vertices[1]) - cells.rest.col(e.vertices[0])).norm();
    if (e.owner[0] < 0) {
      e.width = grains[std::size_t(cells.vertex_body[std::size_t(e.vertices[0])])].width;
      continue;
    }
    areas.clear();
    for (const TopCell& t : star(e.vertices[0]))
      if (contains(t, e.vertices[1])) areas.push_back(triangle_area(cells.rest, t));
    e.width = length > 0 ? std::min(length, shown_area(areas) / (3 * length)) : 0;
  }

  const std::size_t bodies = grains.size();
  std::vector<double> area_sum(bodies, 0.0), width_sum(bodies, 0.0), area_count(bodies, 0.0),
      width_count(bodies, 0.0);
  for (Index v = 0; v < vertices; ++v) {
    const auto b = std::size_t(cells.vertex_body[std::size_t(v)]);
    area_sum[b] += area_[v];
    ++area_count[b];
  }
  for (const EdgeData& e : edges_) {
    const auto b = std::size_t(cells.vertex_body[std::size_t(e.vertices[0])]);
    width_sum[b] += e.width;
    ++width_count[b];
  }
  for (Index v = 0; v < vertices; ++v) {
    const auto b = std::size_t(cells.vertex_body[std::size_t(v)]);
    area_[v] = std::max(area_[v], least_share * area_sum[b] / area_count[b]);
  }
  for (std::size_t b = 0; b < bodies; ++b) {
    const double given = grains[b].vertex_area;
    mean_area_.push_back(given > 0 ? given : area_count[b] > 0 ? area_sum[b] / area_count[b] : 0);
  }
  for (EdgeData& e : edges_) {
    const auto b = std::size_t(cells.vertex_body[std::size_t(e.vertices[0])]);
    e.width = std::max(e.width, least_share * width_sum[b] / width_count[b]);
  }
}

void ContactWeights::add_sharpness(const SurfaceCells& cells) {
  for (EdgeData& e : edges_) {
    e.sharpness = 1;
    if (e.sign != -1) continue;  // free, a border, or where more than two triangles meet
    Vector3 sides[2] = {Vector3::Zero(), Vector3::Zero()};
    int n = 0;
    for (const TopCell& t : star(e.vertices[0]))
      if (contains(t, e.vertices[1])) sides[n++] = away_from(cells.rest, e.vertices, t);
    const double cosine = -sides[0].dot(sides[1]);
    if (cosine > 0) e.sharpness = 1 - cosine * cosine;
  }
}

Index ContactWeights::find(Index a, Index b) const {
  const auto [low, high] = std::minmax(a, b);
  Index e = edge_begin_[std::size_t(low)];
  while (edges_[std::size_t(e)].vertices[1] != high) ++e;
  return e;
}

double ContactWeights::of_edges(Index a0, Index a1, Index b0, Index b1) const {
  const EdgeData &a = edges_[std::size_t(find(a0, a1))], &b = edges_[std::size_t(find(b0, b1))];
  const double width = std::min(a.width, b.width);
  return std::max(a.sharpness * b.sharpness, smooth_share) * width * width;
}

}  // namespace apart
