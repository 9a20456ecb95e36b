#include <apart/simulation/model.hpp>

#include <apart/bodies/body_rules.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace apart {

namespace {

/// The surface of all bodies, as they are added one after the other.
struct AllSurfaces {
  AllSurfaces(const std::vector<Body>& bodies, PairTable settings) : pairs(std::move(settings)) {
    Index vertices = 0, faces = 0, segments = 0;
    for (const Body& b : bodies) {
      vertices += Index(b.surface_points.size());
      faces += Index(b.surface_faces.cols());
      segments += Index(b.free_segments.cols());
    }
    all_faces.resize(3, faces);
    all_segments.resize(2, segments);
    rest.resize(3, vertices);
  }

  void add(const Body& b, int number) {
    PairSettings self = pairs(number, number);
    self.spares_neighbours = true;
    pairs.set(number, number, self);
    std::vector<Index> vertex_of_point(b.mesh.point_count(), -1);
    for (const Index p : b.surface_points) {
      const Index vertex = Index(body_of_vertex.size());
      vertex_of_point[p] = vertex;
      rest.col(vertex) = b.mesh.points.col(p);
      body_of_vertex.push_back(number);
    }
    for (Index f = 0; f < b.surface_faces.cols(); ++f, ++face)
      for (int k = 0; k < 3; ++k) all_faces(k, face) = vertex_of_point[b.surface_faces(k, f)];
    for (Index e = 0; e < b.free_segments.cols(); ++e, ++segment)
      for (int k = 0; k < 2; ++k) all_segments(k, segment) = vertex_of_point[b.free_segments(k, e)];
    if (!b.half_space) return;
    half_spaces.push_back(*b.half_space);
    half_spaces.back().body = number;
    if (b.node_count() > 0) half_spaces.back().carrier = vertex_of_point[0];
  }

  CollisionSurface surface() && {
    return CollisionSurface(std::move(rest), std::move(all_faces), std::move(all_segments),
                            std::move(body_of_vertex), std::move(pairs), std::move(half_spaces));
  }

  PairTable pairs;

