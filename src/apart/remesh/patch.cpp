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

/// Primitives of the collision surface near a patch that are not its own.
struct PatchTrial::Nearby {
  PlacedSurface::Primitives primitives;
  bool contact = false;  ///< the patch has a surface
};

/// One side of the comparison.
struct PatchTrial::Part {
  std::shared_ptr<const Model> model;
  State state;
  TimeStep step;
  Matrix3X nodes;  ///< where the trial begins [m]
  Eigen::Array<bool, 3, Eigen::Dynamic> free;
  double stiffness = 0;  ///< κ
  bool contact = false;
};

PatchTrial::Nearby PatchTrial::nearby(const PatchMesh& before) const {
  Nearby near;
  if (before.facets.cols() == 0) return near;
  near.contact = true;
  const Model& model = step_.problem.model;
  const CollisionSurface& surface = placed_.surface;
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
  near.primitives = placed_.meeting(box);
  const auto body_of = [&](Index v) { return surface.vertex_body[std::size_t(v)]; };
  const auto untouchable = [&](Index v) { return !surface.pairs(body_, body_of(v)).enabled; };
  std::erase_if(near.primitives.faces, [&](Index f) {
    std::array<Index, 3> facet = {surface.faces(0, f), surface.faces(1, f), surface.faces(2, f)};
    if (untouchable(facet[0])) return true;
    if (body_of(facet[0]) != body_) return false;
    for (Index& v : facet) v = model.surface_point[std::size_t(v)] - first_point;
    std::ranges::sort(facet);
    return own.contains(facet);
  });
  std::erase_if(near.primitives.free_edges, [&](Index e) { return untouchable(surface.edges(0, e)); });
  std::erase_if(near.primitives.points, untouchable);
  return near;
}

