// The comparison with Bullet of the thesis (§4.6), on the fixtures of Rigid IPC: which program lets bodies
// penetrate each other, judged by the exact check of `apart verify` after every step, and what it costs.
//
//   apart_bench_rigid FIXTURES [RESULTS.json [PART_OF_NAME]]      FIXTURES: the folder fixtures/3D
#include <apart/core/diagnostics.hpp>
#include <apart/importers/importers.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/chart_dynamics.hpp>
#include <apart/simulation/simulation.hpp>
#include <apart/verify/frame_check.hpp>

#include "forked_run.hpp"
#include "rigid_peer.hpp"

#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <iostream>

namespace apart::bench {
namespace {

struct Fixture {
  const char* file;
  double seconds;  ///< of the scene that are simulated
};
// Those without kinematic bodies that the thesis shows with other programs, or that are like them.
constexpr Fixture fixtures[] = {
    {"unit-tests/5-cubes", 2},
    {"unit-tests/erleben/spikes", 1},
    {"unit-tests/erleben/spike-and-wedge", 1},
    {"unit-tests/erleben/wedge-in-crack", 1},
    {"unit-tests/erleben/spike-in-hole", 1},
    {"unit-tests/erleben/internal-edges", 1},
    {"unit-tests/tunneling", 0.5},
    {"friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.5", 5},
    {"friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.49", 5},
    {"friction/arch/arch-25-stones", 2},
    {"friction/card-house/card-house-2-levels", 1},
    {"chain/10-links", 1},
    {"chain/chain-net/chain-net-4x4", 1},
};
constexpr double most_seconds = 60;  // CPU time of one program on one scene

/// What a program has made of a scene, watched after every step.
class Outcome {
 public:
  explicit Outcome(const Simulation& start) : check_(start.frame()), begin_(start.frame().mesh.points) {}

  void see(int step, const Matrix3X& points) {
    last_ = step;
    if (!points.allFinite()) {
      finite_ = false;
      return;
    }
    moved_ = (points - begin_).colwise().norm().maxCoeff();
    const bool meets = !check_.intersections(points, 1).empty() || !check_.below_half_spaces(points).empty();
    if (meets && first_ == 0) first_ = step;
    penetrating_ += meets;
  }
  bool is_finite() const { return finite_; }

  nlohmann::json json(double seconds) const {
    return {{"steps", last_},  {"first_penetration", first_}, {"penetrating_steps", penetrating_},
            {"moved", moved_}, {"finite", finite_},           {"cpu_seconds", seconds}};
  }

 private:
  verify::FrameCheck check_;
  Matrix3X begin_;  ///< [m]
  int last_ = 0, first_ = 0, penetrating_ = 0;
  double moved_ = 0;  ///< [m] the farthest point, at the end
  bool finite_ = true;
};

/// The bodies of a model, all rigid or obstacles.
PeerScene peer_scene(const Model& model) {
  PeerScene scene;
  scene.gravity = model.options.gravity;
  model.surface.pairs.for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) scene.friction = std::max(scene.friction, s.friction);
  });
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    PeerBody peer;
    peer.points = body.mesh.points;
    peer.faces = body.mesh.faces;
    const bool moves = body.is_dynamic() && body.chart && body.chart->free().any();
    if (moves && !body.chart->free().all())
      throw InputError("'{}' has single degrees of freedom fixed, which this comparison does not do",
                       body.name);
    if (moves) {
      const Matrix3X& q = body.nodes;
      const VectorX mass = body.mass * VectorX::Ones(q.cols());
      peer.mass = mass.sum();
      peer.centre = q * mass / peer.mass;
      const Matrix3X r = q.colwise() - peer.centre;
      const Matrix3 second = r * body.mass * r.transpose();
      peer.inertia = second.trace() * Matrix3::Identity() - second;
      const Matrix3X v = model.initial_velocity.middleCols(model.first_node[b], body.node_count());
      const Matrix3X p = v * body.mass;
      peer.velocity = p.rowwise().sum() / peer.mass;
      Vector3 turning = Vector3::Zero();
      for (Index k = 0; k < Index(q.cols()); ++k) turning += Vector3(r.col(k)).cross(Vector3(p.col(k)));
      peer.spin = peer.inertia.inverse() * turning;
    }
    scene.bodies.push_back(std::move(peer));
  }
  return scene;
}

