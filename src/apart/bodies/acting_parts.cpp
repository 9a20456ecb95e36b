#include <apart/bodies/acting_parts.hpp>

#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/basis/quadrature.hpp>
#include <apart/core/error.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <map>

namespace apart {

namespace {

/// The members of a set, all of which must be less than `count`.
template <SetKind kind>
const std::vector<Index>& checked_members(const Body& body, SetHandle<kind> set, Eigen::Index count) {
  const std::vector<Index>& members = body.sets[set];
  ensure(members.empty() || (members.front() >= 0 && members.back() < count),
         "ActingParts: a set has members that its body does not have");
  return members;
}

template <class Cells>
Cells chosen_columns(const Cells& cells, const std::vector<Index>& columns) {
  Cells result(cells.rows(), Eigen::Index(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) result.col(Eigen::Index(i)) = cells.col(columns[i]);
  return result;
}

Faces facets_of(const Body& body, FacetSet set) {
  return chosen_columns(body.surface_faces, checked_members(body, set, body.surface_faces.cols()));
}

Edges segments_of(const Body& body, SegmentSet set) {
  return chosen_columns(body.free_segments, checked_members(body, set, body.free_segments.cols()));
}

/// How much of the area of some facets, and of the segments of a planar body, each point of the mesh stands
/// for [m²].
VectorX exposed_area(const Body& body, FacetSet set, SegmentSet segments) {
  VectorX area = VectorX::Zero(body.mesh.point_count());
  const Faces facets = facets_of(body, set);
  const Matrix3X& x = body.mesh.points;
  const Edges sides = segments_of(body, segments);
  for (const auto& s : sides.colwise())
    for (const int p : s) area[p] += 0.5 * (x.col(s[1]) - x.col(s[0])).norm() * body.planar.value().depth;
  for (Index f = 0; f < facets.cols(); ++f) {  // a third of each triangle to each corner
    const auto c = facets.col(f);
    const Vector3 normal = (x.col(c[1]) - x.col(c[0])).cross(x.col(c[2]) - x.col(c[0]));
    for (int k = 0; k < 3; ++k) area[c[k]] += normal.norm() / 6;
  }
  return area;
}

}  // namespace

std::vector<Index> nodes_of(const Body& body, PointSet set) {
  std::vector<Index> nodes;
  const bool has_own_surface = !body.mesh.curved.empty();
  for (const Index p : checked_members(body, set, body.mesh.point_count())) {
    const std::span<const Influence> influences = body.point_map.influences(p);
    // A point between nodes would take nodes along that are not in the set.
    if (has_own_surface && influences.size() > 1) continue;
    for (const Influence& influence : influences) nodes.push_back(influence.node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::vector<ScriptedPart> scripted_parts(const Body& body) {
  std::vector<ScriptedPart> parts;
  const auto is_shared = [&](int group) {
    return group >= 0 && std::ranges::count(body.scripts, group, &Script::group) > 1;
  };
  std::vector<std::pair<int, std::vector<unsigned>>> given;  // per group: the axes of each node
  for (std::size_t i = 0; i < body.scripts.size(); ++i) {
    const Script& script = body.scripts[i];
    std::vector<unsigned>* taken = nullptr;
    if (is_shared(script.group)) {
      auto found = std::ranges::find(given, script.group, [](const auto& entry) { return entry.first; });
      if (found == given.end())
        found = given.insert(
            given.end(), {script.group, std::vector<unsigned>(static_cast<std::size_t>(body.node_count()))});
      taken = &found->second;
    }
    const unsigned axes =
        unsigned(script.axes[0]) | unsigned(script.axes[1]) << 1 | unsigned(script.axes[2]) << 2;
    std::array<std::vector<Index>, 8> by_axes;
    for (const Index node : nodes_of(body, script.points)) {
      const unsigned remaining = taken ? axes & ~(*taken)[std::size_t(node)] : axes;
      if (taken) (*taken)[std::size_t(node)] |= axes;
      by_axes[remaining].push_back(node);
    }
    for (unsigned k = 1; k < 8; ++k)
      if (!by_axes[k].empty())
        parts.push_back({i, std::move(by_axes[k]), {(k & 1) != 0, (k & 2) != 0, (k & 4) != 0}});
  }
  return parts;
}

namespace {

/// Makes the points of faces of the cells of one body.
class CurvedFaceMaker {
 public:
  /// `exact`: degree of the polynomials on a face that its points integrate exactly.
  CurvedFaceMaker(const Body& body, int exact)
      : cells_(*body.elastic->lagrange),
        cell_of_face_(body.elastic->cell_of_face),
        basis_(cells_.degree),
        shape_(cells_.shape_degree),
        rule_(triangle_quadrature(exact)) {}

  /// One face from some triangles on it.
  CurvedFace make(const std::vector<Index>& triangles) const {
    CurvedFace face;
    const Index cell = cell_of_face_[std::size_t(triangles[0])];
    const Matrix3X lattice = basis_.nodes();
    const Eigen::Array4d on = barycentric(cells_.corners_of_face[std::size_t(triangles[0])].rowwise().mean());
    std::vector<Index> used;
    for (Index a = 0; a < basis_.node_count(); ++a)
      if (((barycentric(lattice.col(a)) < 1e-9) || (on > 1e-9)).all()) used.push_back(a);
    for (const Index a : used) face.nodes.push_back(cells_.nodes(a, cell));
    for (const Matrix3& corners : pieces(triangles, on)) {
      const Vector3 s = corners.col(1) - corners.col(0), t = corners.col(2) - corners.col(0);
      for (Index k = 0; k < rule_.size(); ++k)
        face.points.push_back(point(cell, used, {corners.col(0), s, t}, k));
    }
    return face;
  }

 private:
  struct Plane {
    Vector3 origin, s, t;
  };
  static Eigen::Array4d barycentric(const Vector3& xi) { return {1 - xi.sum(), xi[0], xi[1], xi[2]}; }
  /// Normal of a triangle, twice as long as its area.
  static Vector3 area(const Matrix3& corners) {
    return (corners.col(1) - corners.col(0)).cross(corners.col(2) - corners.col(0));
  }

  /// The triangles, or the whole face if they cover it. `on`: barycentric coordinates of a point on it.
  std::vector<Matrix3> pieces(const std::vector<Index>& triangles, const Eigen::Array4d& on) const {
    std::vector<Matrix3> result;
    Vector3 sum = Vector3::Zero();
    for (const Index triangle : triangles) {
      result.push_back(cells_.corners_of_face[std::size_t(triangle)]);
      sum += area(result.back());
    }
    Matrix3 whole;
    const Eigen::Matrix<double, 3, 4> reference{{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int k = 0, n = 0; k < 4; ++k)
      if (on[k] > 1e-9) whole.col(n++) = reference.col(k);
    if (area(whole).dot(sum) < 0) whole.col(0).swap(whole.col(1));
    if ((area(whole) - sum).norm() < 1e-9) result = {whole};
    return result;
  }

  CurvedFace::Point point(Index cell, const std::vector<Index>& used, const Plane& on, Index k) const {
    const Vector3 xi = on.origin + rule_.points(0, k) * on.s + rule_.points(1, k) * on.t;
    const Matrix3X gradients = basis_.gradients(xi);
    CurvedFace::Point result;
    result.weight = rule_.weights[k];
    result.values = basis_.values(xi)(used);
    result.slopes_s = (gradients.transpose() * on.s)(used);
    result.slopes_t = (gradients.transpose() * on.t)(used);
    if (cells_.offset.cols() > 0) {
      const auto offset = cells_.offset.middleCols(cell * shape_.node_count(), shape_.node_count());
      const Matrix3 slope = offset * shape_.gradients(xi).transpose();
      result.offset = offset * shape_.values(xi);
      result.offset_s = slope * on.s;
      result.offset_t = slope * on.t;
    }
    return result;
  }

  const LagrangeCells& cells_;
  const std::vector<Index>& cell_of_face_;
  LagrangeTetrahedron basis_, shape_;
  Quadrature rule_;
};

bool has_curved_boundary(const Body& body) {
  return body.elastic && body.elastic->lagrange && !body.elastic->lagrange->corners_of_face.empty();
}

std::vector<CurvedFace> curved_faces_with(const Body& body, FacetSet set, int exact) {
  ensure(has_curved_boundary(body), "curved_faces: the surface is no boundary of curved cells");
  const LagrangeCells& cells = *body.elastic->lagrange;
  // By cell and the corner opposite of the face.
  std::map<std::pair<Index, int>, std::vector<Index>> by_face;
  for (const Index f : checked_members(body, set, body.surface_faces.cols())) {
    const Vector3 middle = cells.corners_of_face[std::size_t(f)].rowwise().mean();
    int opposite = 0;
    Eigen::Array4d(1 - middle.sum(), middle[0], middle[1], middle[2]).minCoeff(&opposite);
    by_face[{body.elastic->cell_of_face[std::size_t(f)], opposite}].push_back(f);
  }
  const CurvedFaceMaker maker(body, exact);
  std::vector<CurvedFace> faces;
  for (const auto& [face, triangles] : by_face) faces.push_back(maker.make(triangles));
  return faces;
}

/// Where a traction on faces of curved cells is summed.
std::vector<LoadedPart::Sample> traction_samples(const Body& body, FacetSet set) {
  const LagrangeCells& cells = *body.elastic->lagrange;
  // The area of a curved face is no polynomial, nor need the traction be: some degrees more.
  const int exact = cells.degree + std::max(4 * (cells.shape_degree - 1), 4);
  std::vector<LoadedPart::Sample> samples;
  for (const CurvedFace& face : curved_faces_with(body, set, exact))
    for (const CurvedFace::Point& k : face.points) {
      Vector3 x = k.offset, s = k.offset_s, t = k.offset_t;
      for (std::size_t a = 0; a < face.nodes.size(); ++a) {
        const Vector3 q = body.nodes.col(face.nodes[a]);
        x += k.values[Index(a)] * q;
        s += k.slopes_s[Index(a)] * q;
        t += k.slopes_t[Index(a)] * q;
      }
      LoadedPart::Sample& sample = samples.emplace_back(LoadedPart::Sample{x, {}});
      const double area = k.weight * s.cross(t).norm();
      for (std::size_t a = 0; a < face.nodes.size(); ++a)
        sample.area.push_back({face.nodes[a], area * k.values[Index(a)]});
    }
  return samples;
}

}  // namespace

std::vector<CurvedFace> curved_faces(const Body& body, FacetSet set) {
  return curved_faces_with(body, set, 3 * body.elastic->lagrange->shape_degree - 2);  // for x·(x_s × x_t)
}

LoadedPart loaded_part(const Body& body, const Load& load) {
  LoadedPart part;
  switch (load.kind) {
    case Load::Kind::acceleration:
      part.points = nodes_of(body, load.points);
      break;
    case Load::Kind::force:
      part.points = checked_members(body, load.points, body.mesh.point_count());
      part.weights = VectorX::Ones(Index(part.points.size()));
      break;
    case Load::Kind::traction: {
      if (has_curved_boundary(body)) {
        part.samples = traction_samples(body, load.facets);
        break;
      }
      const VectorX area = exposed_area(body, load.facets, load.segments);
      for (Index p = 0; p < area.size(); ++p)
        if (area[p] != 0) part.points.push_back(p);
      part.weights = area(part.points);
    }
  }
  return part;
}

ActingParts acting_parts(const Body& body) {
  ActingParts parts;
  parts.scripted = scripted_parts(body);
  for (const Load& load : body.loads) parts.loads.push_back(loaded_part(body, load));
  for (const Pressure& p : body.pressures) {
    const bool curved = has_curved_boundary(body);
    parts.pressures.push_back(curved ? Faces(3, 0) : facets_of(body, p.facets));
    parts.segment_pressures.push_back(segments_of(body, p.segments));
    parts.curved_pressures.push_back(curved ? curved_faces(body, p.facets) : std::vector<CurvedFace>{});
  }
  for (const Wind& wind : body.winds)
    parts.windwards.push_back({facets_of(body, wind.facets), segments_of(body, wind.segments),
                               checked_members(body, wind.points, body.mesh.point_count())});
  return parts;
}

}  // namespace apart
