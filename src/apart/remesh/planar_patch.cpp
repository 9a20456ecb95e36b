#include <apart/remesh/planar_patch.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/remesh/field_transfer.hpp>
#include <apart/solver/newton.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace apart {

namespace {

// As in space: patch.cpp.
constexpr int most_iterations_without_contact = 2, most_iterations_in_contact = 5;
constexpr double margin_of_contact = 0.25;

Index place_among(const std::vector<Index>& list, Index item) {
  const auto found = std::ranges::lower_bound(list, item);
  return found != list.end() && *found == item ? Index(found - list.begin()) : -1;
}

}  // namespace

std::vector<Index> points_around(const PlanarEditor& editor, Index a, Index b) {
  std::set<Index> points;
  for (const Index c : editor.cells_of_edge(a, b))
    points.insert(editor.cell(c).points.begin(), editor.cell(c).points.end());
  return {points.begin(), points.end()};
}

PlanarPatch planar_patch(const PlanarEditor& editor, const std::vector<Index>& around) {
  std::set<Index> cells, points;
  for (const Index p : around) cells.insert(editor.cells_of(p).begin(), editor.cells_of(p).end());
  for (const Index c : cells) points.insert(editor.cell(c).points.begin(), editor.cell(c).points.end());
  PlanarPatch patch;
  patch.points.assign(points.begin(), points.end());
  for (const Index p : patch.points) patch.moves.push_back(std::ranges::find(around, p) != around.end());
  patch.cells.resize(3, Index(cells.size()));
  Index next = 0;
  for (const Index c : cells) {
    const PlanarEditor::Cell& cell = editor.cell(c);
    for (int k = 0; k < 3; ++k)
      patch.cells(k, next) = int(place_among(patch.points, cell.points[std::size_t(k)]));
    patch.substance.push_back(cell.substance);
    ++next;
  }
  patch.sets = editor.sets_of(patch.points);
  std::vector<std::vector<Index>> members(patch.sets.list(SetKind::segments).size());
  std::vector<std::array<int, 2>> segments;
  for (const auto& side : boundary_edges(patch.cells).colwise()) {
    const std::vector<int>* sets =
        editor.segment_sets(patch.points[std::size_t(side[0])], patch.points[std::size_t(side[1])]);
    if (!sets) continue;
    for (const int s : *sets) members[std::size_t(s)].push_back(Index(segments.size()));
    segments.push_back({side[0], side[1]});
  }
  patch.segments.resize(2, Index(segments.size()));
  for (std::size_t e = 0; e < segments.size(); ++e)
    patch.segments.col(Index(e)) << segments[e][0], segments[e][1];
  for (std::size_t s = 0; s < members.size(); ++s)
    patch.sets.replace(SetKind::segments, s, std::move(members[s]));
  return patch;
}

/// What of the collision surface is near a patch and not its own, by body: vertices of the surface.
struct PlanarTrial::Nearby {
  std::vector<std::vector<std::array<Index, 3>>> faces;
  std::vector<std::vector<std::array<Index, 2>>> segments;
  std::vector<std::vector<Index>> vertices;
  bool contact = false;  ///< the patch has a part of the boundary
};

/// One side of the comparison.
struct PlanarTrial::Part {
  Body own;  ///< the patch alone
  std::shared_ptr<const Model> model;
  State state;
  TimeStep step;
  Matrix3X nodes;  ///< where the trial begins [m]
  Eigen::Array<bool, 3, Eigen::Dynamic> free;
  bool contact = false;
};

PlanarTrial::PlanarTrial(const SolvedStep& step, int body, const std::vector<char>& pinned)
    : step_(step), body_(body), pinned_(pinned) {
  const LinearMap& map = step.problem.model.surface_map;
  x_ = map.positions(step.nodes);
  x_before_ = map.positions(step.before.nodes);
  v_before_ = map.push_forward(step.before.velocity);
}

