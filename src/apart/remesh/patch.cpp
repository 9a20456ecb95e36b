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

std::vector<Index> points_of(const MeshEditor& editor, const std::vector<Index>& cells) {
  std::set<Index> points;
  for (const Index c : cells) points.insert(editor.cell(c).points.begin(), editor.cell(c).points.end());
  return {points.begin(), points.end()};
}

namespace {

void add_edge_neighbours(const MeshEditor& editor, std::set<Index>& cells) {
  const std::set<Index> inner = cells;
  for (const Index c : inner) {
    const Corners& points = editor.cell(c).points;
    for (int k = 0; k < points.size(); ++k) {
      const std::vector<Index> both = editor.cells_of_edge(points[k], points[(k + 1) % points.size()]);
      cells.insert(both.begin(), both.end());
    }
  }
}

}  // namespace

PatchMesh patch_mesh(const MeshEditor& editor, const std::vector<Index>& around) {
  std::set<Index> cells, points;
  for (const Index p : around) cells.insert(editor.cells_of(p).begin(), editor.cells_of(p).end());
  if (editor.is_shell()) add_edge_neighbours(editor, cells);
  for (const Index c : cells) points.insert(editor.cell(c).points.begin(), editor.cell(c).points.end());
  PatchMesh patch;
  patch.cells.assign(cells.begin(), cells.end());
  patch.points.assign(points.begin(), points.end());
  patch.mesh.points.resize(3, Index(points.size()));
  for (std::size_t i = 0; i < patch.points.size(); ++i) {
    patch.moves.push_back(std::ranges::find(around, patch.points[i]) != around.end());
    patch.mesh.points.col(Index(i)) = editor.placement(patch.points[i]);
  }
  if (editor.has_other_rest()) {
    patch.rest_points.resize(3, Index(points.size()));
    for (std::size_t i = 0; i < patch.points.size(); ++i)
      patch.rest_points.col(Index(i)) = editor.position(0, patch.points[i]);
  }
  std::vector<Corners> corners;
  for (const Index c : cells) {
    Corners& places = corners.emplace_back();
    for (const Index p : editor.cell(c).points) places.add(place_in(patch.points, p));
    patch.substance.push_back(editor.cell(c).substance);
  }
  set_cells(patch.mesh, corners);
  patch.sets = editor.sets_of(patch.points);
  const SetKind kind = editor.side_kind();
  std::vector<std::vector<Index>> members(patch.sets.list(kind).size());
  if (editor.is_shell()) {
    patch.sides = corners;
    for (std::size_t c = 0; c < patch.cells.size(); ++c)
      for (const int s : editor.cell(patch.cells[c]).sets) members[std::size_t(s)].push_back(Index(c));
  }
  for (const Corners& side : editor.is_shell() ? std::vector<Corners>() : surface_of(patch.mesh)) {
    Corners numbers;
    for (const Index p : side) numbers.add(patch.points[std::size_t(p)]);
    const std::vector<int>* sets = editor.side_sets(numbers);
    if (!sets) continue;
    for (const int s : *sets) members[std::size_t(s)].push_back(Index(patch.sides.size()));
    patch.sides.push_back(side);
  }
  for (std::size_t s = 0; s < members.size(); ++s) patch.sets.replace(kind, s, std::move(members[s]));
  return patch;
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
  double stiffness = 0;                   ///< κ
  std::optional<double> limit_stiffness;  ///< κ of the strain limit of a shell [Pa]
  bool contact = false;
};

