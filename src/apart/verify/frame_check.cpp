#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/exact_enclosure.hpp>
#include <apart/verify/far_corners.hpp>
#include <apart/verify/frame_check.hpp>
#include <apart/verify/path_proof.hpp>
#include <apart/verify/separation.hpp>

#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace apart::verify {

namespace {

std::string coordinates(const Vector3& p) {
  return fmt::format("({:.9g}, {:.9g}, {:.9g})", p.x(), p.y(), p.z());
}

/// The triangles that belong to one tetrahedron only, seen counter-clockwise from outside. Not geometry's
/// boundary_faces: the solver gets its surface from there, and a triangle forgotten there must not be
/// forgotten here.
Faces outer_triangles(const Tetrahedra& tetrahedra) {
  // Opposite each corner, facing away from it.
  constexpr int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  struct Triangle {
    std::array<int, 3> corners, sorted;
  };
  std::vector<Triangle> triangles;
  triangles.reserve(4 * tetrahedra.cols());
  for (Index t = 0; t < tetrahedra.cols(); ++t)
    for (const auto& side : sides) {
      Triangle triangle;
      for (int k = 0; k < 3; ++k) triangle.corners[std::size_t(k)] = tetrahedra(side[k], t);
      triangle.sorted = triangle.corners;
      std::sort(triangle.sorted.begin(), triangle.sorted.end());
      triangles.push_back(triangle);
    }
  std::sort(triangles.begin(), triangles.end(),
            [](const Triangle& a, const Triangle& b) { return a.sorted < b.sorted; });
  Faces faces(3, Index(triangles.size()));
  Index outer = 0;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const bool again = (i > 0 && triangles[i - 1].sorted == triangles[i].sorted) ||
                       (i + 1 < triangles.size() && triangles[i + 1].sorted == triangles[i].sorted);
    if (!again) faces.col(outer++) = Eigen::Vector3i::Map(triangles[i].corners.data());
  }
  faces.conservativeResize(3, outer);
  return faces;
}

double volume(const Matrix3X& x, const Tetrahedra& tetrahedra, Index t) {
  const Vector3 o = x.col(tetrahedra(0, t));
  return (x.col(tetrahedra(1, t)) - o).cross(x.col(tetrahedra(2, t)) - o).dot(x.col(tetrahedra(3, t)) - o) /
         6;
}

/// About where an edge meets a triangle; only for messages.
Vector3 meeting_point(const Matrix3X& x, const exact::PrimitivePair& pair) {
  const auto& a = pair.a.vertices;
  const auto& b = pair.b.vertices;
  if (pair.a.size() == 1) return x.col(a[0]);
  const Vector3 p = x.col(a[0]), q = x.col(a[1]);
  if (pair.b.size() == 2) {
    const Vector3 r = x.col(b[0]), v = Vector3(x.col(b[1])) - r, u = q - p, n = u.cross(v);
    const double s = n.squaredNorm() > 0 ? (r - p).cross(v).dot(n) / n.squaredNorm() : 0.5;
    return p + std::clamp(s, 0.0, 1.0) * u;
  }
  const Vector3 o = x.col(b[0]), n = (Vector3(x.col(b[1])) - o).cross(Vector3(x.col(b[2])) - o);
  const double height_p = n.dot(p - o), height_q = n.dot(q - o);
  const double s = height_p != height_q ? std::clamp(height_p / (height_p - height_q), 0.0, 1.0) : 0.5;
  return p + s * (q - p);
}

std::vector<Index> cell_of(const exact::Primitive& primitive) {
  return {primitive.vertices.begin(), primitive.vertices.begin() + primitive.size()};
}

template <class Cells>
void check_cells(const Cells& cells, const Frame& frame, std::string_view what) {
  for (Index c = 0; c < cells.cols(); ++c)
    for (Index k = 0; k < cells.rows(); ++k) {
      if (cells(k, c) < 0 || cells(k, c) >= frame.mesh.point_count())
        throw InputError("{} {}: point {} must lie in [0, {}); the frame is damaged", what, c, cells(k, c),
                         frame.mesh.point_count());
      if (frame.point_body[cells(k, c)] != frame.point_body[cells(0, c)])
        throw InputError("{} {}: its points belong to different bodies; the frame is damaged", what, c);
    }
}

}  // namespace

