#include <apart/simulation/surface_pieces.hpp>

#include <apart/math/principal_axes.hpp>
#include <apart/simulation/model.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace apart {

namespace {

// Pieces with a third width below this share of the second are sheets.
constexpr double sheet = 0.02;

/// ∂²Ψ/∂σ₁² at rest [Pa], λ + 2μ: the stiffness that determines the speed of compression waves.
double compression_stiffness(const Material& material) {
  return std::visit(
      [](const auto& m) {
        if constexpr (Isotropic<std::decay_t<decltype(m)>>)
          return m.derivatives(Vector3::Ones()).stretch(0, 0);
        else
          return m.lame.lambda + 2 * m.lame.mu;
      },
      material);
}

/// Speed of compression waves in a volume, planar or affine body [m/s]; 0 for all others.
double wave_speed(const Body& body) {
  if (!body.is_dynamic()) return 0;
  const auto of_cells = [&](const auto& cells) {
    double stiffness = 0;  // times volume
    for (Index c = 0; c < cells.volume.size(); ++c)
      stiffness += cells.volume[c] *
                   compression_stiffness(cells.materials[std::size_t(cells.material_of[std::size_t(c)])]);
    return std::sqrt(stiffness / total_mass(body));
  };
  if (body.planar) return of_cells(*body.planar);
  return body.elastic ? of_cells(*body.elastic) : 0;
}

}  // namespace

PieceExtent::PieceExtent(const Matrix3X& x, const std::vector<Index>& points, double margin) {
  Vector3 mean = Vector3::Zero();
  for (const Index v : points) mean += x.col(v) / double(points.size());
  Matrix3 spread = Matrix3::Zero();
  for (const Index v : points) spread += (x.col(v) - mean) * (x.col(v) - mean).transpose();
  if (points.size() > 1) axes = principal_axes(spread).axes.rowwise().reverse();
  Vector3 low = Vector3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const Index v : points) {
    const Vector3 at = axes.transpose() * (x.col(v) - mean);
    low = low.cwiseMin(at);
    high = high.cwiseMax(at);
  }
  width = (high - low).array() + 2 * margin;
  // Where points are spread alike (as the corners of a cube), the order of the axes is arbitrary.
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 1)})
    if (width[i] < width[j]) {
      std::swap(width[i], width[j]);
      axes.col(i).swap(axes.col(j));
    }
}

PieceExtent extent_of(const SurfacePiece& piece, const Model& model, const Matrix3X& x) {
  PieceExtent extent(x, piece.vertices, model.bodies[std::size_t(piece.body)].radius);
  if (piece.is_sheet) extent.width[2] = extent.width[1];
  return extent;
}

double width_across(std::span<const PieceExtent* const> boxes, const Vector3& n) {
  // Between directions in which it is across an edge of a box as well the width is concave in the angle.
  double smallest = std::numeric_limits<double>::infinity();
  for (const PieceExtent* box : boxes)
    for (int k = 0; k < 3; ++k) {
      const Vector3 across = n.cross(Vector3(box->axes.col(k)));
      if (across.squaredNorm() < 1e-12) continue;
      double width = 0;
      for (const PieceExtent* each : boxes) width += each->along(across.normalized());
      smallest = std::min(smallest, width);
    }
  return smallest;
}

std::vector<SurfacePiece> surface_pieces(const Model& model) {
  std::vector<SurfacePiece> pieces;
  const CollisionSurface& s = model.surface;
  std::map<Index, std::size_t> of_vertex;  // by its piece's smallest vertex
  std::vector<std::size_t> piece(s.vertex_body.size());
  for (Index v = 0; v < s.vertex_count(); ++v) {
    const bool carrier =
        std::ranges::any_of(s.half_spaces, [&](const HalfSpace& h) { return h.carrier == v; });
    if (carrier) continue;
    const auto [at, fresh] = of_vertex.try_emplace(s.vertex_piece[std::size_t(v)], pieces.size());
    if (fresh) pieces.emplace_back();
    piece[std::size_t(v)] = at->second;
    pieces[at->second].body = s.vertex_body[std::size_t(v)];
    pieces[at->second].vertices.push_back(v);
  }
  for (Index f = 0; f < s.faces.cols(); ++f) pieces[piece[std::size_t(s.faces(0, f))]].faces.push_back(f);
  for (Index e = 0; e < s.edges.cols(); ++e) pieces[piece[std::size_t(s.edges(0, e))]].edges.push_back(e);
  for (const Index e : s.free_edges) pieces[piece[std::size_t(s.edges(0, e))]].free_edges.push_back(e);
  for (SurfacePiece& p : pieces) {
    const Body& body = model.bodies[std::size_t(p.body)];
    const PieceExtent extent(s.rest, p.vertices, body.radius);
    p.is_slender = p.faces.empty() && body.kind != BodyKind::particles && !body.planar;
    p.is_sheet = body.kind == BodyKind::shell || body.planar ||
                 (!p.faces.empty() && extent.width[2] < sheet * extent.width[1]);
    p.smallest = extent.width[p.is_slender ? 0 : p.is_sheet ? 1 : 2];
    p.wave_speed = wave_speed(body);
    if (p.wave_speed > 0) p.wave_time = extent.width[0] / p.wave_speed;
  }
  return pieces;
}