PlanarTrial::Nearby PlanarTrial::nearby(const PlanarPatch& before) const {
  const Model& model = step_.problem.model;
  const CollisionSurface& surface = model.surface;
  Nearby near;
  near.faces.resize(model.bodies.size());
  near.segments.resize(model.bodies.size());
  near.vertices.resize(model.bodies.size());
  if (before.segments.cols() == 0) return near;
  near.contact = true;
  std::set<std::array<Index, 2>> own;  // vertices, ascending
  Aabb box;
  double longest = 0;
  for (const auto& s : before.segments.colwise()) {
    std::array<Index, 2> ends;
    for (int k = 0; k < 2; ++k)
      ends[std::size_t(k)] = model.vertex_of(body_, before.points[std::size_t(s[k])]);
    const Vector3 a = x_.col(ends[0]), b = x_.col(ends[1]);
    box.include(a);
    box.include(b);
    longest = std::max(longest, (b - a).norm());
    std::ranges::sort(ends);
    own.insert(ends);
  }
  const double margin = surface.pairs.max_reach() + margin_of_contact * longest;
  const auto is_near = [&](std::span<const Index> vertices) {
    Aabb there;
    for (const Index v : vertices) there.include(Vector3(x_.col(v)));
    return there.near(box, margin);
  };
  const auto body_of = [&](Index v) { return std::size_t(surface.vertex_body[std::size_t(v)]); };
  for (const auto& f : surface.faces.colwise()) {
    const std::array<Index, 3> face = {f[0], f[1], f[2]};
    if (surface.pairs(body_, int(body_of(face[0]))).enabled && is_near(face))
      near.faces[body_of(face[0])].push_back(face);
  }
  for (const Index e : surface.free_edges) {
    const std::array<Index, 2> ends = {surface.edges(0, e), surface.edges(1, e)};
    if (surface.pairs(body_, int(body_of(ends[0]))).enabled && is_near(ends) && !own.contains(ends))
      near.segments[body_of(ends[0])].push_back(ends);
  }
  for (const Index v : surface.isolated_vertices)
    if (surface.pairs(body_, int(body_of(v))).enabled && is_near(std::array{v}))
      near.vertices[body_of(v)].push_back(v);
  for (const HalfSpace& plane : surface.half_spaces)
    if (plane.carrier >= 0) near.vertices[std::size_t(plane.body)].push_back(plane.carrier);
  return near;
}

namespace {

/// The patch as a body.
Body planar_patch_body(const Body& whole, const PlanarPatch& patch, const Matrix3X& rest) {
  Mesh mesh;
  mesh.points = rest;
  mesh.faces = patch.cells;
  const PlanarCells& cells = *whole.planar;
  CellSubstances substances;
  for (std::size_t k = 0; k < cells.materials.size(); ++k)
    substances.substances.push_back({cells.materials[k], cells.density[k]});
  substances.of_cell = patch.substance;
  Body body =
      make_planar(whole.name, std::move(mesh), substances, {cells.depth, cells.state, MassKind::consistent});
  body.free_segments = patch.segments;
  body.sets = patch.sets;
  body.loads = whole.loads;
  body.pressures = whole.pressures;
  body.damping = whole.damping;
  body.presence = whole.presence;
  body.vertex_area = whole.vertex_area;
  return body;
}

/// Adds vertices of the collision surface to a body as points that do not move, and what they are part of.
class NearPoints {
 public:
  /// `taken`: vertices that are points of the body already.
  NearPoints(Body& body, std::map<Index, Index> taken)
      : body_(body), place_(std::move(taken)), own_(body.node_count()) {}

  template <class Nearby>
  void add(const Nearby& near, std::size_t b) {
    Index next = Index(body_.surface_faces.cols());
    body_.surface_faces.conservativeResize(3, next + Index(near.faces[b].size()));
    for (const auto& f : near.faces[b]) {
      for (std::size_t k = 0; k < 3; ++k) body_.surface_faces(Index(k), next) = int(place_of(f[k]));
      ++next;
    }
    next = Index(body_.free_segments.cols());
    body_.free_segments.conservativeResize(2, next + Index(near.segments[b].size()));
    for (const auto& s : near.segments[b]) {
      for (std::size_t k = 0; k < 2; ++k) body_.free_segments(Index(k), next) = int(place_of(s[k]));
      ++next;
    }
    for (const Index v : near.vertices[b]) place_of(v);
  }
  /// Completes the body; `rest`: of all vertices [m].
  void finish(const Matrix3X& rest) {
    const Index all = own_ + Index(vertices_.size());
    body_.nodes.conservativeResize(3, all);
    for (std::size_t i = 0; i < vertices_.size(); ++i)
      body_.nodes.col(own_ + Index(i)) = rest.col(vertices_[i]);
    body_.mesh.points = body_.nodes;
    body_.velocity = Matrix3X::Zero(3, all);
    body_.point_map = LinearMap::identity(all);
    if (body_.mass.rows() > 0) body_.mass.conservativeResize(all, all);
    std::set<Index> points;
    for (const int p : body_.surface_faces.reshaped()) points.insert(p);
    for (const int p : body_.free_segments.reshaped()) points.insert(p);
    for (Index p = own_; p < all; ++p) points.insert(p);
    body_.surface_points.assign(points.begin(), points.end());
  }
  const std::vector<Index>& vertices() const { return vertices_; }  ///< of the added points