FrameCheck::FrameCheck(const Frame& frame) : first_(frame) {
  const Index n = frame.mesh.point_count(), bodies = Index(frame.bodies.size());
  if (frame.point_body.size() != n)
    throw InputError("{} points, but bodies of {}; the frame is damaged", n, frame.point_body.size());
  std::vector<Index> count(bodies, 0);
  local_.resize(n);
  for (Index i = 0; i < n; ++i) {
    const int body = frame.point_body[i];
    if (body < 0 || body >= bodies)
      throw InputError("point {}: body {} must lie in [0, {}); the frame is damaged", i, body, bodies);
    local_[i] = count[body]++;
  }
  check_cells(frame.mesh.tetrahedra, frame, "tetrahedron");
  check_cells(frame.mesh.faces, frame, "triangle");
  check_cells(frame.mesh.edges, frame, "segment");
  check_cells(frame.mesh.vertices.transpose(), frame, "free point");
  for (const HalfSpace& plane : frame.half_spaces)
    if (plane.body < 0 || plane.body >= bodies || !plane.origin.allFinite() || !plane.normal.allFinite() ||
        plane.normal.isZero(0) || plane.carrier >= n ||
        (plane.carrier >= 0 && frame.point_body[plane.carrier] != plane.body))
      throw InputError(
          "a half-space has no body, no finite origin, no normal or no carrier of its own; the frame is "
          "damaged");

  for (const FrameBody& body : frame.bodies)
    prescribed_.push_back(body.kind == "obstacle" || body.kind == "half_space");
  for (auto [a, b] : frame.ignored_pairs) ignored_.push_back(std::minmax(a, b));
  std::sort(ignored_.begin(), ignored_.end());

  const Faces outer = outer_triangles(frame.mesh.tetrahedra);
  Faces faces(3, outer.cols() + frame.mesh.faces.cols());
  faces << outer, frame.mesh.faces;
  surface_ = exact::surface(n, faces, frame.mesh.edges, frame.mesh.vertices);

  std::vector<char> used(n, false);
  for (const auto& v : surface_.vertices) used[v.vertices[0]] = true;
  for (Index t = 0; t < frame.mesh.tetrahedra.cols(); ++t) {
    const int body = frame.point_body[frame.mesh.tetrahedra(0, t)];
    if (prescribed_[body]) continue;
    // No promise is made for materials whose energy is finite for inverted elements: their inner points may
    // come out.
    if (frame.bodies[body].kind == "invertible_volume" ||
        std::binary_search(frame.invertible_cells.begin(), frame.invertible_cells.end(), t)) {
      ++invertible_;
      continue;
    }
    tetrahedra_.push_back(t);
    for (int k = 0; k < 4; ++k) used[frame.mesh.tetrahedra(k, t)] = true;
  }
  for (Index i = 0; i < n; ++i)
    if (used[i] && !prescribed_[frame.point_body[i]]) used_points_.push_back(i);
  collect_limits();
  set_absent(frame.absent);
  find_pieces();
  find_solids();
  find_neighbours();
  find_affine();
  rigid_ = RigidBodies(first_);
  if (has_thickness()) find_margins();
}

namespace {

/// Sets of points that grow together.
class Joined {
 public:
  explicit Joined(Index n) : root_(n) { std::iota(root_.begin(), root_.end(), 0); }
  /// The smallest point of a set.
  Index root(Index i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }
  void join(Index i, Index j) {
    i = root(i);
    j = root(j);
    root_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<Index> root_;
};

}  // namespace

/// Connected pieces of the surface.
void FrameCheck::find_pieces() {
  const Index n = first_.mesh.point_count();
  Joined joined(n);
  for (const auto* list : {&surface_.face_edges, &surface_.segments})
    for (const auto& edge : *list) joined.join(edge.vertices[0], edge.vertices[1]);
  piece_.resize(n);
  for (Index i = 0; i < n; ++i) piece_[i] = joined.root(i);
  for (const auto& v : surface_.vertices)
    if (piece_[v.vertices[0]] == v.vertices[0]) piece_points_.push_back(v.vertices[0]);
}

/// Connected solids: of tetrahedra, or, of an affine or rigid body without any, all that its triangles
/// enclose.
void FrameCheck::find_solids() {
  const Index n = first_.mesh.point_count();
  solid_.assign(n, -1);
  if (first_.allow_nested) return;
  Joined joined(n);
  std::vector<char> has_tetrahedra(first_.bodies.size(), false);
  for (Index t = 0; t < first_.mesh.tetrahedra.cols(); ++t) {
    const auto cell = first_.mesh.tetrahedra.col(t);
    has_tetrahedra[std::size_t(first_.point_body[cell[0]])] = true;
    for (int k = 1; k < 4; ++k) joined.join(cell[0], cell[k]);
  }
  // Triangles of a body enclose something if each edge is passed once in either direction.
  std::map<std::pair<Index, Index>, std::pair<int, int>> passes;
  for (const exact::Primitive& face : surface_.faces)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = face.vertices[k], b = face.vertices[(k + 1) % 3];
      auto& [forward, backward] = passes[std::minmax(a, b)];
      ++(a < b ? forward : backward);
    }
  std::vector<char> open(first_.bodies.size(), false);
  for (const auto& [edge, count] : passes)
    if (count != std::pair(1, 1)) open[std::size_t(first_.point_body[edge.first])] = true;
  std::map<Index, int> number;  // by the first point of a solid
  std::vector<Index> first_of_body(first_.bodies.size(), -1);
  for (const exact::Primitive& face : surface_.faces) {
    const auto body = std::size_t(first_.point_body[face.vertices[0]]);
    const std::string& kind = first_.bodies[body].kind;
    const bool encloses = kind == "affine" || (kind == "rigid" && !open[body]);
    if (prescribed_[body] || (!encloses && !has_tetrahedra[body])) continue;
    Index& first = first_of_body[body];
    if (first < 0) first = face.vertices[0];
    const Index root = has_tetrahedra[body] ? joined.root(face.vertices[0]) : first;
    const int solid = number.try_emplace(root, int(number.size())).first->second;
    for (const Index v : face.vertices) solid_[v] = solid;
    solid_faces_.push_back(face);
  }
  solid_count_ = int(number.size());
}