nlohmann::json run_ours(const Scene& scene, int steps) {
  Simulation simulation(scene.model);
  Outcome outcome(simulation);
  double seconds = 0;
  for (int step = 1; step <= steps && seconds < most_seconds; ++step) {
    const double before = process_cpu_seconds();
    simulation.step();
    seconds += process_cpu_seconds() - before;
    outcome.see(step, scene.model->point_map.positions(simulation.state().nodes));
  }
  return outcome.json(seconds);
}

nlohmann::json run_bullet(const Scene& scene, int steps) {
  const Model& model = *scene.model;
  const auto peer = make_bullet(peer_scene(model));
  if (!peer) throw InputError("built without Bullet; install libbullet-dev and build again");
  Outcome outcome{Simulation(scene.model)};
  Matrix3X points(3, model.point_count());
  double seconds = 0;
  for (int step = 1; step <= steps && seconds < most_seconds && outcome.is_finite(); ++step) {
    const double before = process_cpu_seconds();
    peer->step(model.options.dt);
    seconds += process_cpu_seconds() - before;
    for (std::size_t b = 0; b < model.bodies.size(); ++b)
      points.middleCols(model.first_point[b], model.bodies[b].mesh.point_count()) = peer->points(b);
    outcome.see(step, points);
  }
  return outcome.json(seconds);
}

std::string table_line(const std::string& name, double dt, const char* program, const nlohmann::json& row,
                       int wanted) {
  if (row.contains("error"))
    return fmt::format("| {} | {:g} | {} | {} | | | |", name, dt, program, row["error"].get<std::string>());
  const int first = row["first_penetration"], steps = row["steps"];
  return fmt::format("| {} | {:g} | {} | {} | {} | {:.3g} | {:.3g} |", name, dt, program,
                     first == 0
                         ? std::string("never")
                         : fmt::format("from step {} on, in {}", first, row["penetrating_steps"].get<int>()),
                     !row["finite"].get<bool>() ? fmt::format("not finite at step {}", steps)
                                                : fmt::format("{} of {}", steps, wanted),
                     row["moved"].get<double>(), row["cpu_seconds"].get<double>());
}

}  // namespace
}  // namespace apart::bench

int main(int argc, char** argv) {
  using namespace apart;
  using namespace apart::bench;
  if (argc < 2) {
    std::cerr << "apart_bench_rigid FIXTURES [RESULTS.json [PART_OF_NAME]]\n";
    return 64;
  }
  const std::string only = argc > 3 ? argv[3] : "";
  nlohmann::json all = nlohmann::json::array();
  fmt::print("| fixture | h [s] | program | penetrates | steps | moved at the end [m] | CPU s |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Fixture& f : fixtures) {
    const std::string name = f.file;
    if (name.find(only) == std::string::npos) continue;
    for (const double dt : {1e-2, 1e-3}) {
      const int steps = int(std::lround(f.seconds / dt));
      for (const char* program : {"Apart", "Bullet"}) {
        nlohmann::json row = forked_run(
            [&] {
              const std::vector<std::string> overrides = {fmt::format("time.dt={:g}", dt)};
              const Scene scene =
                  build_scene(open_scene_file(std::string(argv[1]) + "/" + name + ".json", overrides));
              return program == std::string("Apart") ? run_ours(scene, steps) : run_bullet(scene, steps);
            },
            1);
        fmt::print("{}\n", table_line(name, dt, program, row, steps));
        std::fflush(stdout);
        row["fixture"] = name;
        row["dt"] = dt;
        row["program"] = program;
        all.push_back(row);
      }
    }
  }
  if (argc > 2) {
    std::ofstream out(argv[2]);
    out << all.dump(2) << "\n";
    if (!out) {
      std::cerr << argv[2] << ": cannot be written\n";
      return 1;
    }
  }
  return 0;
}