 private:
  Matrix3X rest;
  Faces all_faces;
  Edges all_segments;
  std::vector<int> body_of_vertex;
  std::vector<HalfSpace> half_spaces;
  Index face = 0, segment = 0;  ///< so far
};

/// Planar bodies of one plane see each other's edges there.
void mark_planes(const std::vector<Body>& bodies, CollisionSurface& surface) {
  if (std::ranges::none_of(bodies, [](const Body& b) { return b.planar.has_value(); })) return;
  std::map<double, int> planes;  // by z
  for (Index v = 0; v < surface.vertex_count(); ++v) {
    const bool planar = bodies[std::size_t(surface.vertex_body[std::size_t(v)])].planar.has_value();
    surface.vertex_plane.push_back(
        planar ? planes.try_emplace(surface.rest(2, v), int(planes.size())).first->second : -1);
  }
}

/// Contacts count by the area they stand for.
void weigh_contacts(std::vector<Body>& bodies, CollisionSurface& surface) {
  // Segments and points of bodies without a radius are as wide as contact reaches.
  std::vector<BodyGrain> grains;
  for (const Body& b : bodies)
    grains.push_back({b.planar       ? b.planar->depth
                      : b.radius > 0 ? 2 * b.radius
                                     : surface.pairs.max_reach(),
                      b.vertex_area});
  surface.weigh(grains);
  for (std::size_t b = 0; b < bodies.size(); ++b) bodies[b].vertex_area = surface.weights.mean_area(int(b));
}

/// Nodes, masses, maps and the size of all bodies together.
void add_nodes(Model& m) {
  m.initial_nodes.resize(3, m.node_count());
  m.initial_velocity.resize(3, m.node_count());
  m.point_map = LinearMap(m.node_count());
  m.surface_map = LinearMap(m.node_count());
  std::vector<Eigen::Triplet<double>> mass_entries;
  Aabb extent;
  for (std::size_t i = 0; i < m.bodies.size(); ++i) {
    const Body& b = m.bodies[i];
    const Index first = m.first_node[i];
    m.initial_nodes.middleCols(first, b.node_count()) = b.nodes;
    m.initial_velocity.middleCols(first, b.node_count()) = b.velocity;
    for (int j = 0; j < b.mass.outerSize(); ++j)
      for (Eigen::SparseMatrix<double>::InnerIterator it(b.mass, j); it; ++it)
        mass_entries.emplace_back(first + Index(it.row()), first + Index(it.col()), it.value());
    std::vector<Index> all_points(b.mesh.point_count());
    std::iota(all_points.begin(), all_points.end(), 0);
    m.point_map.append(b.point_map, all_points, first);
    m.surface_map.append(b.point_map, b.surface_points, first);
    for (const Index p : b.surface_points) m.surface_point.push_back(m.first_point[i] + p);
    extent.include(extent_of(b));
  }
  if (m.node_count() == 0)
    throw InputError(
        "the scene has nothing that can move; add a body of type volume, planar, shell, affine, rigid, "
        "rod or particles");
  m.size = extent.diagonal();
  m.mass.resize(m.node_count(), m.node_count());
  m.mass.setFromTriplets(mass_entries.begin(), mass_entries.end());
}

/// The members of the sets of bodies and attachments.
void resolve_sets(Model& m) {
  for (const Body& b : m.bodies) m.acting.push_back(acting_parts(b));
  for (const Joint& joint : m.joints)
    for (const JointSide& side : joint.sides)
      ensure(
          joint.kind == JointKind::ball || side.body < 0 || moves_as_whole(m.bodies[std::size_t(side.body)]),
          "Model: a joint other than a ball needs bodies that move as a whole");
  for (const Attachment& a : m.attachments) {
    m.attached.push_back(attached_springs(a, m.bodies));
    for (AttachedSpring& spring : m.attached.back()) {
      spring.point = m.vertex_of(a.body, spring.point);
      for (Index& p : spring.others)
        if (p >= 0) p = m.vertex_of(a.other, p);
    }
  }
}

}  // namespace

Model::Model(std::vector<Body> body_list, PairTable pairs, SimulationOptions simulation_options,
             std::vector<Attachment> attachment_list, std::vector<Joint> joint_list)
    : bodies(std::move(body_list)),
      options(std::move(simulation_options)),
      attachments(std::move(attachment_list)),
      joints(std::move(joint_list)) {
  ensure(pairs.body_count() == int(bodies.size()), "Model: one row of pair settings per body");
  first_node = first_point = {0};
  for (const Body& b : bodies) {
    first_node.push_back(first_node.back() + b.node_count());
    first_point.push_back(first_point.back() + b.mesh.point_count());
  }
  chart = Chart(node_count());
  first_unknown = {0};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].chart) chart.add(first_node[i], bodies[i].chart);
    first_unknown.push_back(chart.unknown_count() - (node_count() - first_node[i + 1]));
  }
  const bool by_area = options.contact.formulation == ContactFormulation::convergent;
  AllSurfaces surfaces(bodies, std::move(pairs));
  add_nodes(*this);
  for (std::size_t i = 0; i < bodies.size(); ++i) surfaces.add(bodies[i], int(i));
  if (by_area)
    surfaces.pairs.normalise_stiffness();
  else if (!options.contact.barrier_stiffness && options.contact.stiffness_rule == StiffnessRule::adaptive)
    surfaces.pairs.equalise_stiffness();
  surface = std::move(surfaces).surface();
  mark_planes(bodies, surface);
  if (by_area) weigh_contacts(bodies, surface);
  resolve_sets(*this);
}

double Attachment::rest_length(const AttachedSpring& spring, double time) const {
  if (!(closing > 0)) return spring.length;
  const double done = std::clamp((time - when.from) / closing, 0.0, 1.0);
  return (1 - done) * spring.start_length + done * spring.length;
}