void FrameCheck::find_neighbours() {
  const auto counts = [&](Index i) {
    const int body = first_.point_body[i];
    return !prescribed_[body] &&
           !std::binary_search(ignored_.begin(), ignored_.end(), std::pair<int, int>(body, body));
  };
  // Triangles at each edge, by sorting.
  std::vector<std::pair<exact::Primitive, exact::Primitive>> at_edge;
  for (const exact::Primitive& f : surface_.faces) {
    if (!counts(f.vertices[0])) continue;
    for (int k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax(f.vertices[k], f.vertices[(k + 1) % 3]);
      at_edge.push_back({{{a, b, -1}}, f});
    }
  }
  std::sort(at_edge.begin(), at_edge.end());
  for (std::size_t i = 0; i < at_edge.size(); ++i)
    for (std::size_t j = i + 1; j < at_edge.size() && at_edge[j].first == at_edge[i].first; ++j)
      neighbours_.push_back({at_edge[i].second, at_edge[j].second});
  // Segments at each point, and triangles there.
  std::vector<std::pair<Index, exact::Primitive>> at_point;
  std::vector<char> is_end(first_.mesh.point_count(), false);
  for (const exact::Primitive& s : surface_.segments) {
    if (!counts(s.vertices[0])) continue;
    for (int k = 0; k < 2; ++k) {
      at_point.emplace_back(s.vertices[k], s);
      is_end[s.vertices[k]] = true;
    }
  }
  for (const exact::Primitive& f : surface_.faces)
    for (const Index v : f.vertices)
      if (is_end[v]) at_point.emplace_back(v, f);
  std::sort(at_point.begin(), at_point.end());
  for (std::size_t i = 0; i < at_point.size(); ++i)
    for (std::size_t j = i + 1; j < at_point.size() && at_point[j].first == at_point[i].first; ++j) {
      exact::PrimitivePair pair{at_point[i].second, at_point[j].second};
      if (pair.a.size() > pair.b.size()) std::swap(pair.a, pair.b);
      if (pair.a.size() == 2) neighbours_.push_back(pair);
    }
  std::sort(neighbours_.begin(), neighbours_.end());
  neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
}

void FrameCheck::find_affine() {
  const Matrix3X& x = first_.mesh.points;
  std::vector<std::vector<Index>> points(first_.bodies.size());
  for (const auto& v : surface_.vertices)
    if (const int body = first_.point_body[v.vertices[0]]; first_.bodies[body].kind == "affine")
      points[std::size_t(body)].push_back(v.vertices[0]);
  for (Index t = 0; t < first_.mesh.tetrahedra.cols(); ++t)
    for (int k = 0; k < 4; ++k)
      if (const int body = first_.point_body[first_.mesh.tetrahedra(k, t)];
          first_.bodies[body].kind == "affine")
        points[std::size_t(body)].push_back(first_.mesh.tetrahedra(k, t));
  for (std::size_t b = 0; b < points.size(); ++b) {
    std::vector<Index>& list = points[b];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (list.size() < 4 || !x(Eigen::all, list).allFinite()) continue;
    AffineBody affine;
    affine.body = int(b);
    affine.corners = far_corners(x, list);
    auto& c = affine.corners;
    const Vector3 o = x.col(c[0]);
    affine.size = (x.col(c[1]) - o).norm();
    if (exact::orientation(x.col(c[0]), x.col(c[1]), x.col(c[2]), x.col(c[3])) < 0) std::swap(c[2], c[3]);
    Matrix3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = x.col(c[k + 1]) - o;
    const auto inverse = edges.fullPivLu();
    affine.points = list;
    affine.weights.resize(3, Index(list.size()));
    for (Index i = 0; i < Index(list.size()); ++i) affine.weights.col(i) = inverse.solve(x.col(list[i]) - o);
    affine_.push_back(std::move(affine));
  }
  affine_tetrahedra_.resize(4, Index(affine_.size()));
  for (Index i = 0; i < Index(affine_.size()); ++i)
    for (int k = 0; k < 4; ++k) affine_tetrahedra_(k, i) = affine_[i].corners[k];
}

/// How far around a point others may be too near.
void FrameCheck::find_margins() {
  if (first_.thickness.size() != first_.bodies.size() || first_.self_reach.size() != first_.bodies.size())
    throw InputError("{} bodies, but the thickness of {}; the frame is damaged", first_.bodies.size(),
                     first_.thickness.size());
  const Index n = first_.mesh.point_count();
  // Half the thickness of its body on either side, as pairs have the mean; more where a pair has another.
  const double thickest = *std::max_element(first_.thickness.begin(), first_.thickness.end());
  std::vector<double> most = first_.thickness;
  if (!first_.pair_thickness.empty())
    for (double& t : most) t = 0.5 * (t + thickest);
  for (PairThickness t : first_.pair_thickness) {
    if (t.a > t.b) std::swap(t.a, t.b);
    if (t.a < 0 || t.b >= int(most.size()))
      throw InputError("thickness of the bodies {} and {}, but there are {}; the frame is damaged", t.a, t.b,
                       most.size());
    for (const int b : {t.a, t.b}) most[std::size_t(b)] = std::max(most[std::size_t(b)], t.thickness);
    exceptions_[{t.a, t.b}] = t.thickness;
  }
  margins_.resize(n);
  for (Index i = 0; i < n; ++i) margins_[i] = 0.5 * most[std::size_t(first_.point_body[i])];
}

double FrameCheck::thickness(int a, int b) const {
  if (!exceptions_.empty())
    if (const auto found = exceptions_.find(std::minmax(a, b)); found != exceptions_.end())
      return found->second;
  return 0.5 * (first_.thickness[std::size_t(a)] + first_.thickness[std::size_t(b)]);
}

double FrameCheck::thickness(const exact::PrimitivePair& pair) const {
  const Index i = pair.a.vertices[0], j = pair.b.vertices[0];
  const int a = first_.point_body[i], b = first_.point_body[j];
  const double whole = thickness(a, b);
  if (a != b || piece_[i] != piece_[j]) return whole;
  std::array<Vector3, 3> x, y;
  for (int k = 0; k < pair.a.size(); ++k) x[k] = first_.mesh.points.col(pair.a.vertices[k]);
  for (int k = 0; k < pair.b.size(); ++k) y[k] = first_.mesh.points.col(pair.b.vertices[k]);
  const double start =
      separation({x.data(), std::size_t(pair.a.size())}, {y.data(), std::size_t(pair.b.size())})
          .shortest.norm();
  const double reach = first_.self_reach[std::size_t(a)];
  // A pair at the border may fall to either side of it by rounding.
  return start < reach * (1 + 1e-12) ? whole * start / (2 * reach) : whole;
}

