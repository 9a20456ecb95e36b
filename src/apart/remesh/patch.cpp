#include <apart/remesh/patch.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/remesh/field_transfer.hpp>
#include <apart/solver/newton.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace apart {

namespace {

// Newton iterations of a trial: the potential of a patch without contact is nearly quadratic. [thesis 6.3]
constexpr int iterations_without_contact = 2, iterations_in_contact = 5;
// How far beyond the reach of contact surfaces are part of a patch, in lengths of its longest edge.
constexpr double contact_margin = 0.25;

template <class List>
Index place_in(const List& list, Index item) {
  const auto found = std::ranges::lower_bound(list, item);
  return found != list.end() && *found == item ? Index(found - list.begin()) : -1;
}

}  // namespace

std::vector<Index> points_around(const VolumeEditor& editor, Index a, Index b) {
  std::set<Index> points;
  for (const Index c : editor.cells_of_edge(a, b))
    for (const Index p : editor.cell(c).points) points.insert(p);
  return {points.begin(), points.end()};
}

PatchMesh patch_mesh(const VolumeEditor& editor, const std::vector<Index>& around) {
  std::set<Index> cells, points;
  for (const Index p : around)
    for (const Index c : editor.cells_of(p)) cells.insert(c);
  for (const Index c : cells) points.insert(editor.cell(c).points.begin(), editor.cell(c).points.end());
  PatchMesh mesh;
  mesh.points.assign(points.begin(), points.end());
  for (const Index p : mesh.points) mesh.moves.push_back(std::ranges::find(around, p) != around.end());
  mesh.cells.resize(4, Index(cells.size()));
  std::vector<std::array<Index, 3>> facets;
  Index next = 0;
  for (const Index c : cells) {
    const EditedCell& cell = editor.cell(c);
    for (int k = 0; k < 4; ++k) mesh.cells(k, next) = place_in(mesh.points, cell.points[std::size_t(k)]);
    mesh.substance.push_back(cell.substance);
    ++next;
  }
  mesh.sets = editor.sets_of(mesh.points);
  const Faces sides = boundary_faces(mesh.cells);
  std::vector<std::vector<Index>> members(mesh.sets.list(SetKind::facets).size());
  for (const auto& side : sides.colwise()) {
    const std::array<Index, 3> facet = {mesh.points[std::size_t(side[0])], mesh.points[std::size_t(side[1])],
                                        mesh.points[std::size_t(side[2])]};
    const std::vector<int>* sets = editor.facet_sets(facet);
    if (!sets) continue;
    for (const int s : *sets) members[std::size_t(s)].push_back(Index(facets.size()));
    facets.push_back({side[0], side[1], side[2]});
  }
  mesh.facets.resize(3, Index(facets.size()));
  for (std::size_t f = 0; f < facets.size(); ++f)
    mesh.facets.col(Index(f)) << facets[f][0], facets[f][1], facets[f][2];
  for (std::size_t s = 0; s < members.size(); ++s)
    mesh.sets.replace(SetKind::facets, s, std::move(members[s]));
  return mesh;
}

/// Primitives of the collision surface near a patch that are not its own, in vertices of the surface.
struct PatchTrial::Nearby {
  std::vector<Index> faces;  ///< of the collision surface
  std::vector<std::array<Index, 2>> segments;
  std::vector<Index> vertices;  ///< of bodies that have other primitives than faces
  bool contact = false;         ///< the patch has a surface, and something is near it
};

/// One side of the comparison.
struct PatchTrial::Part {
  std::shared_ptr<const Model> model;
  State state;
  TimeStep step;
  Matrix3X nodes;  ///< where the trial begins [m]
  Eigen::Array<bool, 3, Eigen::Dynamic> free;
  bool contact = false;
};

PatchTrial::PatchTrial(const SolvedStep& step, int body, const std::vector<char>& pinned)
    : step_(step), body_(body), pinned_(pinned) {
  const LinearMap& map = step.problem.model.surface_map;
  x_ = map.positions(step.nodes);
  x_before_ = map.positions(step.before.nodes);
  v_before_ = map.push_forward(step.before.velocity);
}

