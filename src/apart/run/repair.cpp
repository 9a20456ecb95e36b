#include <apart/bodies/body_rules.hpp>
#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/run/repair.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace apart {

namespace {

constexpr double smallest_scale = 0.3;   // what has to be shrunk further is too deep in something
constexpr double largest_move = 0.1;     // of a body's size
constexpr double smallest_share = 1e-4;  // of the thickness to begin with
constexpr double nudge = 1e-3;           // of their radius, for balls in the same place
constexpr int most_steps = 50;

/// The connected piece each node of a body belongs to.
std::vector<Index> pieces(const Body& body) {
  if (moves_as_whole(body)) return std::vector<Index>(std::size_t(body.node_count()), 0);
  if (!body.mesh.curved.empty() && body.elastic)
    return connected_pieces(
        body.node_count(),
        {body.elastic->lagrange ? body.elastic->lagrange->nodes : Eigen::MatrixXi(body.elastic->nodes)});
  return connected_pieces(body.node_count(), {body.mesh.tetrahedra, body.mesh.faces, body.mesh.edges});
}

/// The nodes of chosen bodies, each piece scaled about its centre. Balls, which have no size to lose, are
/// moved by a thousandth of their radius, each to another side: several may be in the same place.
Matrix3X shrunk(const Model& model, const std::set<int>& bodies, double scale) {
  Matrix3X q = model.initial_nodes;
  for (const int b : bodies) {
    const Body& body = model.bodies[std::size_t(b)];
    const Index first = model.first_node[std::size_t(b)];
    const std::vector<Index> piece = pieces(body);
    Matrix3X centre = Matrix3X::Zero(3, body.node_count());
    VectorX count = VectorX::Zero(body.node_count());
    for (Index i = 0; i < body.node_count(); ++i) {
      centre.col(piece[std::size_t(i)]) += body.nodes.col(i);
      ++count[piece[std::size_t(i)]];
    }
    for (Index i = 0; i < body.node_count(); ++i) {
      const Index p = piece[std::size_t(i)];
      const Vector3 c = centre.col(p) / count[p];
      q.col(first + i) = c + scale * (body.nodes.col(i) - c);
      if (count[p] > 1) continue;
      // Golden angles: no two neighbours in the list go to the same side.
      const double turn = 2.399963229728653 * double(first + i), z = std::cos(1.7 * double(first + i));
      const Vector3 side(std::sqrt(1 - z * z) * std::cos(turn), std::sqrt(1 - z * z) * std::sin(turn), z);
      q.col(first + i) += nudge * body.radius * side;
    }
  }
  return q;
}

/// The bodies and pairs of a frame with nothing acting on them but elasticity and contact, which keeps
/// `share` of the thickness and is felt as far out as with all of it.
std::shared_ptr<const Model> bare_model(const Model& model, const Frame& frame, double share) {
  std::vector<Body> bodies = model.bodies;
  for (Body& body : bodies) {
    body.loads.clear();
    body.torques.clear();
    body.pressures.clear();
    body.winds.clear();
    body.chart
        .reset();  // shrunk rigid bodies are not on rigid motions; all are pulled back to their own shape
    body.scripts.clear();
    body.damping = {};
    body.presence = {};
    if (!body.is_dynamic() && body.node_count() > 0) add_script(body, nullptr, {true, true, true}, {});
  }
  for (const int b : frame.absent)
    bodies[std::size_t(b)].presence.from = std::numeric_limits<double>::infinity();
  PairTable pairs = model.surface.pairs;
  pairs.change_all([&](PairSettings& settings) {
    settings.friction = 0;
    settings.kinetic_friction.reset();
    settings.dhat += (1 - share) * settings.thickness;
    settings.thickness *= share;
  });
  for (const auto& [a, b] : frame.ignored_pairs) {
    PairSettings settings = pairs(a, b);
    settings.enabled = false;
    pairs.set(a, b, settings);
  }
  SimulationOptions options = model.options;
  options.gravity.setZero();
  options.integrator = {};
  options.max_motion = 0;  // velocities are only a way to name a target
  // The adaptive rule keeps bodies that touch at the start where they are.
  options.contact.stiffness_rule = StiffnessRule::published;
  options.solver.termination = Termination::published;
  return std::make_shared<const Model>(std::move(bodies), std::move(pairs), options);
}

/// One step from rest, with the target q̃ at `goal`.
Matrix3X drawn_to(const std::shared_ptr<const Model>& model, const Matrix3X& nodes, const Matrix3X& goal) {
  State state = start_state(*model);
  state.nodes = state.previous_nodes = nodes;
  state.velocity = (goal - nodes) / model->options.dt;  // q̃ = q + h v
  Simulation simulation(model, state);
  simulation.step();
  return simulation.state().nodes;
}

/// The nodes of bodies, grown back to where they were, as far as there is room.
Matrix3X grown(const std::shared_ptr<const Model>& model, Matrix3X q) {
  for (int step = 0; step < most_steps; ++step) {
    const Matrix3X next = drawn_to(model, q, model->initial_nodes);
    const double change = (next - q).cwiseAbs().maxCoeff();
    q = next;
    if (change < 1e-3 * model->surface.pairs.min_dhat()) break;
  }
  return q;
}

/// Part of a scene that is to be set free.
class Part {
 public:
  Part(const Model& model, const StartCheck::Part& part) : model_(model), frame_(part.frame) {}

