// Whole scenes at several sizes each (TI: by Tight Inclusion instead of additive collision detection): time
// per step split as in summary.json, iterations, memory. Every row runs in a process of its own, so that its
// peak memory is its own. Prints a table; saves it as JSON if a file is named.
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/simulation.hpp>

#include "forked_run.hpp"

#include <Eigen/Geometry>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>

namespace apart {
namespace {

struct Scene {
  std::vector<Body> bodies;
  PairSettings contact{true, 0.3, 1e-3, 0};
  SimulationOptions options;
  int steps = 20;
};

Mesh moved(Mesh m, const Vector3& by) {
  m.points.colwise() += by;
  return m;
}

/// Four soft balls dropped on each other and on the ground.
Scene balls(int resolution) {
  Scene s;
  s.options.dt = 0.02;
  s.steps = 25;
  for (int i = 0; i < 4; ++i)
    s.bodies.push_back(
        make_volume("ball" + std::to_string(i),
                    moved(generate::sphere(0.1, resolution), {0.03 * (i % 2), 0.105 + 0.21 * i, 0.01 * i}),
                    NeoHookean{lame_parameters(3e4, 0.4)}, 1000, MassKind::lumped));
  s.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return s;
}

/// A mat twisted by its two ends, ±0.4π rad/s. [IPC, mat twist]
Scene mat_twist(int cells) {
  Scene s;
  s.options.dt = 0.04;
  s.options.gravity.setZero();
  s.contact.friction = 0;
  s.steps = 40;
  s.bodies.push_back(make_volume("mat", generate::mat(1, 1.0 / cells, cells),
                                 NeoHookean{lame_parameters(2e4, 0.4)}, 1000, MassKind::lumped));
  for (const double side : {-1.0, 1.0}) {
    std::vector<Index> end;
    for (Index p = 0; p < s.bodies[0].mesh.point_count(); ++p)
      if (side * s.bodies[0].mesh.points(0, p) > 0.499) end.push_back(p);
    add_script(s.bodies[0], &end, {true, true, true}, rigid_motion([side](double t) {
                 Pose pose;
                 pose.rotation =
                     Eigen::AngleAxisd(side * 0.4 * EIGEN_PI * t, Vector3::UnitX()).toRotationMatrix();
                 return pose;
               }));
  }
  return s;
}

/// Stiff affine boxes falling in a heap: 3 × layers × 3.
Scene affine_heap(int layers) {
  Scene s;
  s.options.dt = 0.02;
  s.contact.dhat = 2e-3;
  s.steps = 40;
  for (int i = 0; i < 9 * layers; ++i) {
    Mesh box = generate::box({0.1, 0.06, 0.08}, {1, 1, 1});
    box.points =
        Eigen::AngleAxisd(0.7 * i, Vector3(1, 2, 0.5 * (i % 3)).normalized()).toRotationMatrix() * box.points;
    const Vector3 at(0.15 * (i % 3), 0.1 + 0.15 * (i / 9), 0.15 * (i / 3 % 3));
    s.bodies.push_back(make_affine("box" + std::to_string(i), moved(box, at), Orthogonality{1e8}, 1000));
  }
  s.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return s;
}

/// Rigid boxes falling in a heap of four layers, columns × columns wide.
Scene rigid_heap(int columns) {
  Scene s;
  s.contact.dhat = 2e-3;
  s.contact.friction = 0.5;
  s.steps = 30;
  for (int i = 0; i < 4 * columns * columns; ++i) {
    Mesh box = generate::box({0.1, 0.06, 0.08}, {1, 1, 1});
    box.points =
        Eigen::AngleAxisd(0.7 * i, Vector3(1, 2, 0.5 * (i % 3)).normalized()).toRotationMatrix() * box.points;
    const Vector3 at(0.145 * (i % columns), 0.08 + 0.145 * (i / (columns * columns)),
                     0.145 * (i / columns % columns));
    box = moved(box, at);
    s.bodies.push_back(make_rigid("box" + std::to_string(i), box, mass_distribution(box, 1000), {}));
  }
  s.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return s;
}

/// A square of cotton of n × n cells falls on a ball. [C-IPC, cloth on sphere; from 1 mm above the ball]
Scene cloth_on_sphere(int n) {
  Scene s;
  s.options.dt = 0.04;
  s.options.solver.tolerance = 1e-3;
  s.options.solver.termination = Termination::l2_norm;
  s.contact = {true, 0.4, 1e-3, 0};
  s.steps = 3;
  ShellSubstance cotton;
  cotton.membrane = KoiterMembrane{plane_stress_parameters(0.01 * 8.21e5, 0.243)};
  cotton.density = 472.64;
  cotton.thickness = 3.18e-4;
  cotton.bending_young = 8.21e5;
  cotton.bending_poisson = 0.243;
  cotton.bending_model = BendingModel::published;
  cotton.limit = StretchLimit{.upper = 1.0608};
  s.bodies.push_back(make_shell("cloth", moved(generate::grid(1, 1, n, n), {0, 0.151, 0}), cotton));
  s.bodies.push_back(make_obstacle("ball", generate::sphere(0.15, 8, generate::Content::surface)));
  return s;
}

/// n × n rods of 50 segments fall in a bundle on the ground.
Scene rods(int n) {
  Scene s;
  s.options.dt = 0.01;
  s.options.solver.tolerance = 1e-3;
  s.options.solver.termination = Termination::l2_norm;
  s.contact = {true, 0.2, 5e-4, 1e-3};
  s.steps = 10;
  Mesh mesh = generate::bundle(0.2, 50, {n, n}, 4e-3, false);
  mesh.points = Eigen::AngleAxisd(0.3, Vector3::UnitX()).toRotationMatrix() * mesh.points;
  mesh.points.row(1).array() -= mesh.points.row(1).minCoeff() - 2e-3;
  s.bodies.push_back(
      make_rod("rods", mesh, {.density = 160, .young = 1e5, .radius = 7.5e-4}, RestCurvature::straight));
  s.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return s;
}

/// 10 × n × 10 grains fall on the ground in a column.
Scene grains(int n) {
  Scene s;
  s.options.dt = 0.01;
  s.options.solver.tolerance = 1e-3;
  s.options.solver.termination = Termination::l2_norm;
  s.contact = {true, 0.05, 1e-3, 2e-3};
  s.steps = 10;
  Mesh mesh = generate::points({10, n, 10}, 4e-3);
  mesh.points.row(1).array() -= mesh.points.row(1).minCoeff() - 3e-3;
  s.bodies.push_back(make_particles("grains", mesh, 1e-3, 1600));
  s.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return s;
}

/// Ten thick cloths of n × n cells fall on each other. [C-IPC, cloth stack]
Scene stack(int n) {
  Scene s = cloth_on_sphere(n);
  const Body cloth = s.bodies[0];
  s.options.dt = 0.02;
  s.contact = {true, 0.1, 2e-3, 3e-3};
  s.steps = 10;
  s.bodies.clear();
  for (int i = 1; i <= 10; ++i) {
    s.bodies.push_back(cloth);
    Body& b = s.bodies.back();
    const Eigen::Matrix3d turn = Eigen::AngleAxisd(0.14 * i, Vector3::UnitY()).toRotationMatrix();
    const Vector3 up(0, 0.0075 * i - 0.151, 0);
    b.mesh.points = (turn * b.mesh.points).colwise() + up;
    b.nodes = (turn * b.nodes).colwise() + up;
  }
  s.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return s;
}

/// The same with the exact method of collision detection. [C-IPC fig. 19]
Scene by_tight_inclusion(Scene s) {
  s.options.solver.ccd = CcdMethod::tight_inclusion;
  return s;
}

nlohmann::json run(const Scene& scene) {
  PairTable pairs(int(scene.bodies.size()), scene.contact);
  PairSettings off = scene.contact;
  off.enabled = false;
  Index tets = 0;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    if (scene.bodies[b].kind == BodyKind::affine || scene.bodies[b].kind == BodyKind::rigid)
      pairs.set(int(b), int(b), off);
    tets += Index(scene.bodies[b].mesh.tetrahedra.cols());
  }
  const auto model = std::make_shared<Model>(scene.bodies, pairs, scene.options);
  Simulation s(model);
  int iterations = 0;
  Index contacts = 0;
  const auto before = s.timings().seconds();
  const double cpu = process_cpu_seconds(), wall = s.timings().total();
  for (int step = 0; step < scene.steps; ++step) {
    const StepReport r = s.step();
    iterations += r.newton_iterations;
    contacts += r.contacts;
  }
  const double n = scene.steps, seconds = s.timings().total() - wall;
  nlohmann::json row = {{"nodes", model->node_count()},
                        {"tetrahedra", tets},
                        {"steps", scene.steps},
                        {"iterations_per_step", iterations / n},
                        {"mean_contacts", double(contacts) / n},
                        {"wall_ms_per_step", 1e3 * seconds / n},
                        {"cpu_ms_per_step", 1e3 * (process_cpu_seconds() - cpu) / n},
                        {"wall_ms_per_iteration", 1e3 * seconds / iterations},
                        {"peak_mb", double(process_peak_bytes()) / 1e6}};
  const auto after = s.timings().seconds();
  for (std::size_t k = 0; k < phase_names.size(); ++k)
    row["share"][std::string(phase_names[k])] = (after[k] - before[k]) / seconds;
  return row;
}

}  // namespace
}  // namespace apart