void FrameCheck::collect_limits() {
  const int bodies = int(first_.bodies.size());
  std::vector<const FrameStrainLimit*> stretch(std::size_t(bodies), nullptr), woven = stretch;
  for (const FrameStrainLimit& l : first_.strain_limits) {
    const bool good = l.body >= 0 && l.body < bodies && l.limits.allFinite() &&
                      (l.woven ? (l.limits.array() > 0).all() : l.limits[0] > 0 && l.limits[1] >= 0);
    auto& list = l.woven ? woven : stretch;
    if (!good || list[std::size_t(l.body)])
      throw InputError(
          "a strain limit has no body, no positive number or is there twice; the frame is damaged");
    list[std::size_t(l.body)] = &l;
  }
  Index next = 0;
  for (Index f = 0; f < first_.mesh.faces.cols(); ++f) {
    const auto body = std::size_t(first_.point_body[first_.mesh.faces(0, f)]);
    if (!stretch[body] && !woven[body]) continue;
    if (next >= first_.rest_shape.cols()) break;
    const Vector4 rest = first_.rest_shape.col(next++);
    if (!rest.allFinite() || rest[0] * rest[3] == rest[1] * rest[2])
      throw InputError("triangle {} has no shape at rest; the frame is damaged", f);
    limited_.push_back({f, {rest[0], rest[1], rest[2], rest[3]}, stretch[body], woven[body]});
  }
  Index expected = 0;
  for (Index f = 0; f < first_.mesh.faces.cols(); ++f) {
    const auto body = std::size_t(first_.point_body[first_.mesh.faces(0, f)]);
    expected += stretch[body] || woven[body];
  }
  if (expected != first_.rest_shape.cols())
    throw InputError("{} triangles have strain limits, but {} a shape at rest; the frame is damaged",
                     expected, first_.rest_shape.cols());
}

FrameCheck::StrainShare FrameCheck::strain_share(const LimitedTriangle& t, const Matrix3X& points) const {
  // C = FᵀF with F = [x₁ − x₀, x₂ − x₀] · rest, in more digits than the positions have.
  using Real = long double;
  Real f[3][2];
  const auto corners = first_.mesh.faces.col(t.face);
  for (int i = 0; i < 3; ++i) {
    const Real origin = points(i, corners[0]);
    const Real e0 = points(i, corners[1]) - origin, e1 = points(i, corners[2]) - origin;
    f[i][0] = e0 * t.rest[0] + e1 * t.rest[1];
    f[i][1] = e0 * t.rest[2] + e1 * t.rest[3];
  }
  Real c[2][2] = {{0, 0}, {0, 0}};
  for (int i = 0; i < 3; ++i)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) c[a][b] += f[i][a] * f[i][b];
  StrainShare worst;
  const auto note = [&](Real share, std::string_view what, Real value, double limit) {
    if (!(share <= worst.share)) worst = {share, what, double(value), limit};
  };
  if (t.stretch) {
    const Real mean = (c[0][0] + c[1][1]) / 2, half = (c[0][0] - c[1][1]) / 2;
    const Real radius = std::sqrt(half * half + c[0][1] * c[0][1]);
    const Real larger = std::sqrt(mean + radius), smaller = std::sqrt(std::max(mean - radius, Real(0)));
    const double upper = t.stretch->limits[0], lower = t.stretch->limits[1];
    note(larger / upper, "stretch", larger, upper);
    if (lower > 0) note(smaller > 0 ? lower / smaller : Real(2), "stretch", smaller, lower);
  }
  if (t.woven) {
    const Real e[3] = {(c[0][0] - 1) / 2, (c[1][1] - 1) / 2, c[0][1] / 2};
    constexpr std::string_view names[3] = {"strain along the warp", "strain along the weft", "shear strain"};
    for (int k = 0; k < 3; ++k)
      note(std::abs(e[k]) / Real(t.woven->limits[k]), names[k], e[k], t.woven->limits[k]);
  }
  return worst;
}

std::vector<Finding> FrameCheck::strains(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (const LimitedTriangle& t : limited_) {
    const auto corners = first_.mesh.faces.col(t.face);
    if (absent_[std::size_t(first_.point_body[corners[0]])]) continue;
    const StrainShare s = strain_share(t, points);
    // Room for the rounding of this check itself, so that what passes is proven.
    if (s.share < 1 - 1e-15L) continue;
    Finding& f = found.emplace_back(finding(FindingKind::strain, {{corners[0], corners[1], corners[2]}}));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} has a {} of {:.9g}, the limit is {:.9g}, near {}", name(f.cells[0]), s.what,
                         s.value, s.limit, coordinates(*f.position));
  }
  return found;
}

std::optional<double> FrameCheck::largest_strain_share(const Matrix3X& points) const {
  std::optional<double> largest;
  for (const LimitedTriangle& t : limited_) {
    if (absent_[std::size_t(first_.point_body[first_.mesh.faces(0, t.face)])]) continue;
    largest = std::max(largest.value_or(0), double(strain_share(t, points).share));
  }
  return largest;
}

void FrameCheck::set_absent(const std::vector<int>& bodies) {
  absent_.assign(first_.bodies.size(), false);
  for (const int body : bodies) {
    if (body < 0 || body >= int(absent_.size()))
      throw InputError("body {} is absent, but there are {}; the file is damaged", body, absent_.size());
    absent_[std::size_t(body)] = true;
  }
}