PatchTrial::Nearby PatchTrial::nearby(const PatchMesh& before) const {
  Nearby near;
  if (before.facets.cols() == 0) return near;
  const Model& model = step_.problem.model;
  const CollisionSurface& surface = model.surface;
  const Index first = model.first_node[std::size_t(body_)],
              first_point = model.first_point[std::size_t(body_)];
  Aabb box;
  double longest = 0;
  std::set<std::array<Index, 3>> own;
  for (const auto& f : before.facets.colwise()) {
    std::array<Index, 3> facet;
    for (int k = 0; k < 3; ++k) {
      facet[std::size_t(k)] = before.points[std::size_t(f[k])];
      const Vector3 p = step_.nodes.col(first + facet[std::size_t(k)]),
                    q = step_.nodes.col(first + before.points[std::size_t(f[(k + 1) % 3])]);
      box.include(p);
      longest = std::max(longest, (p - q).norm());
    }
    std::ranges::sort(facet);
    own.insert(facet);
  }
  const double margin = surface.pairs.max_reach() + contact_margin * longest;
  box.lower.array() -= margin;
  box.upper.array() += margin;
  const auto is_near = [&](auto vertices) {
    Vector3 lower = x_.col(vertices[0]), upper = lower;
    for (const Index v : vertices) {
      lower = lower.cwiseMin(x_.col(v));
      upper = upper.cwiseMax(x_.col(v));
    }
    return (lower.array() <= box.upper.array()).all() && (box.lower.array() <= upper.array()).all();
  };
  const auto enabled = [&](Index v) {
    return surface.pairs(body_, surface.vertex_body[std::size_t(v)]).enabled;
  };
  for (Index f = 0; f < surface.faces.cols(); ++f) {
    std::array<Index, 3> facet = {surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)};
    if (!enabled(facet[0]) || !is_near(facet)) continue;
    if (surface.vertex_body[std::size_t(facet[0])] == body_) {
      for (Index& v : facet) v = model.surface_point[std::size_t(v)] - first_point;
      std::ranges::sort(facet);
      if (own.contains(facet)) continue;
    }
    near.faces.push_back(f);
  }
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.surface_points.empty() || (body.free_segments.cols() == 0 && body.surface_faces.cols() > 0))
      continue;
    for (const Index p : body.surface_points) {
      const Index v = model.vertex_of(int(b), p);
      if (enabled(v) && is_near(std::array{v})) near.vertices.push_back(v);
    }
    for (Index e = 0; e < body.free_segments.cols(); ++e) {
      const std::array<Index, 2> ends = {model.vertex_of(int(b), body.free_segments(0, e)),
                                         model.vertex_of(int(b), body.free_segments(1, e))};
      if (enabled(ends[0]) && is_near(ends)) near.segments.push_back(ends);
    }
  }
  near.contact = true;
  return near;
}

namespace {

/// Collects what of one body is near a patch: its points are vertices of the collision surface.
struct NearSurface {
  std::vector<Index> points;  ///< of each: its vertex
  std::map<Index, Index> place;
  std::vector<std::array<Index, 3>> faces;
  std::vector<std::array<Index, 2>> segments;
  Index place_of(Index vertex) {
    const auto [at, is_new] = place.emplace(vertex, Index(points.size()));
    if (is_new) points.push_back(vertex);
    return at->second;
  }
};

/// A body that does not move, of what is near.
Body fixed_body(const Body& whole, const NearSurface& near, const Matrix3X& rest) {
  Body body;
  body.name = whole.name;
  body.kind = whole.kind;
  body.half_space = whole.half_space;
  body.radius = whole.radius;
  body.encloses_volume = whole.encloses_volume;
  body.presence = whole.presence;
  body.nodes.resize(3, Index(near.points.size()));
  for (std::size_t i = 0; i < near.points.size(); ++i) body.nodes.col(Index(i)) = rest.col(near.points[i]);
  body.mesh.points = body.nodes;
  body.velocity = Matrix3X::Zero(3, body.node_count());
  body.point_map = LinearMap::identity(body.node_count());
  body.surface_faces.resize(3, Index(near.faces.size()));
  for (std::size_t f = 0; f < near.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) body.surface_faces(k, Index(f)) = near.faces[f][std::size_t(k)];
  body.free_segments.resize(2, Index(near.segments.size()));
  for (std::size_t e = 0; e < near.segments.size(); ++e)
    for (int k = 0; k < 2; ++k) body.free_segments(k, Index(e)) = near.segments[e][std::size_t(k)];
  for (Index p = 0; p < body.node_count(); ++p) body.surface_points.push_back(p);
  return body;
}

/// The patch as a body, and after its own points those of the rest of the surface that is near.
Body patch_body(const Body& whole, const PatchMesh& patch, const Matrix3X& rest, const Matrix3X& rest_of_near,
                const Faces& near_faces) {
  Mesh mesh;
  mesh.points = rest;
  mesh.tetrahedra = patch.cells;
  CellSubstances substances;
  for (std::size_t k = 0; k < whole.elastic->materials.size(); ++k)
    substances.substances.push_back({whole.elastic->materials[k], whole.elastic->density[k]});
  substances.of_cell = patch.substance;
  Body body = make_volume(whole.name, std::move(mesh), substances, MassKind::consistent);
  const Index own = body.node_count(), all = own + Index(rest_of_near.cols());
  body.nodes.conservativeResize(3, all);
  body.nodes.rightCols(rest_of_near.cols()) = rest_of_near;
  body.mesh.points = body.nodes;
  body.velocity = Matrix3X::Zero(3, all);
  body.point_map = LinearMap::identity(all);
  body.mass.conservativeResize(all, all);
  body.surface_faces.resize(3, patch.facets.cols() + near_faces.cols());
  body.surface_faces << patch.facets, near_faces;
  std::set<Index> points;
  for (const int p : body.surface_faces.reshaped()) points.insert(p);
  body.surface_points.assign(points.begin(), points.end());
  body.sets = patch.sets;
  body.loads = whole.loads;
  body.pressures = whole.pressures;
  body.winds = whole.winds;
  body.damping = whole.damping;
  body.presence = whole.presence;
  return body;
}

}  // namespace