PatchTrial::Nearby PatchTrial::nearby(const PatchMesh& before) const {
  Nearby near;
  if (before.sides.empty()) return near;
  near.contact = true;
  const Model& model = step_.problem.model;
  const CollisionSurface& surface = placed_.surface;
  Aabb box;
  double longest = 0;
  std::set<Corners> own;  // vertices, ascending
  for (const Corners& side : before.sides) {
    Corners vertices;
    for (const Index i : side) vertices.add(model.vertex_of(body_, before.points[std::size_t(i)]));
    for (int k = 0; k < vertices.size(); ++k) {
      const Vector3 p = placed_.x.col(vertices[k]), q = placed_.x.col(vertices[(k + 1) % vertices.size()]);
      box.include(p);
      longest = std::max(longest, (p - q).norm());
    }
    own.insert(vertices.sorted());
  }
  const double margin = surface.pairs.max_reach() + contact_margin * longest;
  box.lower.array() -= margin;
  box.upper.array() += margin;
  near.primitives = placed_.meeting(box);
  const auto body_of = [&](Index v) { return surface.vertex_body[std::size_t(v)]; };
  const auto untouchable = [&](Index v) { return !surface.pairs(body_, body_of(v)).enabled; };
  const auto is_of_no_use = [&](const auto& vertices) {
    return untouchable(vertices[0]) || own.contains(Corners::of(vertices).sorted());
  };
  std::erase_if(near.primitives.faces, [&](Index f) { return is_of_no_use(surface.faces.col(f)); });
  std::erase_if(near.primitives.free_edges, [&](Index e) { return is_of_no_use(surface.edges.col(e)); });
  std::erase_if(near.primitives.points, untouchable);
  return near;
}