bool FrameCheck::bodies_tested(int a, int b) const {
  if (absent_[std::size_t(a)] || absent_[std::size_t(b)]) return false;
  if (prescribed_[a] && prescribed_[b]) return false;
  return ignored_.empty() ||
         !std::binary_search(ignored_.begin(), ignored_.end(), std::pair<int, int>(std::minmax(a, b)));
}

bool FrameCheck::tested(Index i, Index j) const {
  return bodies_tested(first_.point_body[i], first_.point_body[j]);
}

std::string FrameCheck::name(const std::vector<Index>& cell) const {
  static constexpr std::string_view kinds[] = {"point", "edge", "triangle", "tetrahedron"};
  std::vector<Index> local;
  for (Index i : cell) local.push_back(local_[i]);
  const std::string& body = first_.bodies[first_.point_body[cell[0]]].name;
  if (cell.size() == 1) return fmt::format("point {} of '{}'", local[0], body);
  return fmt::format("{} ({}) of '{}'", kinds[cell.size() - 1], fmt::join(local, ", "), body);
}

Finding FrameCheck::finding(FindingKind kind, std::vector<std::vector<Index>> cells) const {
  Finding result{.kind = kind};
  for (const auto& cell : cells) {
    const std::string& body = first_.bodies[first_.point_body[cell[0]]].name;
    if (result.bodies.empty() || result.bodies.back() != body) result.bodies.push_back(body);
    std::vector<Index>& element = result.elements.emplace_back();
    for (Index i : cell) element.push_back(local_[i]);
  }
  result.cells = std::move(cells);
  return result;
}

Finding FrameCheck::pair_finding(FindingKind kind, const exact::PrimitivePair& pair) const {
  return finding(kind, {cell_of(pair.a), cell_of(pair.b)});
}

Finding FrameCheck::tetrahedron_finding(FindingKind kind, Index t) const {
  const auto cell = first_.mesh.tetrahedra.col(t);
  return finding(kind, {{cell[0], cell[1], cell[2], cell[3]}});
}

std::vector<Finding> FrameCheck::not_finite(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (Index i = 0; i < points.cols(); ++i)
    if (!points.col(i).allFinite()) {
      Finding& f = found.emplace_back(finding(FindingKind::not_finite, {{i}}));
      f.text = fmt::format("{} is at {}, which is not finite", name({i}), coordinates(points.col(i)));
    }
  return found;
}

/// Points of obstacles, which are not looked at among themselves.
std::vector<char> FrameCheck::idle_points() const {
  std::vector<char> idle(std::size_t(first_.point_body.size()));
  for (Index p = 0; p < first_.point_body.size(); ++p)
    idle[std::size_t(p)] = prescribed_[std::size_t(first_.point_body[p])];
  return idle;
}

std::vector<Finding> FrameCheck::intersections(const Matrix3X& points, std::size_t limit) const {
  std::vector<Finding> found;
  for (const auto& pair : exact::find_intersections(
           points, surface_, [this](Index i, Index j) { return tested(i, j); }, limit, idle_points())) {
    Finding& f = found.emplace_back(pair_finding(FindingKind::intersection, pair));
    f.position = meeting_point(points, pair);
    f.text =
        fmt::format("{} intersects {} near {}", name(f.cells[0]), name(f.cells[1]), coordinates(*f.position));
  }
  if (found.size() < limit)
    for (Finding& f : folds(points, limit - found.size())) found.push_back(std::move(f));
  return found;
}

std::vector<Finding> FrameCheck::folds(const Matrix3X& points, std::size_t limit) const {
  const auto x = [&](Index i) -> Vector3 { return points.col(i); };
  std::vector<char> overlap(neighbours_.size());
  parallel_for(Index(neighbours_.size()), [&](Index i) {
    const auto& [a, b] = neighbours_[std::size_t(i)];
    const auto shared = [&](Index v) {
      return std::find(b.vertices.begin(), b.vertices.end(), v) != b.vertices.end();
    };
    // The vertices of each that the other has, then those that it has not.
    std::array<Index, 3> of_a = a.vertices, of_b = b.vertices;
    const auto end_a = of_a.begin() + a.size(), end_b = of_b.begin() + b.size();
    const auto common = std::stable_partition(of_a.begin(), end_a, shared) - of_a.begin();
    std::stable_partition(of_b.begin(), end_b, [&](Index v) {
      return std::find(of_a.begin(), of_a.begin() + common, v) != of_a.begin() + common;
    });
    if (common == a.size())
      overlap[i] = true;  // the same vertices
    else if (a.size() == 3)
      overlap[i] = exact::folded_triangles_overlap(x(of_a[0]), x(of_a[1]), x(of_a[2]), x(of_b[2]));
    else if (b.size() == 3)
      overlap[i] = exact::edge_enters_triangle(x(of_a[0]), x(of_a[1]), x(of_b[1]), x(of_b[2]));
    else
      overlap[i] = exact::folded_edges_overlap(x(of_a[0]), x(of_a[1]), x(of_b[1]));
  });
  std::vector<Finding> found;
  for (std::size_t i = 0; i < neighbours_.size() && found.size() < limit; ++i) {
    const auto& pair = neighbours_[i];
    if (!overlap[i] || !tested(pair.a.vertices[0], pair.b.vertices[0])) continue;
    Finding& f = found.emplace_back(pair_finding(FindingKind::intersection, pair));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} is folded onto its neighbour {} near {}", name(f.cells[0]), name(f.cells[1]),
                         coordinates(*f.position));
  }
  return found;
}

