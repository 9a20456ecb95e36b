#include <apart/collision/near_primitives.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

// In bodies without contact with themselves; and in the mean of all bodies.
constexpr std::size_t worthwhile_vertices = 1000, worthwhile_mean = 8;
// A body among more others is compared with boxes around several of them.
constexpr std::size_t most_partners = 16;
// Relative, of sums of a few numbers in single precision.
constexpr float box_rounding = 1e-6f;
// Squares of smaller numbers are lost; those of too large ones are infinite, and tell nothing apart.
constexpr float smallest = 1e-18f;

constexpr float unbounded = std::numeric_limits<float>::infinity();
constexpr FloatBox empty_box{{unbounded, unbounded, unbounded, 0}, {-unbounded, -unbounded, -unbounded, 0}};

}  // namespace

NearPrimitives::NearPrimitives(const CollisionSurface& surface)
    : vertex_body_(surface.vertex_body), is_carrier_(surface.vertex_body.size()), pairs_(surface.pairs) {
  for (const HalfSpace& plane : surface.half_spaces)
    if (plane.carrier >= 0) is_carrier_[std::size_t(plane.carrier)] = 1;
  const auto bodies = std::size_t(pairs_.body_count());
  for (std::size_t b = 0; b < bodies; ++b) meets_itself_.push_back(pairs_(int(b), int(b)).enabled);
  const auto count = std::size_t(std::count_if(vertex_body_.begin(), vertex_body_.end(),
                                               [&](int body) { return !meets_itself_[std::size_t(body)]; }));
  worth_it_ = count >= worthwhile_vertices && vertex_body_.size() >= worthwhile_mean * bodies;
}

bool NearPrimitives::misses_ball(const MovingBox& box, const Hull& ball) {
  // Apart along the direction from the one to the other at the start, at both ends.
  std::array<float, 3> n;
  float length = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    n[k] = 0.5f * (box.start.lower[k] + box.start.upper[k]) - ball.centre[0][k];
    length += n[k] * n[k];
  }
  length = std::sqrt(length);
  if (!(length > 1e3f * smallest)) return false;
  for (std::size_t e = 0; e < 2; ++e) {
    const FloatBox& at = e == 0 ? box.start : box.end;
    float nearest = 0, size = 0;  // times length
    for (std::size_t k = 0; k < 3; ++k) {
      const float corner = (n[k] > 0 ? at.lower[k] : at.upper[k]) - ball.centre[e][k];
      nearest += n[k] * corner;
      size += std::abs(n[k] * corner);
    }
    if (!(nearest - box_rounding * size > length * ball.radius[e])) return false;
  }
  return true;
}

void NearPrimitives::find_hulls(std::span<const FloatBox> start, std::span<const FloatBox> end) {
  body_.assign(meets_itself_.size(), {{empty_box, empty_box}});
  const auto for_each = [&](const auto& visit) {
    for (std::size_t v = 0; v < start.size(); ++v)
      if (!is_carrier_[v])
        visit(body_[std::size_t(vertex_body_[v])], start[v], end.empty() ? start[v] : end[v]);
  };
  for_each([](Hull& hull, const FloatBox& begin, const FloatBox& then) {
    hull.box = {merge(hull.box.start, begin), merge(hull.box.end, then)};
  });
  for (Hull& hull : body_)
    for (std::size_t k = 0; k < 3; ++k) {
      hull.centre[0][k] = 0.5f * (hull.box.start.lower[k] + hull.box.start.upper[k]);
      hull.centre[1][k] = 0.5f * (hull.box.end.lower[k] + hull.box.end.upper[k]);
    }
  for_each([](Hull& hull, const FloatBox& begin, const FloatBox& then) {
    for (std::size_t e = 0; e < 2; ++e) {
      const FloatBox& box = e == 0 ? begin : then;
      float squared = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const float away = std::max(box.upper[k] - hull.centre[e][k], hull.centre[e][k] - box.lower[k]);
        squared += away * away;
      }
      hull.radius[e] = std::max(hull.radius[e], std::sqrt(squared) * (1 + box_rounding) + smallest);
    }
  });
}

void NearPrimitives::update(std::span<const FloatBox> start, std::span<const FloatBox> end,
                            std::span<const char> apart) {
  const std::size_t bodies = meets_itself_.size();
  find_hulls(start, end);
  // Swept along the axis on which they are spread most.
  struct Sweep {
    float lower, upper;
    std::size_t body;
  };
  FloatBox all = empty_box;
  for (const Hull& hull : body_) all = merge(all, merge(hull.box.start, hull.box.end));
  std::size_t axis = 0;
  for (std::size_t k = 1; k < 3; ++k)
    if (all.upper[k] - all.lower[k] > all.upper[axis] - all.lower[axis]) axis = k;
  std::vector<Sweep> order;
  for (std::size_t b = 0; b < bodies; ++b) {
    const FloatBox hull = merge(body_[b].box.start, body_[b].box.end);
    if (hull.lower[axis] <= hull.upper[axis]) order.push_back({hull.lower[axis], hull.upper[axis], b});
  }
  std::sort(order.begin(), order.end(), [](const Sweep& a, const Sweep& b) {
    return a.lower != b.lower ? a.lower < b.lower : a.body < b.body;
  });
  partners_.resize(bodies);
  for (auto& of_body : partners_) of_body.clear();
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size() && order[j].lower <= order[i].upper; ++j) {
      const std::size_t a = order[i].body, b = order[j].body;
      if ((!apart.empty() && apart[a] && apart[b]) || are_apart(body_[a].box, body_[b].box) ||
          misses_ball(body_[a].box, body_[b]) || !pairs_(int(a), int(b)).enabled)
        continue;
      partners_[a].push_back(body_[b]);
      partners_[b].push_back(body_[a]);
    }
  for (auto& of_body : partners_) {
    if (of_body.size() <= most_partners) continue;
    std::vector<Hull> groups(most_partners, {{empty_box, empty_box}, {}, {unbounded, unbounded}});
    for (std::size_t i = 0; i < of_body.size(); ++i) {
      MovingBox& group = groups[i * most_partners / of_body.size()].box;
      group = {merge(group.start, of_body[i].box.start), merge(group.end, of_body[i].box.end)};
    }
    of_body = std::move(groups);
  }
}

bool NearPrimitives::contains(Index vertex, const FloatBox& start, const FloatBox& end) const {
  const auto body = std::size_t(vertex_body_[std::size_t(vertex)]);
  if (meets_itself_[body]) return true;
  const MovingBox box{start, end};
  for (const Hull& other : partners_[body])
    if (!are_apart(box, other.box) && !misses_ball(box, other)) return true;
  return false;
}

}  // namespace apart
