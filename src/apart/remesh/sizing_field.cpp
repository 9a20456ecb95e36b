#include <apart/remesh/sizing_field.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// Of the squared distance at rest: what is farther apart is no contact that the field knows.
constexpr double close_share = 0.1;

}  // namespace

SizingField::SizingField(const SolvedStep& step, int body, const MeshEditor& editor, double longest_edge)
    : editor_(editor), longest_edge_(longest_edge) {
  const Model& model = step.problem.model;
  const Body& own = model.bodies[std::size_t(body)];
  q_ = step.nodes.middleCols(model.first_node[std::size_t(body)], own.node_count());
  nearest_ = Matrix3X::Zero(3, own.node_count());
  const BarrierContact& contact = step.problem.terms.contact;
  const CollisionSurface& surface = step.problem.terms.surface;
  const Matrix3X x = model.surface_map.positions(step.nodes);
  const Index pairs = Index(contact.active_set(x).contacts.size());
  for (Index i = 0; i < contact.term_count(); ++i) {
    const BarrierContact::NormalForce force = contact.normal_force(i, x);
    double at_rest = 0;
    if (i < pairs) {
      Vector3 apart = Vector3::Zero();
      for (int k = 0; k < force.points.size; ++k)
        apart += force.weights[k] * surface.rest.col(force.points.ids[std::size_t(k)]);
      at_rest = apart.norm();
    } else {
      const PlaneContact& c = contact.active_set(x).plane_contacts[std::size_t(i - pairs)];
      at_rest = surface.half_spaces[std::size_t(c.plane)].distance(surface.rest, c.vertex);
    }
    if (!(force.distance * force.distance < close_share * at_rest * at_rest)) continue;
    for (int k = 0; k < force.points.size; ++k) {
      const Index vertex = force.points.ids[std::size_t(k)];
      if (surface.vertex_body[std::size_t(vertex)] != body) continue;
      auto nearest =
          nearest_.col(model.surface_point[std::size_t(vertex)] - model.first_point[std::size_t(body)]);
      if (force.distance * nearest.norm() < 1) nearest = force.direction / force.distance;
    }
  }
}

double SizingField::size(Index a, Index b) const {
  const Vector3 edge = q_.col(a) - q_.col(b);
  double squared = edge.squaredNorm() / (longest_edge_ * longest_edge_);
  // Of the two ends the one in contact, or the mean of both.
  double sum = 0;
  int count = 0;
  for (const Index p : {a, b}) {
    if (nearest_.col(p).isZero(0)) continue;
    sum += std::pow(nearest_.col(p).dot(edge), 2);
    ++count;
  }
  if (count > 0) squared = 0.5 * (squared + sum / count);
  return std::sqrt(squared);
}

double SizingField::size_after_collapse(Index removed, Index kept) const {
  double largest = 0;
  for (const Index p : editor_.neighbours_of(removed))
    if (p != kept) largest = std::max(largest, size(kept, p));
  return largest;
}

}  // namespace apart