void attach(Attachment& attachment, std::vector<AttachedSpring> springs, std::vector<Body>& bodies,
            const std::string& name) {
  std::vector<Index> points, other_points;
  for (const AttachedSpring& s : springs) {
    points.push_back(s.point);
    std::ranges::copy_if(s.others, std::back_inserter(other_points), [](Index p) { return p >= 0; });
  }
  BodySets &sets = bodies[std::size_t(attachment.body)].sets,
           &other_sets = bodies[std::size_t(attachment.other)].sets;
  attachment.points = sets.add_points(name, std::move(points));
  attachment.other_points = other_sets.add_points(name + ", other ends", std::move(other_points));
  const auto place_in = [](const std::vector<Index>& members, Index point) {
    return Index(std::ranges::lower_bound(members, point) - members.begin());
  };
  for (AttachedSpring& s : springs) {
    s.point = place_in(sets[attachment.points], s.point);
    for (Index& p : s.others)
      if (p >= 0) p = place_in(other_sets[attachment.other_points], p);
  }
  attachment.springs = std::move(springs);
}

std::vector<AttachedSpring> attached_springs(const Attachment& attachment, const std::vector<Body>& bodies) {
  const std::vector<Index>& points = bodies[std::size_t(attachment.body)].sets[attachment.points];
  const std::vector<Index>& other_points =
      bodies[std::size_t(attachment.other)].sets[attachment.other_points];
  const auto member = [](const std::vector<Index>& members, Index place) {
    ensure(place >= 0 && std::size_t(place) < members.size(), "Attachment: a spring has lost its point");
    return members[std::size_t(place)];
  };
  std::vector<AttachedSpring> springs = attachment.springs;
  for (AttachedSpring& s : springs) {
    s.point = member(points, s.point);
    for (Index& p : s.others)
      if (p >= 0) p = member(other_points, p);
  }
  return springs;
}

std::shared_ptr<const Model> with_shapes(const Model& model, std::map<int, BodyShape> shapes,
                                         Index topology) {
  std::vector<Body> bodies = model.bodies;
  for (auto& [b, shape] : shapes) {
    Body& body = bodies[std::size_t(b)];
    body = with_shape(body, std::move(shape));
  }
  const auto check = [&](int b, PointSet set) {
    const Body& body = bodies[std::size_t(b)];
    if (body.sets[set].size() != model.bodies[std::size_t(b)].sets[set].size() ||
        !std::ranges::includes(body.surface_points, body.sets[set]))
      throw InputError("body '{}': its mesh lacks points that something is attached to", body.name);
  };
  for (const Attachment& a : model.attachments) {
    check(a.body, a.points);
    check(a.other, a.other_points);
  }
  for (const Joint& joint : model.joints)
    for (const JointSide& side : joint.sides)
      if (side.weights.size() > 0 &&
          bodies[std::size_t(side.body)].sets[side.points].size() != std::size_t(side.weights.size()))
        throw InputError("body '{}': its mesh has not all points that joint '{}' holds",
                         bodies[std::size_t(side.body)].name, joint.name);
  auto result = std::make_shared<Model>(std::move(bodies), model.surface.pairs, model.options,
                                        model.attachments, model.joints);
  result->topology = topology;
  result->remesher = model.remesher;
  return result;
}

Index Model::find_vertex(int body, Index point) const {
  // Vertices stand in the order of bodies and of their surface points: `surface_point` ascends.
  const Index wanted = first_point[std::size_t(body)] + point;
  const auto found = std::lower_bound(surface_point.begin(), surface_point.end(), wanted);
  return found != surface_point.end() && *found == wanted ? Index(found - surface_point.begin()) : -1;
}

Index Model::vertex_of(int body, Index point) const {
  const Index vertex = find_vertex(body, point);
  ensure(vertex >= 0, "Model::vertex_of: the point is inside the body");
  return vertex;
}

}  // namespace apart