std::vector<Finding> FrameCheck::nested(const Matrix3X& points) const {
  std::vector<Finding> found;
  if (solid_faces_.empty()) return found;
  // Who is there may have changed since the lists were made.
  const auto there = [&](Index i) { return !absent_[std::size_t(first_.point_body[i])]; };
  std::vector<Index> queries;
  std::copy_if(piece_points_.begin(), piece_points_.end(), std::back_inserter(queries), there);
  std::vector<exact::Primitive> faces;
  std::vector<Index> some_point(std::size_t(solid_count_), -1);
  for (const exact::Primitive& f : solid_faces_) {
    if (!there(f.vertices[0])) continue;
    faces.push_back(f);
    some_point[std::size_t(solid_[f.vertices[0]])] = f.vertices[0];
  }
  const auto asked = [&](Index point, int solid) {
    return solid_[point] != solid && tested(point, some_point[std::size_t(solid)]);
  };
  for (const exact::Enclosed& e : exact::find_enclosed(points, faces, solid_, queries, asked)) {
    Finding& f = found.emplace_back(finding(FindingKind::nested, {{e.point}}));
    const std::string& solid =
        first_.bodies[std::size_t(first_.point_body[some_point[std::size_t(e.solid)]])].name;
    if (f.bodies[0] != solid) f.bodies.push_back(solid);
    f.position = points.col(e.point);
    f.text =
        fmt::format("{} is inside the solid '{}', at {}", name({e.point}), solid, coordinates(*f.position));
  }
  return found;
}

std::vector<Finding> FrameCheck::affine_images(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (const AffineBody& body : affine_) {
    if (absent_[std::size_t(body.body)] || prescribed_[body.body]) continue;
    const Vector3 o = points.col(body.corners[0]);
    Matrix3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = Vector3(points.col(body.corners[std::size_t(k) + 1])) - o;
    const double largest = points(Eigen::all, body.points).cwiseAbs().maxCoeff();
    // Corners that lie in a plane but for the rounding of their coordinates say nothing of which side is
    // which.
    const double longest = edges.colwise().norm().maxCoeff();
    const double rounding = 32 * unit_roundoff * (largest + longest) * longest * longest;
    if (!(edges.determinant() > rounding)) {
      Finding& f = found.emplace_back(finding(
          FindingKind::inversion, {{body.corners[0], body.corners[1], body.corners[2], body.corners[3]}}));
      f.position = o;
      f.text = fmt::format("the affine body '{}' is mirrored or flat (volume {:.3g} m³ of {}) near {}",
                           first_.bodies[std::size_t(body.body)].name, edges.determinant() / 6,
                           name(f.cells[0]), coordinates(o));
      continue;
    }
    // Rounded coordinates of the corners and of the point, with the weights they have in it.
    for (Index i = 0; i < Index(body.points.size()); ++i) {
      const Vector3 w = body.weights.col(i), x = points.col(body.points[std::size_t(i)]);
      const double off = (x - o - edges * w).norm();
      if (off <= 1e-9 * std::max(body.size, longest) + 1e-13 * largest * (1 + w.lpNorm<1>())) continue;
      Finding& f = found.emplace_back(finding(FindingKind::affine, {{body.points[std::size_t(i)]}}));
      f.position = x;
      f.distance = off;
      f.text = fmt::format("{} is {:.3g} m from where its affine body has it, at {}", name(f.cells[0]), off,
                           coordinates(x));
      break;  // one of them says it
    }
  }
  return found;
}

std::vector<Finding> FrameCheck::rigid_shapes(const Matrix3X& points) const {
  std::vector<Finding> found;
  for (const RigidBodies::Deformed& d : rigid_.deformed(points, absent_)) {
    Finding& f = found.emplace_back(finding(FindingKind::rigid, {{d.point}}));
    f.position = points.col(d.point);
    f.distance = d.off;
    const std::string& body = first_.bodies[std::size_t(d.body)].name;
    f.text =
        d.mirrored
            ? fmt::format("the rigid body '{}' is mirrored", body)
            : fmt::format("the rigid body '{}' is deformed: a distance of {} has changed by {:.3g} m, at {}",
                          body, name({d.point}), d.off, coordinates(*f.position));
  }
  return found;
}

void FrameCheck::add_collapsed(const Matrix3X& points, std::vector<Finding>& found) const {
  const auto there = [&](const exact::Primitive& p) {
    const auto body = std::size_t(first_.point_body[p.vertices[0]]);
    return !prescribed_[body] && !absent_[body];
  };
  std::vector<char> collapsed(surface_.faces.size());
  parallel_for(Index(surface_.faces.size()), [&](Index i) {
    const auto& v = surface_.faces[std::size_t(i)].vertices;
    collapsed[i] = exact::triangle_is_collapsed(points.col(v[0]), points.col(v[1]), points.col(v[2]));
  });
  const auto add = [&](const exact::Primitive& p, std::string_view what) {
    Finding& f = found.emplace_back(finding(FindingKind::collapse, {cell_of(p)}));
    f.position = points.col(p.vertices[0]);
    f.text = fmt::format("{} has no {}, at {}", name(f.cells[0]), what, coordinates(*f.position));
  };
  for (std::size_t i = 0; i < surface_.faces.size(); ++i)
    if (collapsed[i] && there(surface_.faces[i])) add(surface_.faces[i], "area");
  for (const exact::Primitive& s : surface_.segments)
    if (there(s) && exact::points_coincide(points.col(s.vertices[0]), points.col(s.vertices[1])))
      add(s, "length");
}