 private:
  Index place_of(Index vertex) {
    const auto [at, is_new] = place_.emplace(vertex, own_ + Index(vertices_.size()));
    if (is_new) vertices_.push_back(vertex);
    return at->second;
  }
  Body& body_;
  std::map<Index, Index> place_;
  Index own_;
  std::vector<Index> vertices_;
};

/// A body without points that stands for another, which does not move.
Body empty_copy(const Body& whole) {
  Body body;
  body.name = whole.name;
  body.kind = whole.kind;
  body.half_space = whole.half_space;
  body.radius = whole.radius;
  body.encloses_volume = whole.encloses_volume;
  body.presence = whole.presence;
  body.vertex_area = whole.vertex_area;
  body.nodes.resize(3, 0);
  body.surface_faces.resize(3, 0);
  body.free_segments.resize(2, 0);
  if (whole.planar) {
    body.planar.emplace();
    body.planar->nodes.resize(3, 0);
    body.planar->depth = whole.planar->depth;
  }
  return body;
}

}  // namespace

PlanarTrial::Part PlanarTrial::part(const PlanarPatch& patch, const Nearby& near) const {
  const StepProblem& problem = step_.problem;
  const Model& model = problem.model;
  const std::size_t which = std::size_t(body_);
  const Body& whole = model.bodies[which];
  const Index first = model.first_node[which], own = Index(patch.points.size());
  // A value for each point of the patch: of the body, or the mean of the ends of an edge.
  const auto of_patch = [&](const Matrix3X& field) {
    Matrix3X result(3, own);
    for (Index i = 0; i < own; ++i)
      result.col(i) =
          patch.midpoint_of && i + 1 == own
              ? Vector3(0.5 * (field.col((*patch.midpoint_of)[0]) + field.col((*patch.midpoint_of)[1])))
              : Vector3(field.col(patch.points[std::size_t(i)]));
    return result;
  };
  Part part;
  part.own = planar_patch_body(whole, patch, of_patch(whole.mesh.points));
  part.contact = near.contact;
  std::vector<Body> bodies;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    bodies.push_back(b == which ? part.own : empty_copy(model.bodies[b]));
  std::vector<std::vector<Index>> added;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    std::map<Index, Index> taken;
    if (b == which)
      for (Index i = 0; i < own; ++i)
        if (const Index p = patch.points[std::size_t(i)];
            !(patch.midpoint_of && i + 1 == own) && std::ranges::binary_search(whole.surface_points, p))
          taken.emplace(model.vertex_of(body_, p), i);
    NearPoints points(bodies[b], std::move(taken));
    points.add(near, b);
    points.finish(model.surface.rest);
    added.push_back(points.vertices());
  }
  part.model = std::make_shared<Model>(std::move(bodies), model.surface.pairs, model.options);
  // Node fields of the whole model, and what stands for them at vertices.
  const auto local = [&](const Matrix3X& nodes, const Matrix3X& vertices) {
    Matrix3X result(3, part.model->node_count());
    for (std::size_t b = 0; b < added.size(); ++b) {
      Index next = part.model->first_node[b];
      if (b == which) {
        result.middleCols(next, own) = of_patch(nodes.middleCols(first, whole.node_count()));
        next += own;
      }
      for (const Index v : added[b]) result.col(next++) = vertices.col(v);
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
  for (Index i = 0; i < own; ++i) {
    if (!patch.moves[std::size_t(i)]) continue;
    const bool middle = patch.midpoint_of && i + 1 == own;
    const Index p = patch.points[std::size_t(i)];
    const std::array<Index, 2> ends = middle ? *patch.midpoint_of : std::array{p, p};
    if (!middle && pinned_[std::size_t(p)]) continue;
    part.free.col(first_here + i) = !(held.col(first + ends[0]) && held.col(first + ends[1]));
  }
  return part;
}

double PlanarTrial::least_energy(Part part) const {
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
          part.contact ? most_iterations_in_contact : most_iterations_without_contact});
  objective.prepare(part.nodes);
  return objective.value();
}

double PlanarTrial::gain(const PlanarPatch& before, const PlanarPatch& after) const {
  const Nearby near = nearby(before);
  Part old = part(before, near), made = part(after, near);
  if (!after.midpoint_of) {  // a collapse
    const std::size_t b = std::size_t(body_);
    const Index first = made.model->first_node[b], n = Index(after.points.size());
    std::vector<Index> places;
    for (const Index p : after.points) places.push_back(place_among(before.points, p));
    const CollapseTransfer transfer(old.own, made.own, places);
    const Matrix3X q = old.step.predicted.middleCols(old.model->first_node[b], Index(before.points.size()));
    const CollapseTransfer::Mask held = !made.free.middleCols(first, n);
    made.step.predicted.middleCols(first, n) += transfer.correction(q, held);
  }
  const double scale = step_.problem.time_step.scale;
  return (least_energy(std::move(old)) - least_energy(std::move(made))) / scale;
}

}  // namespace apart
