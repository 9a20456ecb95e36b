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

/// One tree each over triangles, edges and isolated vertices; every vertex is looked up among the triangles
/// and every edge among the edges. Work is done and results are listed in the order of the output, so nothing
/// needs sorting but the few partners of one primitive.
class Bvh final : public BroadPhase {
 public:
  explicit Bvh(const CollisionSurface& surface)
      : vertex_body_(surface.vertex_body),
        edges_(surface.edges),
        isolated_(surface.isolated_vertices),
        pairs_(surface.pairs),
        edge_is_free_(surface.edges.cols(), 0) {
    for (Index e : surface.free_edges) edge_is_free_[e] = 1;
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

    const Index isolated = Index(isolated_.size());
    const Index items = 2 * isolated + vertices + Index(edges_.cols());
    constexpr Index chunk = 512;
    std::vector<Candidates> parts((items + chunk - 1) / chunk);
    std::atomic<std::size_t> total = 0;
    parallel_chunks(items, chunk, [&](Index begin, Index end) {
      if (total.load(std::memory_order_relaxed) > limit) return;  // the answer is 'too many' whatever comes
      Candidates& part = parts[begin / chunk];
      std::vector<Index> hits;
      for (Index i = begin; i < end; ++i) {
        hits.clear();
        if (i < isolated) {
          points_near_point(i, hits, part);
        } else if (i < 2 * isolated) {
          edges_near_point(isolated_[i - isolated], hits, part);
        } else if (i < 2 * isolated + vertices) {
          triangles_near_point(i - 2 * isolated, hits, part);
        } else {
          edges_near_edge(i - 2 * isolated - vertices, hits, part);
        }
      }
      total += part.size();
    });
    if (total > limit) return std::nullopt;
    Candidates found;
    found.reserve(total);
    for (Candidates& part : parts) {
      found.insert(found.end(), part.begin(), part.end());
      part = {};
    }
    return found;
  }

 private:
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
    face_tree_.update(start_.faces, end_.faces);
    edge_tree_.update(start_.edges, end_.edges);
    isolated_tree_.update(start_.isolated, end_.isolated);
  }

  void look_up(const BoxTree& tree, const std::vector<FloatBox>& start, const std::vector<FloatBox>& end,
               Index i, std::vector<Index>& hits) const {
    tree.query(start[i], end.empty() ? start[i] : end[i], hits);
  }
  bool enabled(Index a, Index b) const { return pairs_(vertex_body_[a], vertex_body_[b]).enabled; }

  void points_near_point(Index i, std::vector<Index>& hits, Candidates& part) const {
    const Index v = isolated_[i];
    look_up(isolated_tree_, start_.isolated, end_.isolated, i, hits);
    std::erase_if(hits, [&](Index j) { return j <= i || !enabled(v, isolated_[j]); });
    std::sort(hits.begin(), hits.end());
    for (Index j : hits) part.push_back({PairKind::point_point, {v, isolated_[j], -1, -1}});
  }
  void edges_near_point(Index v, std::vector<Index>& hits, Candidates& part) const {
    look_up(edge_tree_, start_.vertices, end_.vertices, v, hits);
    std::erase_if(hits, [&](Index e) { return !edge_is_free_[e] || !enabled(v, edges_(0, e)); });
    std::sort(hits.begin(), hits.end());
    for (Index e : hits) part.push_back({PairKind::point_edge, {v, edges_(0, e), edges_(1, e), -1}});
  }
  void triangles_near_point(Index v, std::vector<Index>& hits, Candidates& part) const {
    look_up(face_tree_, start_.vertices, end_.vertices, v, hits);
    std::erase_if(hits, [&](Index f) {
      return faces_(0, f) == v || faces_(1, f) == v || faces_(2, f) == v || !enabled(v, faces_(0, f));
    });
    std::sort(hits.begin(), hits.end());
    for (Index f : hits)
      part.push_back({PairKind::point_triangle, {v, faces_(0, f), faces_(1, f), faces_(2, f)}});
  }
  void edges_near_edge(Index a, std::vector<Index>& hits, Candidates& part) const {
    const int a0 = edges_(0, a), a1 = edges_(1, a);
    look_up(edge_tree_, start_.edges, end_.edges, a, hits);
    std::erase_if(hits, [&](Index b) {
      const int b0 = edges_(0, b), b1 = edges_(1, b);
      return b <= a || b0 == a0 || b0 == a1 || b1 == a0 || b1 == a1 || !enabled(a0, b0);
    });
    std::sort(hits.begin(), hits.end());
    for (Index b : hits) part.push_back({PairKind::edge_edge, {a0, a1, edges_(0, b), edges_(1, b)}});
  }

  struct Boxes {
    std::vector<FloatBox> vertices, edges, faces, isolated;
  };

  std::vector<int> vertex_body_;
  Edges edges_;
  Faces faces_;  ///< sorted
  std::vector<Index> isolated_;
  PairTable pairs_;
  std::vector<char> edge_is_free_;
  Boxes start_, end_;  ///< end_ is empty if nothing moves
  BoxTree face_tree_, edge_tree_, isolated_tree_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_bvh(const CollisionSurface& surface) {
  return std::make_unique<Bvh>(surface);
}

}  // namespace apart