std::vector<Finding> FrameCheck::inversions(const Matrix3X& points) const {
  std::vector<char> inverted(tetrahedra_.size());
  const Tetrahedra& cells = first_.mesh.tetrahedra;
  parallel_for(Index(tetrahedra_.size()), [&](Index i) {
    const Index t = tetrahedra_[i];
    inverted[i] = exact::orientation(points.col(cells(0, t)), points.col(cells(1, t)),
                                     points.col(cells(2, t)), points.col(cells(3, t))) <= 0;
  });
  std::vector<Finding> found;
  for (std::size_t i = 0; i < tetrahedra_.size(); ++i) {
    if (!inverted[i]) continue;
    Finding& f = found.emplace_back(tetrahedron_finding(FindingKind::inversion, tetrahedra_[i]));
    f.position = points(Eigen::all, f.cells[0]).rowwise().mean();
    f.text = fmt::format("{} is inverted or flat (volume {:.3g} m³) near {}", name(f.cells[0]),
                         volume(points, cells, tetrahedra_[i]), coordinates(*f.position));
  }
  for (Finding& f : affine_images(points)) found.push_back(std::move(f));
  for (Finding& f : rigid_shapes(points)) found.push_back(std::move(f));
  add_collapsed(points, found);
  return found;
}

void FrameCheck::for_each_above(FunctionRef<void(const HalfSpace&, Index)> visit) const {
  for (const HalfSpace& plane : first_.half_spaces)
    for (Index i : used_points_)
      if (bodies_tested(plane.body, first_.point_body[i])) visit(plane, i);
}

std::vector<Finding> FrameCheck::below_half_spaces(const Matrix3X& points, double gap) const {
  std::vector<Finding> found;
  for_each_above([&](const HalfSpace& plane, Index i) {
    const Vector3 x = points.col(i);
    const double distance = plane.distance(points, i) / plane.normal.norm();
    const bool outside = exact::half_space_side(plane.origin_at(points), plane.normal, x) > 0;
    if (outside && distance >= gap) return;
    Finding& f = found.emplace_back(finding(outside ? FindingKind::gap : FindingKind::half_space, {{i}}));
    const std::string& ground = first_.bodies[plane.body].name;
    f.bodies.push_back(ground);
    f.position = x;
    f.distance = distance;
    f.text = outside ? fmt::format("{} is only {:.3g} m above '{}', at {}", name({i}), distance, ground,
                                   coordinates(x))
                     : fmt::format("{} is on or below '{}' (by {:.3g} m) at {}", name({i}), ground, -distance,
                                   coordinates(x));
  });
  return found;
}

std::vector<Finding> FrameCheck::gaps(const Matrix3X& points, double gap, std::size_t limit) const {
  std::vector<Finding> found;
  for (const Gap& g : find_gaps_below(
           points, surface_, gap, [this](Index i, Index j) { return tested(i, j); }, limit)) {
    Finding& f = found.emplace_back(pair_finding(FindingKind::gap, g.pair));
    f.position = meeting_point(points, g.pair);
    f.distance = g.distance;
    f.text = fmt::format("{} is only {:.3g} m from {}, near {}", name(f.cells[0]), g.distance,
                         name(f.cells[1]), coordinates(*f.position));
  }
  return found;
}

std::vector<Finding> FrameCheck::thin_above_half_spaces(const Matrix3X& points) const {
  std::vector<Finding> found;
  if (!has_thickness()) return found;
  for_each_above([&](const HalfSpace& plane, Index i) {
    const Vector3 x = points.col(i);
    const double distance = plane.distance(points, i) / plane.normal.norm();
    const double wanted = thickness(plane.body, first_.point_body[i]);
    if (!(distance > 0)) return;  // what is below is reported as that
    const Vector3 origin = plane.origin_at(points);
    const double rounding = 1e-14 * (x.lpNorm<1>() + origin.lpNorm<1>() + wanted);
    if (distance - wanted > rounding) return;
    if (distance - wanted > -rounding &&
        exact::separated_by(plane.normal, {x, x}, {origin, origin}, 0, wanted))
      return;
    Finding& f = found.emplace_back(finding(FindingKind::gap, {{i}}));
    const std::string& ground = first_.bodies[plane.body].name;
    f.bodies.push_back(ground);
    f.position = x;
    f.distance = distance;
    f.text = fmt::format("{} is only {:.6g} m above '{}', thickness keeps {:.6g} m, at {}", name({i}),
                         distance, ground, wanted, coordinates(x));
  });
  return found;
}

std::vector<Finding> FrameCheck::thin(const Matrix3X& points, std::size_t limit) const {
  std::vector<Finding> found = thin_above_half_spaces(points);
  if (!has_thickness()) return found;
  for (const Gap& g : find_gaps_below(
           points, surface_, margins_, [this](const exact::PrimitivePair&p) { return thickness(p); },
           [this](Index i, Index j) { return tested(i, j); }, limit)) {
    Finding& f = found.emplace_back(pair_finding(FindingKind::gap, g.pair));
    f.position = meeting_point(points, g.pair);
    f.distance = g.distance;
    f.text = fmt::format("{} is only {:.6g} m from {}, thickness keeps {:.6g} m, near {}", name(f.cells[0]),
                         g.distance, name(f.cells[1]), thickness(g.pair), coordinates(*f.position));
  }
  return found;
}