PatchTrial::Part PatchTrial::part(const PatchMesh& mesh, const Nearby& near) const {
  const StepProblem& problem = step_.problem;
  const Model& model = problem.model;
  const CollisionSurface& surface = model.surface;
  const std::size_t which = std::size_t(body_);
  const Body& whole = model.bodies[which];
  const Index first = model.first_node[which], first_point = model.first_point[which];

  // What is near, by body; of this one, points of the patch are not taken twice.
  std::vector<NearSurface> around(model.bodies.size());
  std::vector<Index> own_vertices;  ///< of this body's points beyond the patch
  std::map<Index, Index> own_place;
  std::vector<std::array<int, 3>> own_faces;
  const auto own_place_of = [&](Index vertex) {
    if (const Index k = place_in(mesh.points, model.surface_point[std::size_t(vertex)] - first_point); k >= 0)
      return k;
    const auto [at, is_new] = own_place.emplace(vertex, Index(mesh.points.size() + own_vertices.size()));
    if (is_new) own_vertices.push_back(vertex);
    return at->second;
  };
  for (const Index f : near.faces) {
    const int b = surface.vertex_body[std::size_t(surface.faces(0, f))];
    std::array<int, 3> face;
    for (int k = 0; k < 3; ++k)
      face[std::size_t(k)] = b == body_ ? own_place_of(surface.faces(k, f))
                                        : around[std::size_t(b)].place_of(surface.faces(k, f));
    if (b == body_)
      own_faces.push_back(face);
    else
      around[std::size_t(b)].faces.push_back(face);
  }
  for (const auto& [a, b] : near.segments) {
    NearSurface& other = around[std::size_t(surface.vertex_body[std::size_t(a)])];
    other.segments.push_back({other.place_of(a), other.place_of(b)});
  }
  for (const Index v : near.vertices) around[std::size_t(surface.vertex_body[std::size_t(v)])].place_of(v);
  for (const HalfSpace& plane : surface.half_spaces)
    if (plane.carrier >= 0) around[std::size_t(plane.body)].place_of(plane.carrier);

  // A value for each point of the patch: of the body, or the mean of the ends of an edge.
  const auto of_patch = [&](const Matrix3X& field) {
    Matrix3X result(3, Index(mesh.points.size()));
    for (std::size_t i = 0; i < mesh.points.size(); ++i)
      result.col(Index(i)) =
          mesh.midpoint_of && i + 1 == mesh.points.size()
              ? Vector3(0.5 * (field.col((*mesh.midpoint_of)[0]) + field.col((*mesh.midpoint_of)[1])))
              : Vector3(field.col(mesh.points[i]));
    return result;
  };
  Faces faces(3, Index(own_faces.size()));
  for (std::size_t f = 0; f < own_faces.size(); ++f)
    for (int k = 0; k < 3; ++k) faces(k, Index(f)) = own_faces[f][std::size_t(k)];
  Matrix3X rest_of_own(3, Index(own_vertices.size()));
  for (std::size_t i = 0; i < own_vertices.size(); ++i)
    rest_of_own.col(Index(i)) = surface.rest.col(own_vertices[i]);
  std::vector<Body> bodies;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    bodies.push_back(b == which ? patch_body(whole, mesh, of_patch(whole.mesh.points), rest_of_own, faces)
                                : fixed_body(model.bodies[b], around[b], surface.rest));

  Part part;
  part.model = std::make_shared<Model>(std::move(bodies), surface.pairs, model.options);
  part.contact = near.contact;
  // Node fields of the whole model, and what stands for them at vertices.
  const auto local = [&](const Matrix3X& nodes, const Matrix3X& vertices) {
    Matrix3X result(3, part.model->node_count());
    Index next = 0;
    for (std::size_t b = 0; b < model.bodies.size(); ++b) {
      if (b == which) {
        result.middleCols(next, Index(mesh.points.size())) =
            of_patch(nodes.middleCols(first, whole.node_count()));
        next += Index(mesh.points.size());
      }
      for (const Index v : b == which ? own_vertices : around[b].points) result.col(next++) = vertices.col(v);
    }
    return result;
  };
  const State& before = step_.before;
  part.state.time = before.time;
  part.state.nodes = local(before.nodes, x_before_);
  part.state.velocity = local(before.velocity, v_before_);
  part.step = problem.time_step;
  part.step.predicted = local(problem.time_step.predicted, x_before_);
  part.step.rate_origin = local(problem.time_step.rate_origin, x_before_);
  part.nodes = local(step_.nodes, x_);

  part.free.setConstant(3, part.model->node_count(), false);
  const Index first_here = part.model->first_node[which];
  const ScriptedNodes::Mask& held = problem.scripted.held();
  for (std::size_t i = 0; i < mesh.points.size(); ++i) {
    if (!mesh.moves[i]) continue;
    const bool middle = mesh.midpoint_of && i + 1 == mesh.points.size();
    const std::array<Index, 2> ends = middle ? *mesh.midpoint_of : std::array{mesh.points[i], mesh.points[i]};
    if (!middle && pinned_[std::size_t(ends[0])]) continue;
    part.free.col(first_here + Index(i)) = !(held.col(first + ends[0]) && held.col(first + ends[1]));
  }
  return part;
}