namespace {

/// Collects what of one body is near a patch: its points are vertices of the collision surface.
struct NearSurface {
  Index first = 0;            ///< place of the first point
  std::vector<Index> points;  ///< of each: its vertex
  std::map<Index, Index> place;
  std::vector<std::array<Index, 3>> faces;  ///< places of points
  std::vector<std::array<Index, 2>> segments;
  Index place_of(Index vertex) {
    const auto [at, is_new] = place.emplace(vertex, first + Index(points.size()));
    if (is_new) points.push_back(vertex);
    return at->second;
  }
  Matrix3X of_points(const Matrix3X& field) const {
    Matrix3X result(3, Index(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i) result.col(Index(i)) = field.col(points[i]);
    return result;
  }
  Faces all_faces() const {
    Faces result(3, Index(faces.size()));
    for (std::size_t f = 0; f < faces.size(); ++f)
      for (int k = 0; k < 3; ++k) result(k, Index(f)) = faces[f][std::size_t(k)];
    return result;
  }
};

/// A body that does not move, of what is near.
Body fixed_body(const Body& whole, const NearSurface& near, const Matrix3X& rest) {
  Body body;
  body.name = whole.name;
  body.kind = whole.kind;
  body.half_space = whole.half_space;
  body.radius = whole.radius;
  body.vertex_area = whole.vertex_area;
  body.encloses_volume = whole.encloses_volume;
  body.nodes = body.mesh.points = near.of_points(rest);
  body.velocity = Matrix3X::Zero(3, body.node_count());
  body.point_map = LinearMap::identity(body.node_count());
  body.surface_faces = near.all_faces();
  body.free_segments.resize(2, Index(near.segments.size()));
  for (std::size_t e = 0; e < near.segments.size(); ++e)
    for (int k = 0; k < 2; ++k) body.free_segments(k, Index(e)) = near.segments[e][std::size_t(k)];
  for (Index p = 0; p < body.node_count(); ++p) body.surface_points.push_back(p);
  return body;
}

/// The patch as a body, and after its own points those of the rest of the surface that is near.
Body patch_body(const Body& whole, const PatchMesh& patch, const Matrix3X& rest, const NearSurface& near,
                const Matrix3X& vertex_rest) {
  Mesh mesh;
  mesh.points = rest;
  mesh.tetrahedra = patch.cells;
  CellSubstances substances;
  for (std::size_t k = 0; k < whole.elastic->materials.size(); ++k)
    substances.substances.push_back({whole.elastic->materials[k], whole.elastic->density[k]});
  substances.of_cell = patch.substance;
  Body body = make_volume(whole.name, std::move(mesh), substances, MassKind::consistent);
  const Index all = body.node_count() + Index(near.points.size());
  body.nodes.conservativeResize(3, all);
  body.nodes.rightCols(Index(near.points.size())) = near.of_points(vertex_rest);
  body.mesh.points = body.nodes;
  body.velocity = Matrix3X::Zero(3, all);
  body.point_map = LinearMap::identity(all);
  body.mass.conservativeResize(all, all);
  const Faces near_faces = near.all_faces();
  body.surface_faces.resize(3, patch.facets.cols() + near_faces.cols());
  body.surface_faces << patch.facets, near_faces;
  std::set<Index> points;
  for (const int p : body.surface_faces.reshaped()) points.insert(p);
  body.surface_points.assign(points.begin(), points.end());
  body.sets = patch.sets;
  take_over_settings(whole, body);
  return body;
}

/// What is near a patch, by body; of the patch's own body, points of the patch are not taken twice.
struct Surroundings {
  NearSurface own;                   ///< its points come after those of the patch
  std::map<int, NearSurface> other;  ///< by number of the body
};

/// `contact`: the patch has a surface, so that half-spaces matter.
Surroundings surroundings(const Model& model, const PlacedSurface& placed, int body, const PatchMesh& mesh,
                          const PlacedSurface::Primitives& near, bool contact) {
  const CollisionSurface& surface = placed.surface;
  const Index first_point = model.first_point[std::size_t(body)];
  Surroundings around;
  around.own.first = Index(mesh.points.size());
  const auto body_of = [&](Index v) { return surface.vertex_body[std::size_t(v)]; };
  for (const Index f : near.faces) {
    const int b = body_of(surface.faces(0, f));
    NearSurface& there = b == body ? around.own : around.other[b];
    std::array<Index, 3> face;
    for (int k = 0; k < 3; ++k) {
      const Index v = surface.faces(k, f);
      const Index in_patch =
          b == body ? place_in(mesh.points, model.surface_point[std::size_t(v)] - first_point) : -1;
      face[std::size_t(k)] = in_patch >= 0 ? in_patch : there.place_of(v);
    }
    there.faces.push_back(face);
  }
  for (const Index e : near.free_edges) {
    NearSurface& there = around.other[body_of(surface.edges(0, e))];
    there.segments.push_back({there.place_of(surface.edges(0, e)), there.place_of(surface.edges(1, e))});
  }
  for (const Index v : near.points) around.other[body_of(v)].place_of(v);
  if (contact)
    for (const HalfSpace& plane : surface.half_spaces)
      if (surface.pairs(body, plane.body).enabled) {
        NearSurface& there = around.other[plane.body];
        if (plane.carrier >= 0) there.place_of(plane.carrier);
      }
  return around;
}

/// Settings of contact of some bodies among themselves.
PairTable pairs_of(const PairTable& all, const std::vector<int>& bodies) {
  PairTable pairs(int(bodies.size()));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t j = i; j < bodies.size(); ++j) pairs.set(int(i), int(j), all(bodies[i], bodies[j]));
  return pairs;
}

}  // namespace