  SceneCheck check(const Matrix3X& nodes, double share = 1) const {
    Frame frame = frame_;
    frame.mesh.points = model_.point_map.positions(nodes);
    for (double& thickness : frame.thickness) thickness *= share;
    for (auto& pair : frame.pair_thickness) pair.thickness *= share;
    return check_scene(frame, 0, 1);
  }

  /// Lets nodes that nothing intersects drift apart until they keep their thickness: with ever more of it,
  /// each time as much as there is room for. False if that does not come to an end.
  bool thicken(Matrix3X& q) const {
    double share = 1;
    while (share > smallest_share && !check(q, share).ok()) share *= 0.5;
    for (int step = 0; step < most_steps && share > smallest_share; ++step) {
      if (share == 1) return true;
      q = drawn_to(bare_model(model_, frame_, share), q, q);
      if (check(q).ok()) return true;
      double more = share, too_much = 1;
      for (int k = 0; k < 6; ++k) {
        const double middle = 0.5 * (more + too_much);
        (check(q, middle).ok() ? more : too_much) = middle;
      }
      share += 0.9 * (more - share);  // a gap must remain for the barrier to begin with
    }
    return false;
  }

  Matrix3X grow(const Matrix3X& q) const { return grown(bare_model(model_, frame_, 1), q); }

 private:
  const Model& model_;
  const Frame& frame_;
};

}  // namespace

Repair repair_start(const Scene& scene, const SceneFile& file) {
  const Model& model = *scene.model;
  const StartCheck start = check_start(scene);
  Repair repair;
  repair.points = model.point_map.positions(model.initial_nodes);
  const auto refuse = [&](const std::string& why) {
    Problems problems;
    problems.add(fmt::format("{}: {}", file.name, why));
    for (std::string& message : messages(start, file)) problems.add(std::move(message));
    problems.throw_if_any();
  };
  for (const StartCheck::Part& at : start.parts) {
    if (at.found.ok()) continue;
    if (!at.found.inversions.empty()) refuse("inverted cells cannot be repaired here; repair the mesh");
    if (!at.found.nested.empty()) refuse("what lies inside a solid has no way out; move it out");
    std::set<int> concerned;
    for (const auto* list : {&at.found.intersections, &at.found.gaps})
      for (const verify::Finding& finding : *list)
        for (const int b : at.bodies)
          if (model.bodies[std::size_t(b)].is_dynamic() &&
              std::find(finding.bodies.begin(), finding.bodies.end(), model.bodies[std::size_t(b)].name) !=
                  finding.bodies.end())
            concerned.insert(b);
    for (const int b : concerned)
      if (const Body& body = model.bodies[std::size_t(b)]; !body.mesh.curved.empty())
        refuse(
            fmt::format("'{}' has a basis_order above 1, or a collision mesh, and keeps its points; move it, "
                        "or its neighbours",
                        body.name));
    if (concerned.empty()) refuse("nothing that can move is concerned; move the obstacles");
    const Part part(model, at);
    // As large as possible: without intersections, and best with all of the thickness too.
    Matrix3X q;
    std::optional<Matrix3X> thin;
    bool found = false;
    for (double scale = 1; scale >= smallest_scale && !found; scale = scale == 1     ? 0.995
                                                                      : scale > 0.97 ? scale - 0.01
                                                                                     : 0.9 * scale) {
      q = shrunk(model, concerned, scale);
      const SceneCheck check = part.check(q);
      found = check.ok();
      if (!thin && check.intersections.empty() && check.nested.empty()) thin = q;
    }
    if (!found && !thin)
      refuse(
          fmt::format("the bodies are too deep in each other, or cross themselves: shrinking them to {:g} of "
                      "their size does not separate them; move them apart",
                      smallest_scale));
    try {
      if (!found) {
        q = *thin;
        if (!part.thicken(q))
          refuse("they cannot be separated by their thickness; give them room, or make them thinner");
      }
      q = part.grow(q);
    } catch (const SolverError& e) {
      refuse(fmt::format("there is not enough room: {}", e.what()));
    }
    if (!part.check(q).ok()) refuse("they could not be separated; move them apart");
    const Matrix3X points = model.point_map.positions(q);
    for (const int b : at.bodies) {
      const auto i = std::size_t(b);
      if (!model.bodies[i].is_dynamic()) continue;
      const Index first = model.first_point[i], n = model.bodies[i].mesh.point_count();
      const Matrix3X& before = model.bodies[i].mesh.points;
      const double moved = (points.middleCols(first, n) - before).colwise().norm().maxCoeff();
      if (moved <= 1e-12 * model.size) continue;
      const double size = (before.rowwise().maxCoeff() - before.rowwise().minCoeff()).norm();
      if (moved > std::max(largest_move * size, 2 * model.bodies[i].radius))
        refuse(fmt::format(
            "'{}' would have to move by {:.3g} m, more than {}; move it yourself", model.bodies[i].name,
            moved,
            largest_move * size > 2 * model.bodies[i].radius ? "a tenth of its size" : "its thickness"));
      repair.points.middleCols(first, n) = points.middleCols(first, n);
      repair.moved.push_back({b, moved});
    }
  }
  return repair;
}