double PatchTrial::least_energy(Part part) const {
  const StepProblem& problem = step_.problem;
  const Model& model = *part.model;
  Timings timings;
  StepTerms terms(model, problem.present, timings);
  terms.contact.set_stiffness(problem.terms.contact.stiffness());
  terms.begin(part.state, part.step, problem.end_time);
  if (!part.step.has_inertia) terms.inertia.set_target(part.nodes);
  const Matrix3X x = model.surface_map.positions(part.nodes);
  terms.contact.prepare(x);
  terms.friction.set_lag(terms.contact, x, problem.dt);
  Objective objective(model.surface_map, model.chart, terms.list());
  objective.set_free(FreeCoordinates(part.free));
  const auto solver = make_linear_solver(model.options.solver.linear_solver, model.options.solver.ordering);
  NewtonHooks hooks;
  hooks.accepted = [](const Matrix3X&, double) { return false; };
  hooks.stationary = [](const Matrix3X&) { return false; };
  newton(objective, {*solver, timings}, part.nodes, hooks,
         {model.options.solver.tolerance, problem.dt, false,
          part.contact ? iterations_in_contact : iterations_without_contact});
  objective.prepare(part.nodes);
  return objective.value();
}

double PatchTrial::gain(const PatchMesh& before, const PatchMesh& after) const {
  const Nearby near = nearby(before);
  Part old = part(before, near), made = part(after, near);
  if (!after.midpoint_of) {  // a collapse
    const std::size_t b = std::size_t(body_);
    const Model &from = *old.model, &to = *made.model;
    std::vector<Index> places;
    for (const Index p : after.points) places.push_back(place_in(before.points, p));
    const Index first = to.first_node[b], n = Index(after.points.size());
    const CollapseTransfer transfer(from.bodies[b], to.bodies[b], places);
    const Matrix3X q = old.step.predicted.middleCols(from.first_node[b], from.bodies[b].node_count());
    CollapseTransfer::Mask held = !made.free.middleCols(first, to.bodies[b].node_count());
    made.step.predicted.middleCols(first, n) += transfer.correction(q, held).leftCols(n);
  }
  const double scale = step_.problem.time_step.scale;
  return (least_energy(std::move(old)) - least_energy(std::move(made))) / scale;
}

}  // namespace apart
