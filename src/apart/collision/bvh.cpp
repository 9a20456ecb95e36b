#include <apart/collision/box_tree.hpp>
#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

namespace apart {

namespace {

/// Single-precision numbers certainly below and above v.
float rounded_down(double v) {
  const float f = float(std::clamp(v, -3e38, 3e38));
  return f - (std::abs(f) * 1.2e-7f + 1e-37f);
}
float rounded_up(double v) {
  return -rounded_down(-v);
}

using Pairs = std::vector<std::array<Index, 2>>;

/// Pairs of primitives sorted: the partners of i are second[begin[i]], …, second[begin[i + 1] − 1], in order.
struct SortedPairs {
  std::vector<Index> begin, second;

  /// By the first entry in one counting pass, then the few partners of each.
  void sort(const std::vector<Pairs>& parts, Index first_count) {
    begin.assign(first_count + 1, 0);
    for (const Pairs& part : parts)
      for (const auto& pair : part) ++begin[pair[0] + 1];
    for (Index i = 0; i < first_count; ++i) begin[i + 1] += begin[i];
    second.resize(begin[first_count]);
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (const Pairs& part : parts)
      for (const auto& pair : part) second[next[pair[0]]++] = pair[1];
    parallel_for(first_count,
                 [&](Index i) { std::sort(second.begin() + begin[i], second.begin() + begin[i + 1]); });
  }
};

/// One tree each over vertices, isolated vertices, edges and triangles, joined with each other.
class Bvh final : public BroadPhase {
 public:
  explicit Bvh(const CollisionSurface& surface)
      : vertex_body_(surface.vertex_body),
        edges_(surface.edges),
        isolated_(surface.isolated_vertices),
        body_count_(surface.pairs.body_count()),
        edge_is_free_(surface.edges.cols(), 0) {
    for (Index e : surface.free_edges) edge_is_free_[e] = 1;
    enabled_.reserve(std::size_t(body_count_) * body_count_);
    for (int a = 0; a < body_count_; ++a)
      for (int b = 0; b < body_count_; ++b) enabled_.push_back(surface.pairs(a, b).enabled);
    // Triangles sorted by their vertices: then the order of partners is the order of the output. A triangle
    // listed twice is kept once.
    std::vector<std::array<int, 3>> sorted(surface.faces.cols());
    for (Index f = 0; f < surface.faces.cols(); ++f)
      sorted[f] = {surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)};
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    faces_.resize(3, Index(sorted.size()));
    for (Index f = 0; f < faces_.cols(); ++f) faces_.col(f) = Eigen::Vector3i(sorted[f].data());
  }

  std::optional<Candidates> find_at_most(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                         double radius) override {
    const Index vertices = Index(vertex_body_.size());
    ensure(x0.cols() == vertices && x1.cols() == vertices, "broad phase: as many positions as vertices");
    ensure(x0.allFinite() && x1.allFinite() && std::isfinite(radius),
           "broad phase: positions and radius are finite");
    fit(x0, x1, radius);

    // Pairs of each kind, primitives numbered so that the order of numbers is the order of vertices.
    const Index isolated = Index(isolated_.size());
    std::size_t total = 0;
    const bool few =
        join(isolated_tree_, isolated_tree_, isolated, limit, total, points_points_,
             [&](Index i, Index j) { return enabled(isolated_[i], isolated_[j]); }) &&
        join(isolated_tree_, edge_tree_, isolated, limit, total, points_edges_,
             [&](Index i, Index e) { return edge_is_free_[e] && enabled(isolated_[i], edges_(0, e)); }) &&
        join(vertex_tree_, face_tree_, vertices, limit, total, points_triangles_,
             [&](Index v, Index f) {
               return faces_(0, f) != v && faces_(1, f) != v && faces_(2, f) != v && enabled(v, faces_(0, f));
             }) &&
        join(edge_tree_, edge_tree_, Index(edges_.cols()), limit, total, edges_edges_, [&](Index a, Index b) {
          const int a0 = edges_(0, a), a1 = edges_(1, a), b0 = edges_(0, b), b1 = edges_(1, b);
          return a0 != b0 && a0 != b1 && a1 != b0 && a1 != b1 && enabled(a0, b0);
        });
    if (!few) return std::nullopt;

    Candidates candidates;
    candidates.reserve(total);
    const auto list = [&](const SortedPairs& pairs, auto&& stencil) {
      for (Index i = 0; i + 1 < Index(pairs.begin.size()); ++i)
        for (Index k = pairs.begin[i]; k < pairs.begin[i + 1]; ++k)
          candidates.push_back(stencil(i, pairs.second[k]));
    };
    list(points_points_, [&](Index i, Index j) {
      return Stencil{PairKind::point_point, {isolated_[i], isolated_[j], -1, -1}};
    });
    list(points_edges_, [&](Index i, Index e) {
      return Stencil{PairKind::point_edge, {isolated_[i], edges_(0, e), edges_(1, e), -1}};
    });
    list(points_triangles_, [&](Index v, Index f) {
      return Stencil{PairKind::point_triangle, {v, faces_(0, f), faces_(1, f), faces_(2, f)}};
    });
    list(edges_edges_, [&](Index a, Index b) {
      return Stencil{PairKind::edge_edge, {edges_(0, a), edges_(1, a), edges_(0, b), edges_(1, b)}};
    });
    return candidates;
  }