void for_each_in_the_way(const PiecesInMotion& m, double reach, FunctionRef<void(const Stencil&)> visit) {
  const SurfacePiece &first = m.first, &second = m.second;
  const auto box_of = [&](std::span<const Index> vertices) {
    Aabb box;
    for (const Index v : vertices) {
      box.include(Vector3(m.x.col(v)));
      box.include(Vector3(m.x.col(v) + m.move.col(v) - m.frame));
    }
    return box;
  };
  const Aabb all_a = box_of(first.vertices), all_b = box_of(second.vertices);
  int axis = 0;  // along which boxes are sorted: where motion makes them least long
  (0.5 * (m.way.lower + m.way.upper)).cwiseAbs().minCoeff(&axis);
  const auto in_the_way = [&](const std::vector<Index>& list, const Aabb& other, const auto& vertices_of) {
    std::vector<std::pair<Aabb, std::array<Index, 3>>> found;
    for (const Index i : list) {
      const auto vertices = vertices_of(i);
      const Aabb box = box_of(vertices);
      if (!box.near(other, reach)) continue;
      std::array<Index, 3> ids = {-1, -1, -1};
      std::copy(vertices.begin(), vertices.end(), ids.begin());
      found.emplace_back(box, ids);
    }
    std::ranges::stable_sort(found, {}, [&](const auto& f) { return f.first.lower[axis]; });
    return found;
  };
  const auto all_pairs = [&](PairKind kind, const auto& firsts, const auto& seconds) {
    std::size_t begin = 0;
    double longest = 0;
    for (const auto& s : seconds) longest = std::max(longest, s.first.upper[axis] - s.first.lower[axis]);
    for (const auto& f : firsts) {
      while (begin < seconds.size() &&
             seconds[begin].first.lower[axis] + longest < f.first.lower[axis] - reach)
        ++begin;
      for (std::size_t j = begin;
           j < seconds.size() && seconds[j].first.lower[axis] <= f.first.upper[axis] + reach; ++j) {
        if (!f.first.near(seconds[j].first, reach)) continue;
        Stencil stencil{kind, {-1, -1, -1, -1}};
        const int n = first_count(kind);
        for (int i = 0; i < stencil.size(); ++i)
          stencil.vertices[std::size_t(i)] =
              i < n ? f.second[std::size_t(i)] : seconds[j].second[std::size_t(i - n)];
        visit(stencil);
      }
    }
  };
  const auto vertex = [](Index v) { return std::array{v}; };
  const auto edge = [&](Index e) {
    return std::array<Index, 2>{m.surface.edges(0, e), m.surface.edges(1, e)};
  };
  const auto face = [&](Index f) {
    return std::array<Index, 3>{m.surface.faces(0, f), m.surface.faces(1, f), m.surface.faces(2, f)};
  };
  const auto vertices_a = in_the_way(first.vertices, all_b, vertex),
             vertices_b = in_the_way(second.vertices, all_a, vertex);
  all_pairs(PairKind::point_triangle, vertices_a, in_the_way(second.faces, all_a, face));
  all_pairs(PairKind::point_triangle, vertices_b, in_the_way(first.faces, all_b, face));
  if (!m.surface.in_one_plane(first.vertices[0], second.vertices[0]))
    all_pairs(PairKind::edge_edge, in_the_way(first.edges, all_b, edge),
              in_the_way(second.edges, all_a, edge));
  all_pairs(PairKind::point_edge, vertices_a, in_the_way(second.free_edges, all_a, edge));
  all_pairs(PairKind::point_edge, vertices_b, in_the_way(first.free_edges, all_b, edge));
  if (first.edges.empty() && second.edges.empty()) all_pairs(PairKind::point_point, vertices_a, vertices_b);
}

}  // namespace apart