namespace {

/// Files of a scene that is being written, removed unless it is completed.
class UnfinishedScene {
 public:
  UnfinishedScene(const std::filesystem::path& scene_file, const std::filesystem::path& folder)
      : scene_file_(scene_file), folder_(folder) {
    if (scene_file.extension() != ".json")
      throw InputError("{}: must end with .json; scenes are read by their ending", scene_file.string());
    std::error_code error;
    for (const std::filesystem::path& taken : {scene_file, folder})
      if (std::filesystem::exists(taken, error))
        throw InputError("{}: exists already; choose a new name", taken.string());
    std::filesystem::create_directories(folder, error);
    if (error)
      throw InputError("{}: cannot be created: {}; choose another place", folder.string(), error.message());
  }
  UnfinishedScene(const UnfinishedScene&) = delete;
  UnfinishedScene& operator=(const UnfinishedScene&) = delete;
  ~UnfinishedScene() {
    if (finished_) return;
    std::error_code ignored;
    std::filesystem::remove(scene_file_, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }
  void finish() { finished_ = true; }

 private:
  const std::filesystem::path &scene_file_, &folder_;
  bool finished_ = false;
};

/// The copies of an array, as bodies of their own.
std::vector<BodyDescription> copies_of(const BodyDescription& body) {
  std::vector<BodyDescription> result;
  std::visit(
      [&](const auto& d) {
        if constexpr (requires { d.array; }) {
          const ArrayDescription& grid = *d.array;
          for (int z = 0; z < grid.counts[2]; ++z)
            for (int y = 0; y < grid.counts[1]; ++y)
              for (int x = 0; x < grid.counts[0]; ++x) {
                auto copy = d;
                copy.array.reset();
                copy.name = copy_name(d.name, result.size());
                copy.transform.translate += grid.spacing.cwiseProduct(Vector3(x, y, z));
                result.push_back(std::move(copy));
              }
        }
      },
      body);
  return result;
}

/// Writes where the points of a body are now, if they moved, and names the file in its description.
void write_points(BodyDescription& body, const Repair& repair, const Model& model,
                  const std::filesystem::path& folder) {
  for (const Repair::Moved& moved : repair.moved) {
    const auto b = std::size_t(moved.body);
    if (model.bodies[b].name != base_of(body).name) continue;
    Mesh mesh = model.bodies[b].mesh;
    mesh.points = repair.points.middleCols(model.first_point[b], mesh.point_count());
    const std::filesystem::path file = folder / fmt::format("body-{}.vtu", b);
    write_mesh(file, mesh);
    std::visit(
        [&](auto& d) {
          if constexpr (requires { d.moved_points; })
            d.moved_points = folder.filename().string() + "/" + file.filename().string();
        },
        body);
  }
}

}  // namespace

void write_repaired(const std::filesystem::path& scene_file, const Repair& repair, const Scene& scene,
                    const SceneFile& file) {
  const Model& model = *scene.model;
  const std::filesystem::path folder = scene_file.parent_path() / (scene_file.stem().string() + "-meshes");
  UnfinishedScene files(scene_file, folder);
  SceneDescription description = file.description();
  std::vector<BodyDescription> bodies;
  for (const BodyDescription& body : description.bodies) {
    // Copies that differ are written one by one.
    const bool differ = array_of(body) && std::ranges::any_of(repair.moved, [&](const Repair::Moved& moved) {
                          return is_copy(model.bodies[std::size_t(moved.body)].name, base_of(body).name);
                        });
    for (BodyDescription& one : differ ? copies_of(body) : std::vector{body}) {
      write_points(one, repair, model, folder);
      bodies.push_back(std::move(one));
    }
  }
  description.bodies = std::move(bodies);
  write_atomically(scene_file, readable_text(to_json(description)));
  // What was written is what will be run.
  const SceneFile again = read_scene(scene_file);
  ensure_feasible_start(build_scene(again), again);
  files.finish();
  std::error_code error;
  if (repair.moved.empty()) std::filesystem::remove(folder, error);
}

}  // namespace apart