 private:
  /// The wanted pairs of touching boxes of two trees (or of one), sorted. Adds their number to `total`; false
  /// if that exceeds the limit.
  template <class Wanted>
  bool join(const BoxTree& first, const BoxTree& second, Index first_count, std::size_t limit,
            std::size_t& total, SortedPairs& sorted, Wanted&& wanted) {
    constexpr Index chunk = 64;
    parts_.resize((first.packet_count() + chunk - 1) / chunk);
    std::atomic<std::size_t> found = total;
    parallel_chunks(first.packet_count(), chunk, [&](Index begin, Index end) {
      Pairs touching;
      Pairs& part = parts_[begin / chunk];
      part.clear();
      for (Index packet = begin; packet < end; ++packet) {
        if (found.load(std::memory_order_relaxed) > limit) return;  // the answer is 'too many' whatever comes
        touching.clear();
        first.join(packet, second, touching);
        const std::size_t before = part.size();
        for (auto& pair : touching) {
          if (&first == &second && pair[0] > pair[1]) std::swap(pair[0], pair[1]);
          if (wanted(pair[0], pair[1])) part.push_back(pair);
        }
        found += part.size() - before;
      }
    });
    if (found > limit) return false;
    total = found;
    ensure(total <= std::size_t(std::numeric_limits<Index>::max()), "broad phase: fewer than 2³¹ pairs");
    sorted.sort(parts_, first_count);
    return true;
  }

  /// Boxes of all primitives at both ends of the path, each grown by half the radius, and the trees over
  /// them.
  void fit(const Matrix3X& x0, const Matrix3X& x1, double radius) {
    // Coordinates relative to the middle of the scene: single precision then resolves 1e-7 of its size.
    Aabb all = bounding_box(x0);
    all.include(bounding_box(x1));
    const Vector3 origin = all.empty() ? Vector3::Zero() : all.centre();
    // Twice the rounding of the differences below, which outward rounding of a result near 0 would not cover.
    const double half = radius / 2 + 4 * std::numeric_limits<double>::epsilon() * (radius + all.diagonal());
    const bool moving = x0.data() != x1.data() && x0 != x1;
    const auto fit_to = [&](const Matrix3X& x, Boxes& boxes) {
      boxes.vertices.resize(x.cols());
      boxes.edges.resize(edges_.cols());
      boxes.faces.resize(faces_.cols());
      boxes.isolated.resize(isolated_.size());
      parallel_for(Index(x.cols()), [&](Index v) {
        FloatBox& box = boxes.vertices[v];
        for (int k = 0; k < 3; ++k) {
          box.lower[k] = rounded_down(x(k, v) - origin[k] - half);
          box.upper[k] = rounded_up(x(k, v) - origin[k] + half);
        }
        box.lower[3] = box.upper[3] = 0;
      });
      const auto& of = boxes.vertices;
      parallel_for(Index(edges_.cols()),
                   [&](Index e) { boxes.edges[e] = merge(of[edges_(0, e)], of[edges_(1, e)]); });
      parallel_for(Index(faces_.cols()), [&](Index f) {
        boxes.faces[f] = merge(merge(of[faces_(0, f)], of[faces_(1, f)]), of[faces_(2, f)]);
      });
      for (std::size_t i = 0; i < isolated_.size(); ++i) boxes.isolated[i] = of[isolated_[i]];
    };
    fit_to(x0, start_);
    end_ = {};
    if (moving) fit_to(x1, end_);
    vertex_tree_.update(start_.vertices, end_.vertices);
    face_tree_.update(start_.faces, end_.faces);
    edge_tree_.update(start_.edges, end_.edges);
    isolated_tree_.update(start_.isolated, end_.isolated);
  }

  bool enabled(Index a, Index b) const {
    return enabled_[std::size_t(vertex_body_[a]) * body_count_ + vertex_body_[b]];
  }

  struct Boxes {
    std::vector<FloatBox> vertices, edges, faces, isolated;
  };

  std::vector<int> vertex_body_;
  Edges edges_;
  Faces faces_;  ///< sorted
  std::vector<Index> isolated_;
  int body_count_;
  std::vector<char> enabled_;  ///< for every pair of bodies
  std::vector<char> edge_is_free_;
  Boxes start_, end_;  ///< end_ is empty if nothing moves
  BoxTree vertex_tree_, isolated_tree_, edge_tree_, face_tree_;
  // Kept for their memory, which is large and would have to be asked for anew in every search.
  std::vector<Pairs> parts_;
  SortedPairs points_points_, points_edges_, points_triangles_, edges_edges_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_bvh(const CollisionSurface& surface) {
  return std::make_unique<Bvh>(surface);
}

}  // namespace apart
