#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/ipc_import.hpp>
#include <apart/scene/repair.hpp>
#include <apart/scene/start_check.hpp>
#include <apart/scene/validation.hpp>
#include <apart/simulation/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace apart {

namespace {

constexpr double smallest_scale = 0.3;  // what has to be shrunk further is too deep in something
constexpr double largest_move = 0.1;    // of a body's size
constexpr int most_steps = 50;

/// The connected piece each node of a body belongs to.
std::vector<int> pieces(const Body& body) {
  std::vector<int> parent(std::size_t(body.node_count()));
  std::iota(parent.begin(), parent.end(), 0);
  if (body.kind == BodyKind::affine) return std::vector<int>(parent.size(), 0);
  const auto find = [&](int i) {
    while (parent[std::size_t(i)] != i)
      i = parent[std::size_t(i)] = parent[std::size_t(parent[std::size_t(i)])];
    return i;
  };
  const auto join = [&](const auto& cells) {
    for (Index c = 0; c < cells.cols(); ++c)
      for (Index k = 1; k < cells.rows(); ++k) parent[std::size_t(find(cells(k, c)))] = find(cells(0, c));
  };
  join(body.mesh.tetrahedra);
  join(body.mesh.faces);
  join(body.mesh.edges);
  for (int i = 0; i < int(parent.size()); ++i) parent[std::size_t(i)] = find(i);
  return parent;
}

/// The nodes of chosen bodies, each piece scaled about its centre.
Matrix3X shrunk(const Model& model, const std::set<int>& bodies, double scale) {
  Matrix3X q = model.initial_nodes;
  for (const int b : bodies) {
    const Body& body = model.bodies[std::size_t(b)];
    const Index first = model.first_node[std::size_t(b)];
    const std::vector<int> piece = pieces(body);
    Matrix3X centre = Matrix3X::Zero(3, body.node_count());
    VectorX count = VectorX::Zero(body.node_count());
    for (Index i = 0; i < body.node_count(); ++i) {
      centre.col(piece[std::size_t(i)]) += body.nodes.col(i);
      ++count[piece[std::size_t(i)]];
    }
    for (Index i = 0; i < body.node_count(); ++i) {
      const int p = piece[std::size_t(i)];
      const Vector3 c = centre.col(p) / count[p];
      q.col(first + i) = c + scale * (body.nodes.col(i) - c);
    }
  }
  return q;
}

/// The scene's bodies with nothing acting on them but elasticity and contact.
std::shared_ptr<const Model> bare_model(const Model& model) {
  std::vector<Body> bodies = model.bodies;
  for (Body& body : bodies) {
    body.loads.clear();
    body.pressures.clear();
    body.winds.clear();
    body.prescriptions.clear();
    body.damping = {};
    if (!body.is_dynamic() && body.node_count() > 0) prescribe(body, nullptr, {true, true, true}, {});
  }
  PairTable pairs = model.surface.pairs;
  for (int a = 0; a < pairs.body_count(); ++a)
    for (int b = a; b < pairs.body_count(); ++b) {
      PairSettings settings = pairs(a, b);
      settings.friction = 0;
      settings.kinetic_friction.reset();
      pairs.set(a, b, settings);
    }
  SimulationOptions options = model.options;
  options.gravity.setZero();
  options.integrator = {};
  return std::make_shared<const Model>(std::move(bodies), std::move(pairs), options);
}

/// The nodes of bodies, grown back to where they were, as far as there is room.
Matrix3X grown(const std::shared_ptr<const Model>& model, const Matrix3X& start) {
  State state = start_state(*model);
  state.nodes = state.previous_nodes = start;
  const double dt = model->options.dt;
  for (int step = 0; step < most_steps; ++step) {
    // With this velocity the step's target q̃ = q + h v is where everything was.
    state.velocity = (model->initial_nodes - state.nodes) / dt;
    state.step = 0;
    state.time = 0;
    Simulation simulation(model, state);
    simulation.step();
    const double change = (simulation.state().nodes - state.nodes).cwiseAbs().maxCoeff();
    state.nodes = simulation.state().nodes;
    if (change < 1e-3 * model->surface.pairs.min_dhat()) break;
  }
  return state.nodes;
}

SceneCheck check(const Model& model, Frame frame, const Matrix3X& nodes) {
  frame.mesh.points = model.point_map.positions(nodes);
  return check_scene(frame, 0);
}

}  // namespace

