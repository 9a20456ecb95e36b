#include <apart/collision/collision_surface.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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
         "non-negative and no larger than static friction");
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

namespace {

/// Up to here every body of a table has a class of its own, so that pairs can be set one by one at no cost.
constexpr int most_own_classes = 256;

std::vector<int> default_classes(int body_count) {
  std::vector<int> classes(std::size_t(body_count), 0);
  if (body_count <= most_own_classes) std::iota(classes.begin(), classes.end(), 0);
  return classes;
}

std::uint64_t key_of(int a, int b) {
  return std::uint64_t(std::min(a, b)) << 32 | std::uint64_t(std::max(a, b));
}

}  // namespace

PairTable::PairTable(int body_count, const PairSettings& everywhere)
    : PairTable(default_classes(body_count), everywhere) {}

PairTable::PairTable(std::vector<int> body_class, const PairSettings& everywhere)
    : class_(std::move(body_class)), flags_(class_.size(), 0) {
  check(everywhere);
  for (const int c : class_) class_count_ = std::max(class_count_, c + 1);
  class_size_.assign(std::size_t(class_count_), 0);
  for (const int c : class_) {
    ensure(c >= 0, "PairTable: classes are counted from 0");
    ++class_size_[std::size_t(c)];
  }
  settings_.push_back({.enabled = false});
  const int number = intern(everywhere);
  self_.assign(class_.size(), number);
  between_.assign(std::size_t(class_count_) * std::size_t(class_count_), number);
}

int PairTable::intern(const PairSettings& s) {
  const std::array<double, 8> values = {double(s.enabled) + 2 * double(s.spares_neighbours),
                                        s.friction,
                                        s.dhat,
                                        s.thickness,
                                        s.epsv,
                                        s.stiffness_scale,
                                        s.kinetic_friction.value_or(-1),
                                        double(s.kinetic_friction.has_value())};
  const auto [entry, is_new] = numbers_.try_emplace(values, int(settings_.size()));
  if (is_new) settings_.push_back(s);
  return entry->second;
}

const PairSettings& PairTable::special(int a, int b) const {
  const char flags = char(flags_[std::size_t(a)] | flags_[std::size_t(b)]);
  if (flags & disabled) return settings_[0];
  if (a == b) return settings_[std::size_t(self_[std::size_t(a)])];
  if (flags & has_own)
    if (const auto own = own_.find(key_of(a, b)); own != own_.end())
      return settings_[std::size_t(own->second)];
  return settings_[std::size_t(between(class_of(a), class_of(b)))];
}

void PairTable::set(int a, int b, const PairSettings& settings) {
  if (std::min(a, b) < 0 || std::max(a, b) >= body_count())
    throw InputError("contact settings: bodies {} and {}, indices must lie in [0, {})", a, b, body_count());
  check(settings);
  const int number = intern(settings);
  if (a == b) {
    self_[std::size_t(a)] = number;
  } else if (class_size_[std::size_t(class_of(a))] == 1 && class_size_[std::size_t(class_of(b))] == 1) {
    between(class_of(a), class_of(b)) = between(class_of(b), class_of(a)) = number;
  } else {
    own_[key_of(a, b)] = number;
    for (const int body : {a, b}) flags_[std::size_t(body)] |= has_own;
  }
}

void PairTable::set_classes(int c, int d, const PairSettings& settings) {
  ensure(std::min(c, d) >= 0 && std::max(c, d) < class_count_, "PairTable::set_classes: a class that exists");
  check(settings);
  between(c, d) = between(d, c) = intern(settings);
}

void PairTable::disable(int body) {
  flags_[std::size_t(body)] |= disabled;
}

void PairTable::change_all(FunctionRef<void(PairSettings&)> change) {
  std::vector<int> moved(settings_.size(), 0);
  const std::vector<PairSettings> before = settings_;
  settings_.resize(1);
  numbers_.clear();
  for (std::size_t i = 1; i < before.size(); ++i) {
    PairSettings s = before[i];
    change(s);
    check(s);
    moved[i] = intern(s);
  }
  for (auto* list : {&self_, &between_})
    for (int& number : *list) number = moved[std::size_t(number)];
  for (auto& [pair, number] : own_) number = moved[std::size_t(number)];
}