namespace {

/// Collects what of one body is near a patch: its points are vertices of the collision surface.
struct NearSurface {
  Index first = 0;            ///< place of the first point
  std::vector<Index> points;  ///< of each: its vertex
  std::map<Index, Index> place;
  std::vector<Corners> faces, segments;  ///< places of points
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
};

template <class List>
void append(List& list, const std::vector<Corners>& more) {
  const Index old = Index(list.cols());
  list.conservativeResize(Eigen::NoChange, old + Index(more.size()));
  for (std::size_t i = 0; i < more.size(); ++i)
    for (int k = 0; k < more[i].size(); ++k) list(k, old + Index(i)) = int(more[i][k]);
}

/// A body that does not move, of what is near.
Body fixed_body(const Body& whole, const NearSurface& near, const Matrix3X& rest) {
  Body body;
  body.name = whole.name;
  body.kind = whole.kind;
  body.half_space = whole.half_space;
  body.radius = whole.radius;
  body.vertex_area = whole.vertex_area;
  body.encloses_volume = whole.encloses_volume;
  if (whole.planar) {
    body.planar.emplace();
    body.planar->nodes.resize(3, 0);
    body.planar->depth = whole.planar->depth;
  }
  body.nodes = body.mesh.points = near.of_points(rest);
  body.velocity = Matrix3X::Zero(3, body.node_count());
  body.point_map = LinearMap::identity(body.node_count());
  body.surface_faces.resize(3, 0);
  body.free_segments.resize(2, 0);
  append(body.surface_faces, near.faces);
  append(body.free_segments, near.segments);
  for (Index p = 0; p < body.node_count(); ++p) body.surface_points.push_back(p);
  return body;
}

/// The cells of a patch as a body of the same kind.
Body body_of_cells(const Body& whole, const PatchMesh& patch) {
  if (whole.shell) return part_of(whole, {patch.mesh, patch.rest_points, patch.sets});
  CellSubstances substances;
  const auto take = [&](const auto& cells) {
    for (std::size_t k = 0; k < cells.materials.size(); ++k)
      substances.substances.push_back({cells.materials[k], cells.density[k]});
  };
  substances.of_cell = patch.substance;
  if (whole.planar) {
    take(*whole.planar);
    return make_planar(whole.name, patch.mesh, substances,
                       {whole.planar->depth, whole.planar->state, MassKind::consistent});
  }
  take(*whole.elastic);
  return make_volume(whole.name, patch.mesh, substances, MassKind::consistent);
}

/// The patch as a body, and after its own points those of the rest of the surface that is near. `mass`: what
/// it must have [kg].
Body patch_body(const Body& whole, const PatchMesh& patch, const NearSurface& near,
                const Matrix3X& vertex_rest, std::optional<double> mass) {
  Body body = body_of_cells(whole, patch);
  if (mass) scale_density(body, *mass / total_mass(body));
  const Index all = body.node_count() + Index(near.points.size());
  body.nodes.conservativeResize(3, all);
  body.nodes.rightCols(Index(near.points.size())) = near.of_points(vertex_rest);
  body.mesh.points = body.nodes;
  body.velocity = Matrix3X::Zero(3, all);
  body.point_map = LinearMap::identity(all);
  body.mass.conservativeResize(all, all);
  body.surface_faces.resize(3, 0);
  body.free_segments.resize(2, 0);
  if (whole.planar)
    append(body.free_segments, patch.sides);
  else
    append(body.surface_faces, patch.sides);
  append(body.surface_faces, near.faces);
  append(body.free_segments, near.segments);
  std::set<Index> points;
  for (const int p : body.surface_faces.reshaped()) points.insert(p);
  for (const int p : body.free_segments.reshaped()) points.insert(p);
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

/// Of a patch of a body. `contact`: it has a surface, so that half-spaces matter.
struct PatchPlace {
  int body;
  const PatchMesh& mesh;
  const PlacedSurface::Primitives& near;
  bool contact;
};
Surroundings surroundings(const Model& model, const PlacedSurface& placed, const PatchPlace& patch) {
  const int body = patch.body;
  const PatchMesh& mesh = patch.mesh;
  const CollisionSurface& surface = placed.surface;
  const Index first_point = model.first_point[std::size_t(body)];
  Surroundings around;
  around.own.first = Index(mesh.points.size());
  const auto body_of = [&](Index v) { return surface.vertex_body[std::size_t(v)]; };
  const auto there = [&](int b) -> NearSurface& { return b == body ? around.own : around.other[b]; };
  const auto places = [&](int b, const auto& vertices) {
    Corners result;
    for (const Index v : vertices) {
      const Index in_patch =
          b == body ? place_in(mesh.points, model.surface_point[std::size_t(v)] - first_point) : -1;
      result.add(in_patch >= 0 ? in_patch : there(b).place_of(v));
    }
    return result;
  };
  for (const Index f : patch.near.faces) {
    const int b = body_of(surface.faces(0, f));
    there(b).faces.push_back(places(b, surface.faces.col(f)));
  }
  for (const Index e : patch.near.free_edges) {
    const int b = body_of(surface.edges(0, e));
    there(b).segments.push_back(places(b, surface.edges.col(e)));
  }
  for (const Index v : patch.near.points) there(body_of(v)).place_of(v);
  if (patch.contact)
    for (const HalfSpace& plane : surface.half_spaces)
      if (surface.pairs(body, plane.body).enabled) {
        NearSurface& bearer = around.other[plane.body];
        if (plane.carrier >= 0) bearer.place_of(plane.carrier);
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

/// Where the vertices of the whole are on a part, the surface of a patch and what is near it.
VertexRenumbering renumbering(const Model& whole, int body, const PatchMesh& mesh, const Surroundings& around,
                              const Model& part) {
  VertexRenumbering to;
  to.body.emplace(body, 0);
  const Index point_count = whole.bodies[std::size_t(body)].mesh.point_count();
  const auto of_place = [&](Index number) { return part.find_vertex(0, place_in(mesh.points, number)); };
  for (const Index number : mesh.points) {
    const Index vertex = of_place(number);
    if (vertex < 0) continue;
    if (number < point_count)
      to.vertex.emplace(whole.vertex_of(body, number), vertex);
    else if (const auto blend = mesh.blends.find(place_in(mesh.points, number)); blend != mesh.blends.end())
      to.middles.push_back({vertex, 0, {of_place(blend->second.from), of_place(blend->second.to)}});
  }
  for (const auto& [removed, kept] : mesh.merged)
    if (const Index vertex = whole.find_vertex(body, removed); vertex >= 0)
      to.merged.emplace(vertex, of_place(kept));
  const auto add = [&](int b, const NearSurface& near) {
    for (std::size_t i = 0; i < near.points.size(); ++i)
      to.vertex.emplace(near.points[i], part.find_vertex(b, near.first + Index(i)));
  };
  add(0, around.own);
  int next = 1;
  for (const auto& [b, near] : around.other) {
    to.body.emplace(b, next);
    add(next++, near);
  }
  return to;
}

}  // namespace

PatchTrial::Part PatchTrial::part(const PatchMesh& mesh, const Nearby& near,
                                  std::optional<double> mass) const {
  const StepProblem& problem = step_.problem;
  const Model& model = problem.model;
  const CollisionSurface& surface = placed_.surface;
  const std::size_t which = std::size_t(body_);
  const Body& whole = model.bodies[which];
  const Index first = model.first_node[which], count = Index(mesh.points.size());

  const Surroundings around = surroundings(model, placed_, {body_, mesh, near.primitives, near.contact});

  const auto source = [&](Index place) {
    const auto blend = mesh.blends.find(place);
    return blend == mesh.blends.end() ? Blend::of(mesh.points[std::size_t(place)]) : blend->second;
  };
  std::vector<int> numbers = {body_};
  std::vector<Body> bodies;
  bodies.push_back(patch_body(whole, mesh, around.own, surface.rest, mass));
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
  if (const Index member = problem.terms.membrane_part(body_); member >= 0)
    part.limit_stiffness = problem.terms.elastic.membranes.limit_stiffness()[member];
  // Node fields of the whole model, and what stands for them at vertices.
  const auto local = [&](const Matrix3X& nodes, const Matrix3X& vertices) {
    Matrix3X result(3, part.model->node_count());
    for (Index i = 0; i < count; ++i) result.col(i) = source(i).in(nodes, first);
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
  if (before.grips.size() > 0)
    part.state.grips = placed_.grips(renumbering(model, body_, mesh, around, *part.model));
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
    if (p >= whole.node_count()) {  // created by a split
      const Blend middle = source(i);
      part.free.col(i) = !(held.col(first + middle.from) && held.col(first + middle.to));
    } else if (!pinned_[std::size_t(p)]) {
      part.free.col(i) = !held.col(first + p);
    }
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
  if (part.limit_stiffness)
    terms.elastic.membranes.set_limit_stiffness(VectorX::Constant(1, *part.limit_stiffness));
  const Matrix3X x = model.surface_map.positions(part.nodes);
  terms.contact.prepare(x);
  terms.friction.set_grips(Grips(part.state.grips));
  terms.friction.set_lag(terms.contact, x, problem.dt);
  Objective objective(model.surface_map, model.chart, terms.list());
  objective.set_free(FreeCoordinates(part.free));
  const auto solver = make_linear_solver(model.options.solver.linear_solver, model.options.solver.ordering);
  NewtonHooks hooks;
  hooks.accepted = [](const Matrix3X&) { return false; };
  hooks.stationary = [](const Matrix3X&) { return false; };
  newton(objective, {*solver, timings}, part.nodes, hooks,
         {model.options.solver.tolerance, problem.dt, false,
          part.contact ? iterations_in_contact : iterations_without_contact});
  objective.prepare(part.nodes);
  return objective.value();
}

PatchTrial::Outcome PatchTrial::compare(const PatchMesh& before, const PatchMesh& after) const {
  const Nearby near = nearby(before);
  Part old = part(before, near);
  std::optional<double> mass;
  if (keeps_mass_ && !after.is_finer) mass = total_mass(old.model->bodies[0]);
  Part made = part(after, near, mass);
  const Index n = Index(after.points.size());
  const double scale = step_.problem.time_step.scale;
  if (after.is_finer || !made.step.has_inertia) {
    const double least = minimise(old);
    return {(least - minimise(made)) / scale, made.nodes.leftCols(n)};
  }
  // Both sides have to measure inertia from one and the same q̃, that of the mesh before: else the motion that
  // the new mesh cannot follow would vanish from the comparison, a collapse seem to gain what it takes out of
  // the motion, and the split that undoes it gain it once more. The new mesh has the nearest q̃ that it can
  // represent; how far that is from q̃ is the same for all q.
  const Body &from = old.model->bodies[0], &to = made.model->bodies[0];
  std::vector<Blend> places;
  for (Index i = 0; i < n; ++i) {
    const auto blend = after.blends.find(i);
    const Blend place = blend == after.blends.end() ? Blend::of(after.points[std::size_t(i)]) : blend->second;
    places.push_back({place_in(before.points, place.from), place_in(before.points, place.to), place.share});
  }
  const CollapseTransfer transfer(from, to, std::move(places), keeps_mass_);
  const Matrix3X predicted = old.step.predicted.leftCols(from.node_count());
  made.step.predicted.leftCols(n) +=
      transfer.correction(predicted, !made.free.leftCols(to.node_count())).leftCols(n);
  const double least = minimise(old), least_made = minimise(made);
  const double lost = transfer.lost_distance(predicted, made.step.predicted.leftCols(to.node_count()),
                                             made.nodes.leftCols(to.node_count()));
  return {(least - least_made - lost) / scale, made.nodes.leftCols(n)};
}

}  // namespace apart