Repair repair_start(const Scene& scene, const SceneFile& file) {
  const Model& model = *scene.model;
  StartCheck start = check_start(scene);
  Repair repair;
  repair.points = start.frame.mesh.points;
  if (start.ok()) return repair;
  const auto refuse = [&](const std::string& why) {
    Problems problems;
    problems.add(fmt::format("{}: {}", file.name, why));
    for (std::string& message : messages(start, file)) problems.add(std::move(message));
    problems.throw_if_any();
  };
  if (!start.found.inversions.empty())
    refuse("cells that are inverted cannot be mended here; repair the mesh");

  const bool thin = !start.found.gaps.empty();
  std::set<int> concerned;
  for (const verify::Finding& finding : start.all())
    for (const std::string& name : finding.bodies)
      for (std::size_t b = 0; b < model.bodies.size(); ++b)
        if (model.bodies[b].name == name && model.bodies[b].is_dynamic()) concerned.insert(int(b));
  if (concerned.empty()) refuse("nothing that can move is concerned; move the obstacles");
  Matrix3X q;
  bool found = false;
  for (double scale = 0.995; scale >= smallest_scale && !found;
       scale = scale > 0.97 ? scale - 0.01 : 0.9 * scale) {
    q = shrunk(model, concerned, scale);
    found = check(model, start.frame, q).ok();
  }
  if (!found)
    refuse(
        fmt::format("the bodies are too deep in each other, or cross themselves{}: shrinking them to {:g} of "
                    "their size does not set them free; move them apart",
                    thin ? ", or pieces without size are too close" : "", smallest_scale));
  try {
    q = grown(bare_model(model), q);
  } catch (const SolverError& e) {
    refuse(fmt::format("they do not find room: {}", e.what()));
  }
  repair.points = model.point_map.positions(q);
  start.frame.mesh.points = repair.points;
  if (!check_scene(start.frame, 0).ok()) refuse("they do not come free; move them apart");
  for (const int b : concerned) {
    const auto i = std::size_t(b);
    const Index first = model.first_point[i], n = model.bodies[i].mesh.point_count();
    const Matrix3X& before = model.bodies[i].mesh.points;
    const double moved = (repair.points.middleCols(first, n) - before).colwise().norm().maxCoeff();
    const double size = (before.rowwise().maxCoeff() - before.rowwise().minCoeff()).norm();
    if (moved > largest_move * size)
      refuse(
          fmt::format("'{}' would have to move by {:.3g} m, more than a tenth of its size; move it yourself",
                      model.bodies[i].name, moved));
    repair.moved.push_back({b, moved});
  }
  return repair;
}

void write_repaired(const std::filesystem::path& scene_file, const Repair& repair, const Scene& scene,
                    const SceneFile& file) {
  const Model& model = *scene.model;
  const std::filesystem::path folder = scene_file.parent_path() / (scene_file.stem().string() + "-meshes");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw InputError("{}: cannot be created: {}; choose another place", folder.string(), error.message());
  JsonValue root = file.root;
  for (const Repair::Moved& moved : repair.moved) {
    const auto b = std::size_t(moved.body);
    const Body& body = model.bodies[b];
    JsonValue* entry = nullptr;
    for (JsonValue& candidate : *root.find("bodies")->get_if<JsonValue::Array>())
      if (*candidate.find("name")->get_if<std::string>() == body.name) entry = &candidate;
    if (!entry)
      throw InputError(
          "'{}' is one of several copies, which have one mesh for all; write the copies one by one",
          body.name);
    Mesh mesh = body.mesh;
    mesh.points = repair.points.middleCols(model.first_point[b], body.mesh.point_count());
    const std::filesystem::path mesh_file = folder / fmt::format("body-{}.vtu", b);
    write_mesh(mesh_file, mesh);
    JsonValue::Object source;
    source.emplace_back("file", JsonValue(folder.filename().string() + "/" + mesh_file.filename().string()));
    *entry->find("mesh") = JsonValue(std::move(source));
    auto& members = *entry->get_if<JsonValue::Object>();
    std::erase_if(members, [](const auto& member) { return member.first == "transform"; });
  }
  write_atomically(scene_file, readable_text(root));
}

}  // namespace apart