std::vector<std::vector<int>> PairTable::members() const {
  std::vector<std::vector<int>> result(static_cast<std::size_t>(class_count_));
  for (int b = 0; b < body_count(); ++b)
    if (!(flags_[std::size_t(b)] & disabled)) result[std::size_t(class_of(b))].push_back(b);
  return result;
}

std::vector<std::pair<int, int>> PairTable::own_pairs() const {
  std::vector<std::pair<int, int>> result;
  for (const auto& [pair, number] : own_) result.emplace_back(int(pair >> 32), int(pair & 0xffffffffu));
  std::sort(result.begin(), result.end());
  return result;
}

void PairTable::for_each_used(FunctionRef<void(const PairSettings&, int a, int b)> visit) const {
  std::vector<char> seen(settings_.size(), 0);
  const auto use = [&](int number, int a, int b) {
    if (std::exchange(seen[std::size_t(number)], char(1)) == 0)
      visit(settings_[std::size_t(number)], std::min(a, b), std::max(a, b));
  };
  for (int b = 0; b < body_count(); ++b)
    if (!(flags_[std::size_t(b)] & disabled)) use(self_[std::size_t(b)], b, b);
  const auto bodies = members();
  std::map<std::pair<int, int>, std::int64_t> own;  // how many of a pair of classes have their own
  for (const auto& [a, b] : own_pairs()) {
    if ((flags_[std::size_t(a)] | flags_[std::size_t(b)]) & disabled) continue;
    use(own_.at(key_of(a, b)), a, b);
    ++own[std::minmax(class_of(a), class_of(b))];
  }
  for (int c = 0; c < class_count_; ++c)
    for (int d = c; d < class_count_; ++d) {
      const auto &first = bodies[std::size_t(c)], &second = bodies[std::size_t(d)];
      if (first.empty() || second.empty() || (c == d && first.size() < 2)) continue;
      if (seen[std::size_t(between(c, d))]) continue;
      if (!own.empty()) {
        const auto n = std::int64_t(first.size()), m = std::int64_t(second.size());
        const auto at = own.find({c, d});
        if (at != own.end() && at->second == (c == d ? n * (n - 1) / 2 : n * m)) continue;
      }
      use(between(c, d), first[0], c == d ? first[1] : second[0]);
    }
}

void PairTable::for_each_pair(FunctionRef<bool(const PairSettings&, int a, int b)> wanted,
                              PairVisitor visit) const {
  const auto bodies = members();
  const auto has_its_own = [&](int a, int b) {
    return (flags_[std::size_t(a)] & flags_[std::size_t(b)] & has_own) && own_.contains(key_of(a, b));
  };
  for (int c = 0; c < class_count_; ++c)
    for (int d = c; d < class_count_; ++d) {
      const auto &first = bodies[std::size_t(c)], &second = bodies[std::size_t(d)];
      if (first.empty() || second.empty() || (c == d && first.size() < 2)) continue;
      const PairSettings& s = settings_[std::size_t(between(c, d))];
      if (!wanted(s, first[0], c == d ? first[1] : second[0])) continue;
      for (std::size_t i = 0; i < first.size(); ++i)
        for (std::size_t k = c == d ? i + 1 : 0; k < second.size(); ++k)
          if (!has_its_own(first[i], second[k]))
            visit(s, std::min(first[i], second[k]), std::max(first[i], second[k]));
    }
  for (const auto& [a, b] : own_pairs())
    if (!((flags_[std::size_t(a)] | flags_[std::size_t(b)]) & disabled))
      visit(settings_[std::size_t(own_.at(key_of(a, b)))], a, b);
}

