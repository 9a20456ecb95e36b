#include <apart/run/scene_warnings.hpp>

#include <apart/basis/jacobian_bound.hpp>
#include <apart/basis/quadrature.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/solver/barrier_stiffness.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>

namespace apart {

namespace {

constexpr double stiffest = 1.3e12;  // [Pa] diamond has 1.2e12

double mean_node_mass(const Model& model) {
  const VectorX mass = model.mass.diagonal();
  const auto nodes = (mass.array() > 0).count();
  return nodes > 0 ? mass.sum() / double(nodes) : 1;
}

/// Young's modulus and Poisson's ratio of an isotropic solid.
std::pair<double, double> young_and_poisson(const Lame& lame) {
  const double sum = lame.lambda + lame.mu;
  return {lame.mu * (3 * lame.lambda + 2 * lame.mu) / sum, 0.5 * lame.lambda / sum};
}

/// Of a material that has them.
std::optional<std::pair<double, double>> young_and_poisson(const Material& material) {
  return std::visit(
      [](const auto& m) -> std::optional<std::pair<double, double>> {
        if constexpr (requires { m.lame; }) return young_and_poisson(m.lame);
        return std::nullopt;
      },
      material);
}

/// Young's modulus against stretch [Pa], of its softest part; none if the material has no such number.
std::optional<double> softest_young(const Body& body) {
  if (body.rods && body.radius > 0)
    return body.rods->stretch_stiffness / (std::numbers::pi * body.radius * body.radius);
  if (body.shell)
    return std::visit(
        [](const auto& m) -> std::optional<double> {
          if constexpr (requires { m.lame; }) {
            const double poisson = m.lame.lambda / (m.lame.lambda + 2 * m.lame.mu);  // of plane stress
            return 2 * m.lame.mu * (1 + poisson);
          }
          return std::nullopt;
        },
        body.shell->membrane);
  std::optional<double> least;
  const auto look = [&](const std::vector<Material>& materials) {
    for (const Material& material : materials)
      if (const auto stiffness = young_and_poisson(material))
        least = std::min(stiffness->first, least.value_or(stiffness->first));
  };
  if (body.elastic) look(body.elastic->materials);
  if (body.planar) look(body.planar->materials);
  return least;
}

/// How thick a solid is [m] if it is slender and every point of it lies on its surface, so that nothing of a
/// bent part is between its two sides; else none.
std::optional<double> one_cell_thickness(const Body& body, const BodyReport& r) {
  if (body.kind != BodyKind::volume || !r.volume || body.elastic->lagrange ||
      Index(body.surface_points.size()) != r.points)
    return std::nullopt;
  double area = 0;
  for (Index f = 0; f < body.surface_faces.cols(); ++f) {
    const auto corner = [&](int k) -> Vector3 { return body.mesh.points.col(body.surface_faces(k, f)); };
    area += 0.5 * (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm();
  }
  // Of a plate the thickness, of a rod half of it; a cube has a third of its edge, a block of 4 : 1 : 1 a
  // ninth of its length.
  const double thickness = 2 * *r.volume / area;
  return r.extent.maxCoeff() > 9.1 * thickness ? std::optional(thickness) : std::nullopt;
}

/// How fast a rigid body turns at the start [rad/s]. Its nodes are the corners of a regular tetrahedron: with
/// velocities ω × r about the centre they have Σ‖ω × r‖² = ⅔ ‖ω‖² Σ‖r‖².
double rigid_spin(const Body& body) {
  const Vector3 centre = body.nodes.rowwise().mean(), mean = body.velocity.rowwise().mean();
  return std::sqrt(1.5 * (body.velocity.colwise() - mean).squaredNorm() /
                   (body.nodes.colwise() - centre).squaredNorm());
}

/// The farthest that a point of the body goes in one step [m]: by its speed at the start, or by its script,
/// sampled in some steps.
double farthest_move(const Body& body, const Scene& scene) {
  const double dt = scene.model->options.dt;
  double way = body.velocity.cols() > 0 ? body.velocity.colwise().norm().maxCoeff() * dt : 0;
  for (const ScriptedPart& part : scripted_parts(body)) {
    const Script& script = body.scripts[part.script];
    const std::vector<Index>& nodes = part.nodes;
    if (!script.motion) continue;
    // The outermost nodes: a rigid motion moves one of them farthest.
    std::set<Index> outermost;
    for (int axis = 0; axis < 3; ++axis) {
      const auto less = [&](Index a, Index b) { return body.nodes(axis, a) < body.nodes(axis, b); };
      const auto [low, high] = std::minmax_element(nodes.begin(), nodes.end(), less);
      outermost.insert({*low, *high});
    }
    // A sequence of meshes moves all nodes together and cannot be asked for a few.
    const bool all = Index(nodes.size()) == body.node_count() && body.kind == BodyKind::obstacle;
    const std::vector<Index> chosen = all ? nodes : std::vector<Index>(outermost.begin(), outermost.end());
    Matrix3X start(3, Index(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) start.col(Index(i)) = body.nodes.col(chosen[i]);
    const Index looks = start.cols() > 100'000 ? 8 : 64;
    for (Index k = 0; k < looks; ++k) {
      const double time = dt * std::floor(double(scene.steps) * double(k) / double(looks));
      if (!script.when.covers(time + dt)) continue;
      const double from = std::max(0.0, time - script.when.from);
      way = std::max(
          way, (script.motion(start, from + dt) - script.motion(start, from)).colwise().norm().maxCoeff());
    }
  }
  return way;
}

/// The size of what another body would have to pass around [m].
double size_to_go_around(const Body& body, const BodyReport& r) {
  return body.kind == BodyKind::particles ? 2 * body.radius : std::max(r.extent.maxCoeff(), 2 * body.radius);
}

/// Collects what looks like a mistake in a scene, body by body and then as a whole.
class Warnings {
 public:
  Warnings(const Scene& scene, const std::vector<BodyReport>& bodies)
      : scene_(scene), model_(*scene.model), pairs_(model_.surface.pairs), bodies_(bodies) {
    for (std::size_t b = 0; b < bodies.size(); ++b)
      if (const double size = size_to_go_around(model_.bodies[b], bodies[b]);
          bodies[b].points > 0 && size > 0 && size < smallest_size_) {
        smallest_ = &bodies[b];
        smallest_size_ = size;
      }
  }

  std::vector<std::string> collect() {
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const BodyReport& r = bodies_[b];
      if (r.points == 0) continue;
      const std::size_t dot = r.name.rfind('.');
      about_ =
          dot != std::string::npos && is_copy(r.name, r.name.substr(0, dot)) ? r.name.substr(0, dot) : r.name;
      const Body& body = model_.bodies[b];
      check_size(r);
      check_materials(body, r);
      check_weight(body, r);
      check_degree(body, r);
      check_cells(body, r);
      check_own_contact(int(b), r);
      check_speed(body, r);
      check_spin(body, r);
      check_closed(body, r);
    }
    about_.clear();
    for (const auto& [text, alike] : said_)
      if (const std::size_t more = alike.about.size() - alike.said.size(); more > 0)
        result_[alike.said.back()] += fmt::format("; {} more {} like that", more, more == 1 ? "is" : "are");
    check_friction();
    check_time_step();
    check_options();
    return std::move(result_);
  }

 private:
  template <class... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) {
    constexpr std::size_t most_alike = 5;
    if (!about_.empty()) {
      // Copies of an array are alike: only the first is reported.
      Alike& alike = said_[fmt::string_view(text).data()];
      if (!alike.about.insert(about_).second || alike.said.size() == most_alike) return;
      alike.said.push_back(result_.size());
    }
    result_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void check_size(const BodyReport& r) {
    const double extent = r.extent.maxCoeff();
    if (extent <= 100 && extent > 5 && r.mass && *r.mass > 1e5)
      warn(
          "'{}' is {:.4g} m across and weighs {:.4g} t; lengths are in metres: if its mesh is in "
          "millimetres, use \"transform\": {{\"scale\": 0.001}}, in centimetres 0.01",
          r.name, extent, *r.mass / 1000);
    if (extent > 100)
      warn(
          "'{}' is {:.4g} m across; lengths are in metres: if its mesh is in millimetres, use \"transform\": "
          "{{\"scale\": 0.001}}, in centimetres 0.01",
          r.name, extent);
    else if (r.points > 1 && extent < 1e-3)
      warn("'{}' is only {:.3g} m across; lengths are in metres: give its transform a scale if that is wrong",
           r.name, extent);
    if (r.mass && r.volume) {
      const double density = *r.mass / *r.volume;
      if (density > 23000 || density < 1)
        warn("'{}' has a mean density of {:.3g} kg/m3, {}; densities are in kg/m3", r.name, density,
             density > 1 ? "denser than any material" : "less than air");
    }
  }

  void check_materials(const Body& body, const BodyReport& r) {
    if (body.planar && body.planar->state == PlaneState::strain)
      for (const Material& material : body.planar->materials)
        if (const auto stiffness = young_and_poisson(material); stiffness && stiffness->second > 0.48)
          warn(
              "'{}' has nu = {:.6g}: linear triangles in plane strain lock when nearly incompressible, so "
              "that "
              "the body comes out too stiff; use 0.45 and a fine mesh",
              r.name, stiffness->second);
    if (body.elastic && body.kind == BodyKind::volume)
      for (const Material& material : body.elastic->materials)
        if (const auto stiffness = young_and_poisson(material)) {
          const auto [young, poisson] = *stiffness;
          if (young > stiffest)
            warn("'{}' has E = {:.3g} Pa, stiffer than diamond; moduli are in Pa, so 1 GPa is 1e9", r.name,
                 young);
          else if (young > 1e10)
            warn(
                "'{}' has E = {:.3g} Pa and hardly deforms: as an affine body (\"type\": \"affine\") it "
                "costs far less",
                r.name, young);
          if (poisson > 0.48 && !body.elastic->lagrange)
            warn(
                "'{}' has nu = {:.6g}: linear tetrahedra lock when nearly incompressible, so that the body "
                "comes out too stiff, and steps take more iterations; use 0.45, or \"basis_order\": 2",
                r.name, poisson);
        }
  }

  /// Whether a body carries its own weight.
  void check_weight(const Body& body, const BodyReport& r) {
    const double g = model_.options.gravity.norm(), extent = r.extent.maxCoeff();
    if (const auto young = softest_young(body); young && r.mass && r.volume && *r.volume > 0) {
      // A solid rests on something unless it is held; thin bodies hang or fold.
      const bool hangs = (body.kind != BodyKind::volume && !body.planar) || !body.scripts.empty();
      const double height =
          hangs || !(g > 0) ? extent : std::abs(r.extent.dot(model_.options.gravity.cwiseAbs()) / g);
      const double weight = *r.mass / *r.volume * g * height;  // [Pa] at its foot
      if (body.kind != BodyKind::affine && (weight > *young || *young < 10))
        warn(
            "'{}' has E = {:.3g} Pa{}; moduli are in Pa: jelly has about 1e3, rubber 1e6, steel 2e11", r.name,
            *young,
            weight > *young
                ? fmt::format(
                      " and presses or pulls with {:.3g} Pa by its own weight: it sags by more than its size",
                      weight)
                : ", softer than any solid");
    }
  }

  /// Whether the displacements have a lower degree than the shape.
  void check_degree(const Body& body, const BodyReport& r) {
    if (!body.elastic || !body.elastic->lagrange || body.elastic->lagrange->offset.cols() == 0) return;
    const LagrangeCells& cells = *body.elastic->lagrange;
    // Of a uniform deformation A the nodes reproduce x = A (X − x₀) + x₀, so that F is off by (1 − A) ∇x₀.
    double share = 0;
    const Quadrature rule = tetrahedron_quadrature(cells.exact);
    for (Index t = 0; t < cells.nodes.cols(); ++t)
      for (Index k = 0; k < rule.size(); ++k)
        share = std::max(share, cells.offset_gradient(t, rule.points.col(k)).norm());
    warn(
        "'{}' has basis_order {} on a mesh of degree {}: up to {:.3g} m of its shape neither turn nor "
        "stretch "
        "with it, so that a uniform deformation, or a small rotation, gives strains that are off by up to "
        "{:.2g} of its own size; use \"basis_order\": {}",
        r.name, cells.degree, cells.shape_degree, cells.offset.colwise().norm().maxCoeff(), share,
        cells.shape_degree);
  }

  void check_cells(const Body& body, const BodyReport& r) {
    check_curved_cells(body, r);
    const double extent = r.extent.maxCoeff();
    if (const auto thickness = one_cell_thickness(body, r))
      warn(
          "'{}' is {:.3g} m long and one cell thick (about {:.2g} m): linear tetrahedra are far too stiff in "
          "bending there; use \"basis_order\": 2, three cells or more across, or a shell",
          r.name, extent, *thickness);
    if (r.quality && (*r.quality)[0] < 0.01)
      warn(
          "'{}' has cells that are nearly flat (quality {:.2g}; regular ones have 1): they cost iterations "
          "and limit the step; remesh it with better-shaped cells",
          r.name, (*r.quality)[0]);
  }

  /// Whether curved cells are nearly turned inside out as they are.
  void check_curved_cells(const Body& body, const BodyReport& r) {
    if (!body.elastic || body.mesh.curved.empty()) return;
    constexpr double least = 0.01;  // of the largest determinant in a cell
    const CurvedCells& cells = body.mesh.curved.front();
    const JacobianBound bound(cells.degree);
    double smallest = least;
    Index count = 0, worst = 0;
    Vector3 place;
    for (Index t = 0; t < cells.points.cols(); ++t) {
      const Matrix3X x = body.mesh.points(Eigen::all, cells.points.col(t));
      const VectorX c = bound.coefficients(x);
      if (c.minCoeff() > least * c.maxCoeff()) continue;
      const JacobianBound::Smallest found = bound.smallest(x, 1e-4);
      const double share = found.value / c.maxCoeff();
      if (share >= least) continue;
      ++count;
      if (share >= smallest) continue;
      smallest = share;
      worst = t;
      place = x * LagrangeTetrahedron(cells.degree).values(found.xi);
    }
    if (count > 0)
      warn(
          "'{}' has {} curved cells that are barely valid; in cell {} at ({:g}, {:g}, {:g}) the determinant "
          "of "
          "the shape is {:.2g} of the largest: stress is wrong there, and steps are bounded by it; make the "
          "mesh finer, or straighten its edges there",
          r.name, count, worst, place[0], place[1], place[2], smallest);
  }

  void check_own_contact(int b, const BodyReport& r) {
    const PairSettings& self = pairs_(b, b);
    if (self.enabled && r.edges[1] > 0 && model_.bodies[std::size_t(b)].is_dynamic() &&
        self.dhat > 0.5 * r.edges[1])
      warn(
          "contact of '{}' begins at {:.3g} m, its edges are {:.3g} m long: with dhat larger than the mesh, "
          "more pairs touch than matter; lower contact.dhat or use a coarser mesh",
          r.name, self.dhat, r.edges[1]);
  }

  void check_speed(const Body& body, const BodyReport& r) {
    if (const double way = farthest_move(body, scene_); way > smallest_size_)
      warn(
          "'{}' moves {:.3g} m in a step of {:.3g} s, more than {}: within a step it may get around what it "
          "should hit, and collisions need many iterations; use a time.dt of {:.1g} s or less",
          r.name, way, model_.options.dt,
          smallest_ == &r ? std::string("its own size")
                          : fmt::format("the size of '{}' ({:.3g} m)", smallest_->name, smallest_size_),
          0.5 * model_.options.dt * smallest_size_ / way);
  }

  /// Rigid bodies that turn far in a step: how much implicit Euler slows their spin, and whether they turn
  /// past obstacles.
  void check_spin(const Body& body, const BodyReport& r) {
    if (body.kind != BodyKind::rigid || !body.scripts.empty()) return;
    const double fast_turn = 15, half_turn = 180;  // [degrees] in a step
    const IntegratorOptions& integrator = model_.options.integrator;
    const double turn = rigid_spin(body) * model_.options.dt * (180 / std::numbers::pi);
    if (integrator.scheme == Integrator::implicit_euler && !integrator.conserves_spin && turn > fast_turn)
      warn(
          "'{}' turns by {:.3g} degrees in a step of {:.3g} s: implicit_euler slows such a spin down within "
          "a few steps; use a time.dt of {:.1g} s or less, or \"conserve_spin\": true",
          r.name, turn, model_.options.dt, model_.options.dt * fast_turn / turn);
    else if (turn > half_turn)
      warn(
          "'{}' turns by {:.3g} degrees in a step of {:.3g} s, more than half a turn: collisions on the way "
          "round are missed; use a time.dt of {:.1g} s or less",
          r.name, turn, model_.options.dt, 0.5 * model_.options.dt * half_turn / turn);
  }

  /// Rigid bodies of surfaces that look as if they were meant to be solids.
  void check_closed(const Body& body, const BodyReport& r) {
    if (body.kind != BodyKind::rigid || body.encloses_volume || r.triangles < 3 || !body.scripts.empty())
      return;
    if (r.extent.minCoeff() > 0.05 * r.extent.maxCoeff())
      warn(
          "the surface of '{}' is open: it weighs as a sheet, rho per area, {:.3g} kg; close it for a solid, "
          "or give mass, centre and inertia",
          r.name, r.mass.value_or(0));
  }

  void check_friction() {
    pairs_.for_each_used([&](const PairSettings& s, int a, int c) {
      if (s.enabled && s.friction > 2)
        warn(
            "the friction coefficient of '{}' with '{}' is {:.3g}; rubber on rough rock has about 1.5, and "
            "more than 2 only slows steps down",
            bodies_[std::size_t(a)].name, bodies_[std::size_t(c)].name, s.friction);
    });
  }

  void check_time_step() {
    const SimulationOptions& o = model_.options;
    const double fall = 0.5 * o.gravity.norm() * o.dt * o.dt;
    if (fall > model_.size)
      warn(
          "time.dt is {:.3g} s, in which a body falls {:.3g} m, farther than the scene is wide ({:.3g} m): "
          "what happens within a step is lost, and steps take many iterations; use a smaller one",
          o.dt, fall, model_.size);
  }

  void check_options() {
    const SimulationOptions& o = model_.options;
    if (o.contact.barrier_stiffness && o.contact.formulation == ContactFormulation::published &&
        std::isfinite(pairs_.min_dhat())) {
      const double usual = stiffness_range(mean_node_mass(model_), model_.size, pairs_.min_dhat()).high;
      if (*o.contact.barrier_stiffness > 1e3 * usual)
        warn(
            "contact.barrier_stiffness is {:.3g}, a thousand times what steps begin with at most ({:.3g}): "
            "contacts are hard, and steps take many iterations; remove the key to have it chosen",
            *o.contact.barrier_stiffness, usual);
    }
    if (o.solver.termination != Termination::balanced)
      warn(
          "solver.termination is not \"balanced\": steps end when the Newton step is short, as in the "
          "published codes, and forces (probes, contact_force) may be far from balance; check force_residual "
          "in steps.csv, or remove the key");
    if (pairs_.max_reach() > 0 && pairs_.min_dhat() < 1e-7 * model_.size)
      warn(
          "contact.dhat is {:.3g} m, a ten-millionth of the scene ({:.3g} m): forces change within less than "
          "rounding allows; raise it",
          pairs_.min_dhat(), model_.size);
    if (o.contact.friction_iterations == 0)
      warn(
          "contact.friction_iterations is 0: every step is solved again until friction has settled, which "
          "may take many solves; a number such as 1 is faster");
    if (o.solver.tolerance < 1e-8 * model_.size / o.dt)
      warn(
          "solver.tolerance is {:.3g} m/s, near what rounding allows for a scene of {:.3g} m: steps may not "
          "reach it; raise it",
          o.solver.tolerance, model_.size);
    if (o.solver.ccd == CcdMethod::tight_inclusion)
      warn("solver.ccd is tight_inclusion, which is several times slower than additive, and no safer");
  }

  const Scene& scene_;
  const Model& model_;
  const PairTable& pairs_;
  const std::vector<BodyReport>& bodies_;
  const BodyReport* smallest_ = nullptr;  ///< what others could get around in one step
  double smallest_size_ = std::numeric_limits<double>::infinity();  ///< [m]
  std::string about_;  ///< the body, or the array of which it is a copy
  /// The bodies that a text is about, and which of the results are about the first of them.
  struct Alike {
    std::set<std::string> about;
    std::vector<std::size_t> said;
  };
  std::map<const char*, Alike> said_;
  std::vector<std::string> result_;
};

}  // namespace

std::vector<std::string> warnings(const Scene& scene, const std::vector<BodyReport>& bodies) {
  std::vector<std::string> result = Warnings(scene, bodies).collect();
  for (std::string& warning : nested_later(scene)) result.push_back(std::move(warning));
  return result;
}

}  // namespace apart