FrameCheck::PathFindings FrameCheck::path(const Matrix3X& from, const Matrix3X& to) const {
  PathFindings result;
  const auto tested_pair = [this](Index i, Index j) { return tested(i, j); };
  const auto gap_of = [this](const exact::PrimitivePair& p) { return thickness(p); };
  const PathProof proof = prove_apart(from, to, surface_, tested_pair, {margins_, gap_of});
  result.pairs = proof.pairs;
  for (const UnprovenPair& u : proof.unproven) {
    Finding& f = result.findings.emplace_back(
        pair_finding(u.gap > 0 ? FindingKind::path_gap : FindingKind::path_contact, u.pair));
    f.position = meeting_point((1 - u.time) * from + u.time * to, u.pair);
    f.text = fmt::format("{} and {} {} after {:.6g} of the way, near {}", name(f.cells[0]), name(f.cells[1]),
                         u.gap > 0 ? fmt::format("come closer than the {:.6g} m that thickness keeps, or "
                                                 "cannot be proven not to,",
                                                 u.gap)
                                   : "touch, or cannot be proven apart,",
                         u.time, coordinates(*f.position));
  }
  std::vector<Index> present_affine;
  for (Index i = 0; i < Index(affine_.size()); ++i)
    if (!absent_[std::size_t(affine_[std::size_t(i)].body)]) present_affine.push_back(i);
  for (const UnprovenVolume& u : find_unproven_volumes(from, to, affine_tetrahedra_, present_affine)) {
    const AffineBody& body = affine_[std::size_t(u.tetrahedron)];
    const auto& c = body.corners;
    Finding& f =
        result.findings.emplace_back(finding(FindingKind::path_inversion, {{c[0], c[1], c[2], c[3]}}));
    f.position = (1 - u.time) * from.col(c[0]) + u.time * to.col(c[0]);
    f.text = fmt::format(
        "the affine body '{}' is mirrored or flat, or cannot be proven not to be, after "
        "{:.6g} of the way, near {}",
        first_.bodies[std::size_t(body.body)].name, u.time, coordinates(*f.position));
  }
  const Tetrahedra& cells = first_.mesh.tetrahedra;
  for (const UnprovenVolume& u : find_unproven_volumes(from, to, cells, tetrahedra_)) {
    Finding& f =
        result.findings.emplace_back(tetrahedron_finding(FindingKind::path_inversion, u.tetrahedron));
    const Index corner = f.cells[0][0];
    f.position = (1 - u.time) * from.col(corner) + u.time * to.col(corner);
    f.text = fmt::format("{} inverts, or cannot be proven not to, after {:.6g} of the way, near {}",
                         name(f.cells[0]), u.time, coordinates(*f.position));
  }
  return result;
}

std::optional<double> FrameCheck::smallest_distance(const Matrix3X& points) const {
  double smallest = std::numeric_limits<double>::infinity();
  const auto gap = smallest_gap(points, surface_, 0.5 * typical_length(points, surface_),
                                [this](Index i, Index j) { return tested(i, j); });
  if (gap) smallest = gap->distance;
  for_each_above([&](const HalfSpace& plane, Index i) {
    smallest = std::min(smallest, plane.distance(points, i) / plane.normal.norm());
  });
  if (!std::isfinite(smallest)) return std::nullopt;
  return smallest;
}

std::optional<double> FrameCheck::smallest_volume_ratio(const Matrix3X& points,
                                                        const Matrix3X& reference) const {
  if (tetrahedra_.empty()) return std::nullopt;
  return parallel_min(Index(tetrahedra_.size()), std::numeric_limits<double>::infinity(), [&](Index i) {
    return volume(points, first_.mesh.tetrahedra, tetrahedra_[i]) /
           volume(reference, first_.mesh.tetrahedra, tetrahedra_[i]);
  });
}

std::optional<std::string> FrameCheck::difference(const Frame& frame) const {
  const Mesh& a = first_.mesh;
  const Mesh& b = frame.mesh;
  auto same = [](const auto& x, const auto& y) {
    return x.rows() == y.rows() && x.cols() == y.cols() && x == y;
  };
  if (a.points.cols() != b.points.cols())
    return fmt::format("{} points instead of {}", b.points.cols(), a.points.cols());
  if (!same(a.tetrahedra, b.tetrahedra)) return "other tetrahedra";
  if (first_.invertible_cells != frame.invertible_cells) return "other tetrahedra that may invert";
  if (!same(a.faces, b.faces)) return "other triangles";
  if (!same(first_.rest_shape, frame.rest_shape)) return "other strain limits";
  if (!same(a.edges, b.edges)) return "other segments";
  if (!same(a.vertices, b.vertices)) return "other free points";
  if (!same(first_.point_body, frame.point_body)) return "points of other bodies";
  if (const auto bodies = difference_of_bodies(frame)) return bodies;
  if (!std::ranges::equal(first_.half_spaces, frame.half_spaces, {}, &HalfSpace::carrier,
                          &HalfSpace::carrier))
    return "other half-spaces";
  return std::nullopt;
}

std::optional<std::string> FrameCheck::difference_of_bodies(const Frame& frame) const {
  if (!std::equal(first_.strain_limits.begin(), first_.strain_limits.end(), frame.strain_limits.begin(),
                  frame.strain_limits.end(), [](const FrameStrainLimit& x, const FrameStrainLimit& y) {
                    return x.body == y.body && x.woven == y.woven && x.limits == y.limits;
                  }))
    return "other strain limits";
  if (!std::equal(
          first_.bodies.begin(), first_.bodies.end(), frame.bodies.begin(), frame.bodies.end(),
          [](const FrameBody& x, const FrameBody& y) { return x.name == y.name && x.kind == y.kind; }))
    return "other bodies";
  if (!std::equal(first_.half_spaces.begin(), first_.half_spaces.end(), frame.half_spaces.begin(),
                  frame.half_spaces.end(), [](const HalfSpace& x, const HalfSpace& y) {
                    return x.origin == y.origin && x.normal == y.normal && x.body == y.body &&
                           (x.carrier >= 0) == (y.carrier >= 0);
                  }))
    return "other half-spaces";
  if (first_.thickness != frame.thickness || first_.self_reach != frame.self_reach ||
      first_.pair_thickness != frame.pair_thickness)
    return "another thickness";
  if (first_.ignored_pairs != frame.ignored_pairs) return "other pairs of bodies that may overlap";
  if (first_.allow_nested != frame.allow_nested) return "another word on bodies inside solids";
  return std::nullopt;
}

}  // namespace apart::verify