bool PairTable::all_enabled() const {
  bool all = std::none_of(flags_.begin(), flags_.end(), [](char f) { return f & disabled; });
  for_each_used([&](const PairSettings& s, int, int) { all &= s.enabled; });
  return all;
}

double PairTable::force_per_stiffness() const {
  double smallest = std::numeric_limits<double>::infinity();
  for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) smallest = std::min(smallest, s.stiffness_scale * force_scale(s.thickness, s.dhat));
  });
  return std::isfinite(smallest) ? smallest : 1;
}

void PairTable::equalise_stiffness() {
  change_all([](PairSettings& s) { s.stiffness_scale = 1; });
  const double smallest = force_per_stiffness();
  change_all([&](PairSettings& s) { s.stiffness_scale = smallest / force_scale(s.thickness, s.dhat); });
}

void PairTable::normalise_stiffness() {
  change_all([](PairSettings& s) { s.stiffness_scale = 1 / force_scale(s.thickness, s.dhat); });
}

double PairTable::max_reach() const {
  double reach = 0;
  for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) reach = std::max(reach, s.thickness + s.dhat);
  });
  return reach;
}

std::vector<double> PairTable::half_thickness() const {
  const int n = body_count();
  std::vector<double> half(std::size_t(n), 0.0);
  for (int b = 0; b < n; ++b) half[std::size_t(b)] = 0.5 * (*this)(b, b).thickness;
  // The smallest of a class stands for it: where that is enough it is enough for all.
  const auto bodies = members();
  const auto least = [&](int c) {
    double value = std::numeric_limits<double>::infinity();
    for (const int b : bodies[std::size_t(c)]) value = std::min(value, half[std::size_t(b)]);
    return value;
  };
  const auto raise = [&](const PairSettings& s, int a, int b) {
    double &x = half[std::size_t(a)], &y = half[std::size_t(b)];
    if (!s.enabled || x + y >= s.thickness) return;
    const double missing = 0.5 * (s.thickness - (x + y)) * (1 + 1e-12);
    x += missing;
    if (a != b) y += missing;
  };
  for (int b = 0; b < n; ++b) raise((*this)(b, b), b, b);
  std::vector<double> class_least;
  for (int c = 0; c < class_count_; ++c) class_least.push_back(least(c));
  for (int c = 0; c < class_count_; ++c)
    for (int d = c; d < class_count_; ++d) {
      const auto &first = bodies[std::size_t(c)], &second = bodies[std::size_t(d)];
      if (first.empty() || second.empty() || (c == d && first.size() < 2)) continue;
      const PairSettings& s = settings_[std::size_t(between(c, d))];
      const double sum = class_least[std::size_t(c)] + class_least[std::size_t(d)];
      if (!s.enabled || sum >= s.thickness) continue;
      const double missing = 0.5 * (s.thickness - sum) * (1 + 1e-12);
      const double low_c = class_least[std::size_t(c)] + missing,
                   low_d = class_least[std::size_t(d)] + missing;
      for (const int b : first) half[std::size_t(b)] = std::max(half[std::size_t(b)], low_c);
      for (const int b : second) half[std::size_t(b)] = std::max(half[std::size_t(b)], low_d);
      class_least[std::size_t(c)] = least(c);
      class_least[std::size_t(d)] = least(d);
    }
  for (const auto& [a, b] : own_pairs()) raise((*this)(a, b), a, b);
  return half;
}

double PairTable::max_dhat() const {
  double dhat = 0;
  for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) dhat = std::max(dhat, s.dhat);
  });
  return dhat;
}

double PairTable::min_dhat() const {
  double dhat = std::numeric_limits<double>::infinity();
  for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) dhat = std::min(dhat, s.dhat);
  });
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
    throw InputError("collision surface: {} vertices but {} body indices, must be equal", vertex_count(),
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

void CollisionSurface::weigh(const std::vector<BodyGrain>& grains) {
  weights = ContactWeights({rest, faces, edges, vertex_body}, grains);
}

}  // namespace apart