int main(int argc, char** argv) {
  using namespace apart;
  const int threads = 2;
  struct Row {
    const char* name;
    int size;
    std::function<Scene()> make;
  };
  std::vector<Row> rows;
  for (const int n : {2, 3, 5}) rows.push_back({"balls", n, [n] { return balls(n); }});
  for (const int n : {10, 20, 40}) rows.push_back({"mat twist", n, [n] { return mat_twist(n); }});
  for (const int n : {1, 2, 4}) rows.push_back({"affine heap", n, [n] { return affine_heap(n); }});
  for (const int n : {5, 16, 50}) rows.push_back({"rigid heap", n, [n] { return rigid_heap(n); }});
  for (const int n : {44, 90, 161, 291}) rows.push_back({"cloth", n, [n] { return cloth_on_sphere(n); }});
  for (const int n : {5, 10, 14}) rows.push_back({"rods", n, [n] { return rods(n); }});
  for (const int n : {10, 25, 50}) rows.push_back({"grains", n, [n] { return grains(n); }});
  rows.push_back({"stack", 20, [] { return stack(20); }});
  rows.push_back({"stack TI", 20, [] { return by_tight_inclusion(stack(20)); }});
  rows.push_back({"rods TI", 10, [] { return by_tight_inclusion(rods(10)); }});
  rows.push_back({"grains TI", 25, [] { return by_tight_inclusion(grains(25)); }});
  const std::string only = argc > 2 ? argv[2] : "";  // a name, to measure some alone
  std::erase_if(rows, [&](const Row& row) { return std::string(row.name).find(only) == std::string::npos; });

  fmt::print("{:12} {:>4} {:>7} {:>7} {:>7} {:>8} {:>9} {:>9} {:>8} {:>7}   share of time (%)\n", "scene",
             "size", "nodes", "tets", "it/step", "contacts", "wall/step", "cpu/step", "wall/it", "peak");
  fmt::print("{:12} {:>4} {:>7} {:>7} {:>7} {:>8} {:>9} {:>9} {:>8} {:>7}  ", "", "", "", "", "", "mean",
             "ms", "ms", "ms", "MB");
  for (const auto phase : phase_names) fmt::print(" {:>12}", phase);
  fmt::print("\n");
  nlohmann::json all = nlohmann::json::array();
  for (const Row& r : rows) {
    nlohmann::json row = bench::forked_run([&] { return run(r.make()); }, threads);
    row["scene"] = r.name;
    row["size"] = r.size;
    row["threads"] = threads;
    all.push_back(row);
    if (row.contains("error")) {
      fmt::print("{:12} {:>4} failed: {}\n", r.name, r.size, row["error"].get<std::string>());
      continue;
    }
    const auto number = [&](const char* key) { return row[key].get<double>(); };
    fmt::print("{:12} {:>4} {:>7} {:>7} {:>7.2f} {:>8.0f} {:>9.1f} {:>9.1f} {:>8.2f} {:>7.0f}  ", r.name,
               r.size, number("nodes"), number("tetrahedra"), number("iterations_per_step"),
               number("mean_contacts"), number("wall_ms_per_step"), number("cpu_ms_per_step"),
               number("wall_ms_per_iteration"), number("peak_mb"));
    for (const auto phase : phase_names)
      fmt::print(" {:>12.1f}", 100 * row["share"][std::string(phase)].get<double>());
    fmt::print("\n");
    std::fflush(stdout);
  }
  if (argc > 1) {
    std::ofstream out(argv[1]);
    out << all.dump(2) << "\n";
    if (!out) {
      std::cerr << argv[1] << ": cannot be written\n";
      return 1;
    }
    fmt::print("saved in {}\n", argv[1]);
  }
  return 0;
}