PatchTrial::Part PatchTrial::part(const PatchMesh& mesh, const Nearby& near) const {
  const StepProblem& problem = step_.problem;
  const Model& model = problem.model;
  const CollisionSurface& surface = placed_.surface;
  const std::size_t which = std::size_t(body_);
  const Body& whole = model.bodies[which];
  const Index first = model.first_node[which], count = Index(mesh.points.size());

  const Surroundings around = surroundings(model, placed_, body_, mesh, near.primitives, near.contact);

  // Of a field of points or nodes of the body, which is part of a field of all bodies: at a point of the
  // patch, or the mean of the ends of an edge.
  const auto of_patch = [&](const Matrix3X& field, Index begin) {
    Matrix3X result(3, count);
    for (Index i = 0; i < count; ++i) {
      const auto [a, b] = mesh.midpoint_of && i + 1 == count
                              ? *mesh.midpoint_of
                              : std::array{mesh.points[std::size_t(i)], mesh.points[std::size_t(i)]};
      result.col(i) = a == b ? Vector3(field.col(begin + a))
                             : Vector3(0.5 * (field.col(begin + a) + field.col(begin + b)));
    }
    return result;
  };
  std::vector<int> numbers = {body_};
  std::vector<Body> bodies;
  bodies.push_back(patch_body(whole, mesh, of_patch(whole.mesh.points, 0), around.own, surface.rest));
  for (const auto& [b, there] : around.other) {
    numbers.push_back(b);
    bodies.push_back(fixed_body(model.bodies[std::size_t(b)], there, surface.rest));
  }

  Part part;
  part.model = std::make_shared<Model>(std::move(bodies), pairs_of(surface.pairs, numbers), model.options);
  part.contact = near.contact;
  // Scales of κ are relative to the pair with the smallest reach.
  part.stiffness = problem.terms.contact.stiffness() * surface.pairs(body_, body_).stiffness_scale /
                   part.model->surface.pairs(0, 0).stiffness_scale;
  // Node fields of the whole model, and what stands for them at vertices.
  const auto local = [&](const Matrix3X& nodes, const Matrix3X& vertices) {
    Matrix3X result(3, part.model->node_count());
    result.leftCols(count) = of_patch(nodes, first);
    Index next = count;
    const auto add = [&](const NearSurface& there) {
      result.middleCols(next, Index(there.points.size())) = there.of_points(vertices);
      next += Index(there.points.size());
    };
    add(around.own);
    for (const auto& [b, there] : around.other) add(there);
    return result;
  };
  const State& before = step_.before;
  const TimeStep& step = problem.time_step;
  part.state.time = before.time;
  part.state.nodes = local(before.nodes, placed_.x_before);
  part.state.velocity = local(before.velocity, placed_.v_before);
  part.step.scale = step.scale;
  part.step.rate = step.rate;
  part.step.has_inertia = step.has_inertia;
  part.step.predicted = local(step.predicted, placed_.x_before);
  part.step.rate_origin = local(step.rate_origin, placed_.x_before);
  part.nodes = local(step_.nodes, placed_.x);

  part.free.setConstant(3, part.model->node_count(), false);
  const ScriptedNodes::Mask& held = problem.scripted.held();
  for (Index i = 0; i < count; ++i) {
    if (!mesh.moves[std::size_t(i)]) continue;
    const Index p = mesh.points[std::size_t(i)];
    if (mesh.midpoint_of && i + 1 == count)
      part.free.col(i) =
          !(held.col(first + (*mesh.midpoint_of)[0]) && held.col(first + (*mesh.midpoint_of)[1]));
    else if (!pinned_[std::size_t(p)])
      part.free.col(i) = !held.col(first + p);
  }
  return part;
}

double PatchTrial::minimise(Part& part) const {
  const StepProblem& problem = step_.problem;
  const Model& model = *part.model;
  Timings timings;
  const std::vector<char> present(model.bodies.size(), true);
  StepTerms terms(model, present, timings);
  terms.contact.set_stiffness(part.stiffness);
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

PatchTrial::Outcome PatchTrial::compare(const PatchMesh& before, const PatchMesh& after) const {
  const Nearby near = nearby(before);
  Part old = part(before, near), made = part(after, near);
  const Index n = Index(after.points.size());
  if (!after.midpoint_of) {  // the new mesh cannot represent all that the old one could
    const Body &from = old.model->bodies[0], &to = made.model->bodies[0];
    std::vector<Index> places;
    for (const Index p : after.points) places.push_back(place_in(before.points, p));
    const CollapseTransfer transfer(from, to, places);
    const CollapseTransfer::Mask held = !made.free.leftCols(to.node_count());
    made.step.predicted.leftCols(n) +=
        transfer.correction(old.step.predicted.leftCols(from.node_count()), held).leftCols(n);
  }
  const double scale = step_.problem.time_step.scale, least = minimise(old), least_made = minimise(made);
  return {(least - least_made) / scale, made.nodes.leftCols(n)};
}

}  // namespace apart
