// Scripts of the reference implementation of IPC for which its own cost was measured, beside ours: CPU time,
// iterations and memory, where the time goes, and how far that is from the limit of the machine. Then how
// cost grows with size, and the memory of 50,000 nodes with more than 100,000 contacts. One thread.
//   apart_bench_reference FOLDER [FILE.json]      FOLDER holds the scripts; it may be missing
#include <apart/core/diagnostics.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/importers/importers.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/simulation.hpp>

#include "forked_run.hpp"
#include "machine.hpp"

#include <Eigen/Geometry>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace apart::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The reference implementation, built from its source with Debian's SuiteSparse and OpenBLAS, on a quiet
/// machine with 2 cores of the kind used here, 2 threads, one run per row: the first `steps` steps. Its CPU
/// time contains the spinning of idle threads: on one thread mat twist took 0.82 of it, chain 0.76.
struct Row {
  const char *name, *script;
  int steps;
  double iterations, cpu, wall, megabytes;  ///< per step; [s], [s]; peak
  double goal;                              ///< share of its CPU time that we may take
};
constexpr Row rows[] = {
    {"chain", "paperExamples/supplementB/SQPBenchmark/27_chain", 125, 2.34, 0.33, 0.17, 31, 1.0 / 5},
    {"rods twist", "otherExamples/typical/rodsTwist", 200, 3.07, 1.06, 0.64, 66, 1.0 / 5},
    {"ball, cylinders", "otherExamples/typical/sphere1K_DCORotCylinders", 13, 40.5, 20.6, 11.9, 83, 1.0 / 5},
    {"mat twist", "otherExamples/typical/mat40x40Twist", 91, 5.47, 3.70, 2.32, 92, 1.0 / 5},
    {"mat on knives", "paperExamples/2_matKnives", 11, 37.6, 24.3, 13.8, 91, 1.0 / 5},
    {"two mats fall", "otherExamples/typical/2matsFall", 9, 14.8, 34.0, 18.3, 135, 1.0 / 5},
    {"armadillo", "paperExamples/21_scalability/armadillo13K_twist", 32, 4.00, 8.06, 4.80, 340, 1.0 / 3},
};
constexpr double iterations_goal = 1.1, memory_goal = 1.5;  // in multiples of the reference's

/// Runs some steps and returns their cost; frames are not written.
json measure(const std::shared_ptr<const Model>& model, int steps) {
  Index tets = 0;
  for (const Body& body : model->bodies) tets += Index(body.mesh.tetrahedra.cols());
  Simulation s(model);
  double iterations = 0, contacts = 0;
  Index max_contacts = 0;
  const auto before = s.timings().seconds();
  const double cpu = process_cpu_seconds(), wall = s.timings().total();
  for (int step = 0; step < steps; ++step) {
    const StepReport r = s.step();
    iterations += r.newton_iterations;
    contacts += double(r.contacts);
    max_contacts = std::max(max_contacts, r.contacts);
  }
  const double cpu_seconds = process_cpu_seconds() - cpu, seconds = s.timings().total() - wall;
  const auto after = s.timings().seconds();
  const LinearSolverStatistics work = s.linear_solver_statistics();
  json row = {{"nodes", model->node_count()},
              {"tetrahedra", tets},
              {"steps", steps},
              {"iterations", iterations},
              {"mean_contacts", contacts / steps},
              {"max_contacts", max_contacts},
              {"wall_seconds", seconds},
              {"cpu_seconds", cpu_seconds},
              {"peak_mb", double(process_peak_bytes()) / 1e6},
              {"analyses", work.analyses},
              {"factorisations", work.factorisations},
              {"flops", work.flops},
              {"nonzeros", work.nonzeros},
              {"blocks", work.blocks}};
  for (std::size_t k = 0; k < phase_names.size(); ++k)
    row["share"][std::string(phase_names[k])] = (after[k] - before[k]) / seconds;
  return row;
}

json measure_script(const fs::path& script, int steps, const std::vector<std::string>& changes = {}) {
  return forked_run([&] { return measure(build_scene(open_scene_file(script, changes)).model, steps); }, 1);
}

double number(const json& row, const char* key) {
  return row.at(key).get<double>();
}

/// Least time of one iteration [s]: factorisation at the rate of dense products, the solve, assembly at the
/// rate of memory, and the broad phase as it is.
struct Limit {
  double factor, solve, assembly, broad_phase;
  double sum() const { return factor + solve + assembly + broad_phase; }
};
Limit limit_per_iteration(const json& row, const MachineRates& machine) {
  const double n = std::max(1.0, number(row, "factorisations"));
  return {number(row, "flops") / n / machine.gemm, 16 * number(row, "nonzeros") / n / machine.bandwidth,
          (96 * number(row, "tetrahedra") + 72 * number(row, "blocks") / n) / machine.bandwidth,
          number(row.at("share"), "broad_phase") * number(row, "cpu_seconds") / n};
}

void print_split(const json& row) {
  for (const auto phase : phase_names)
    fmt::print(" {:>12.1f}", 100 * row["share"][std::string(phase)].get<double>());
}
void print_phases() {
  for (const auto phase : phase_names) fmt::print(" {:>12}", phase);
  fmt::print("\n");
}

// ---- beside the reference -----------------------------------------------------------------------

json compare(const fs::path& scripts, const MachineRates& machine) {
  json all = json::array();
  fmt::print("\nBeside the reference: ours / theirs, per step, the same first steps (goal)\n");
  fmt::print("{:16} {:>6} {:>5} {:>5}  {:>20} {:>23} {:>9} {:>20}\n", "scene", "nodes", "tets", "steps",
             "iterations (<= 1.1)", "CPU s (goal)", "CPU/it ms", "peak MB (<= 1.5)");
  for (const Row& r : rows) {
    json row = measure_script(scripts / (std::string(r.script) + ".txt"), r.steps);
    row["scene"] = r.name;
    row["script"] = r.script;
    if (row.contains("error")) {
      fmt::print("{:16} FAILED: {}\n", r.name, row["error"].get<std::string>());
      all.push_back(row);
      continue;
    }
    const double iterations = number(row, "iterations") / r.steps, cpu = number(row, "cpu_seconds") / r.steps;
    const double mb = number(row, "peak_mb");
    row["reference"] = {{"iterations", r.iterations}, {"cpu_seconds", r.cpu}, {"peak_mb", r.megabytes}};
    const bool met = iterations <= iterations_goal * r.iterations && cpu <= r.goal * r.cpu &&
                     mb <= memory_goal * r.megabytes;
    row["goals_met"] = met;
    const Limit limit = limit_per_iteration(row, machine);
    const double each = number(row, "cpu_seconds") / number(row, "iterations");
    row["limit"] = {{"factor", limit.factor},
                    {"solve", limit.solve},
                    {"assembly", limit.assembly},
                    {"broad_phase", limit.broad_phase},
                    {"D_iteration", each / limit.sum()},
                    {"D_step", cpu / limit.sum()}};
    fmt::print(
        "{:16} {:>6} {:>5} {:>5}  {:>5.2f}/{:<5.2f} = {:<5.2f}  {:>6.3f}/{:<5.2f} = 1/{:<4.1f} (1/{:.0f}) "
        "{:>8.1f} {:>6.0f}/{:<4.0f} = {:.2f}  {}\n",
        r.name, row["nodes"].get<Index>(), row["tetrahedra"].get<Index>(), r.steps, iterations, r.iterations,
        iterations / r.iterations, cpu, r.cpu, r.cpu / cpu, 1 / r.goal, 1e3 * each, mb, r.megabytes,
        mb / r.megabytes, met ? "met" : "NOT MET");
    std::fflush(stdout);
    all.push_back(row);
  }
  fmt::print(
      "\nWhere the time goes (%), and the limit: ms per iteration for factorisation at G = {:.1f} Gflop/s, "
      "solve and assembly at B = {:.1f} GB/s, and broad\nphase as it is. D = ours / limit, per iteration, "
      "and per step for a limit of one iteration (N* = 1, the best one could ask for)\n",
      1e-9 * machine.gemm, 1e-9 * machine.bandwidth);
  fmt::print("{:16} {:>7} {:>6} {:>8} {:>5} {:>7} {:>7}", "scene", "factor", "solve", "assembly", "broad",
             "D/it", "D/step");
  print_phases();
  for (const json& row : all) {
    if (row.contains("error")) continue;
    const json& l = row["limit"];
    fmt::print("{:16} {:>7.2f} {:>6.2f} {:>8.2f} {:>5.2f} {:>7.1f} {:>7.0f}", row["scene"].get<std::string>(),
               1e3 * number(l, "factor"), 1e3 * number(l, "solve"), 1e3 * number(l, "assembly"),
               1e3 * number(l, "broad_phase"), number(l, "D_iteration"), number(l, "D_step"));
    print_split(row);
    fmt::print("\n");
  }
  return all;
}

// ---- growth -------------------------------------------------------------------------------------

/// The end faces of a body along x turn against each other with 72 degrees a second each.
void twist(Body& body) {
  const double low = body.mesh.points.row(0).minCoeff(), high = body.mesh.points.row(0).maxCoeff();
  for (const double side : {-1.0, 1.0}) {
    std::vector<Index> end;
    for (Index p = 0; p < body.mesh.point_count(); ++p) {
      const double share = (body.mesh.points(0, p) - low) / (high - low);
      if (side < 0 ? share < 0.01 : share > 0.99) end.push_back(p);
    }
    add_script(body, &end, {true, true, true}, rigid_motion([side](double t) {
                 Pose pose;
                 pose.rotation =
                     Eigen::AngleAxisd(side * 0.4 * EIGEN_PI * t, Vector3::UnitX()).toRotationMatrix();
                 return pose;
               }));
  }
}

std::shared_ptr<const Model> twisted(Mesh mesh, double young, double dt) {
  std::vector<Body> bodies;
  bodies.push_back(
      make_volume("body", std::move(mesh), NeoHookean{lame_parameters(young, 0.4)}, 1000, MassKind::lumped));
  twist(bodies[0]);
  SimulationOptions options;
  options.dt = dt;
  options.gravity.setZero();
  const Matrix3X& x = bodies[0].mesh.points;
  const double size = (x.rowwise().maxCoeff() - x.rowwise().minCoeff()).norm();
  options.solver.tolerance = 1e-2 * size;  // as the papers ask
  return std::make_shared<Model>(bodies, PairTable(1, {true, 0, 1e-3 * size, 0}), options);
}

struct Sized {
  std::string name;
  std::function<json()> run;
};

/// Prints a family of scenes, smallest first, and the exponents of cost in the number of nodes.
json growth(const std::string& family, const std::vector<Sized>& scenes) {
  fmt::print("\n{}\n{:26} {:>7} {:>7} {:>7} {:>9} {:>9} {:>8} {:>9} {:>7} {:>9}\n", family, "", "nodes",
             "tets", "it/step", "contacts", "CPU s/it", "Gflop/it", "Mnz", "MB", "exponent");
  json all = json::array();
  double last_nodes = 0, last_cpu = 0;
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, mx = 0, my = 0, mxy = 0;
  for (const Sized& scene : scenes) {
    json row = scene.run();
    row["scene"] = scene.name;
    all.push_back(row);
    if (row.contains("error")) {
      fmt::print("{:26} FAILED: {}\n", scene.name, row["error"].get<std::string>());
      continue;
    }
    const double f = std::max(1.0, number(row, "factorisations"));
    const double nodes = number(row, "nodes"), cpu = number(row, "cpu_seconds") / number(row, "iterations");
    fmt::print(
        "{:26} {:>7} {:>7} {:>7.2f} {:>9.0f} {:>9.3f} {:>8.2f} {:>9.2f} {:>7.0f} {:>9}\n", scene.name,
        row["nodes"].get<Index>(), row["tetrahedra"].get<Index>(),
        number(row, "iterations") / number(row, "steps"), number(row, "mean_contacts"), cpu,
        1e-9 * number(row, "flops") / f, 1e-6 * number(row, "nonzeros") / f, number(row, "peak_mb"),
        last_nodes > 0 ? fmt::format("{:.2f}", std::log(cpu / last_cpu) / std::log(nodes / last_nodes)) : "");
    std::fflush(stdout);
    last_nodes = nodes;
    last_cpu = cpu;
    const double x = std::log(nodes), y = std::log(cpu), m = std::log(number(row, "peak_mb"));
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y, my += m, mxy += x * m, mx += x;
  }
  if (n >= 2) {
    const double d = n * sxx - sx * sx;
    fmt::print("CPU time per iteration grows as nodes^{:.2f}, peak memory as nodes^{:.2f} (least squares)\n",
               (n * sxy - sx * sy) / d, (n * mxy - mx * my) / d);
  }
  return all;
}

json mats(const fs::path& scripts, bool with_scripts) {
  constexpr int steps = 3;
  std::vector<Sized> scenes;
  if (with_scripts) {
    const fs::path folder = scripts / "paperExamples/21_scalability";
    const std::string small = "bodies[0].mesh={\"file\": \"" +
                              fs::absolute(scripts / "tetMeshes/mat20x20.msh").lexically_normal().string() +
                              "\"}";
    scenes.push_back(
        {"20 x 20", [=] { return measure_script(folder / "mat40x40_twist.txt", steps, {small}); }});
    scenes.push_back({"40 x 40", [=] { return measure_script(folder / "mat40x40_twist.txt", steps); }});
    scenes.push_back({"100 x 100", [=] { return measure_script(folder / "mat100x100_twist.txt", steps); }});
  } else {
    for (const int cells : {20, 40, 100})
      scenes.push_back(
          {fmt::format("{0} x {0}, generated", cells), [=] {
             return forked_run(
                 [=] { return measure(twisted(generate::mat(1, 0.008, cells), 2e4, 0.04), steps); }, 1);
           }});
  }
  for (const int cells : {150, 225})
    scenes.push_back(
        {fmt::format("{0} x {0}, generated", cells), [=] {
           return forked_run(
               [=] { return measure(twisted(generate::mat(1, 0.008, cells), 2e4, 0.04), steps); }, 1);
         }});
  return growth(fmt::format("Mat twist, {} steps", steps), scenes);
}

json solids() {
  constexpr int steps = 3;
  std::vector<Sized> scenes;
  for (const int cells : {11, 18, 29})
    scenes.push_back(
        {fmt::format("bar {} x {} x {}", 2 * cells, cells, cells), [=] {
           return forked_run(
               [=] {
                 return measure(twisted(generate::box({1, 0.5, 0.5}, {2 * cells, cells, cells}), 5e3, 0.025),
                                steps);
               },
               1);
         }});
  return growth(fmt::format("Solid bar twist, {} steps", steps), scenes);
}

// ---- memory -------------------------------------------------------------------------------------

constexpr double memory_limit = 4e9;  // [bytes] for 50,000 nodes with 100,000 contacts

/// Two fine mats, the upper one turned by 0.3 rad, closer than d̂; the upper one falls on the lower one, whose
/// lower side is held.
std::shared_ptr<const Model> pressed_mats() {
  constexpr int cells = 112;
  constexpr double dhat = 2e-3;
  std::vector<Body> bodies;
  for (int i = 0; i < 2; ++i) {
    Mesh mesh = generate::mat(1, 0.01, cells);
    mesh.points = Eigen::AngleAxisd(0.3 * i, Vector3::UnitY()).toRotationMatrix() * mesh.points;
    mesh.points.row(1).array() += i * (0.01 + 0.5 * dhat);
    bodies.push_back(make_volume(i == 0 ? "lower" : "upper", std::move(mesh),
                                 NeoHookean{lame_parameters(2e4, 0.4)}, 1000, MassKind::lumped));
  }
  std::vector<Index> bottom;
  for (Index p = 0; p < bodies[0].mesh.point_count(); ++p)
    if (bodies[0].mesh.points(1, p) < -0.004) bottom.push_back(p);
  add_script(bodies[0], &bottom, {true, true, true}, rigid_motion([](double) { return Pose{}; }));
  SimulationOptions options;
  options.dt = 0.01;
  options.solver.tolerance = 1e-2 * std::sqrt(2.0);
  return std::make_shared<Model>(bodies, PairTable(2, {true, 0.1, dhat, 0}), options);
}

json memory() {
  json row = forked_run([] { return measure(pressed_mats(), 2); }, 1);
  fmt::print("\nTwo fine mats pressed on each other, 2 steps: ");
  if (row.contains("error")) {
    fmt::print("FAILED: {}\n", row["error"].get<std::string>());
    return row;
  }
  const bool met = number(row, "peak_mb") * 1e6 <= memory_limit && number(row, "nodes") >= 50000 &&
                   number(row, "mean_contacts") >= 100000;
  row["goals_met"] = met;
  fmt::print(
      "{} nodes, {:.0f} contacts, {:.1f} iterations a step, {:.2f} CPU s an iteration, {:.0f} MB (<= 4000): "
      "{}\n",
      row["nodes"].get<Index>(), number(row, "mean_contacts"),
      number(row, "iterations") / number(row, "steps"),
      number(row, "cpu_seconds") / number(row, "iterations"), number(row, "peak_mb"),
      met ? "met" : "NOT MET");
  return row;
}

}  // namespace
}  // namespace apart::bench

int main(int argc, char** argv) {
  using namespace apart::bench;
  if (argc < 2) {
    fmt::print(
        stderr,
        "apart_bench_reference FOLDER [FILE.json] [PART]: FOLDER holds the scripts of the reference\n");
    return 64;
  }
  const fs::path scripts = argv[1];
  const std::string part = argc > 3 ? argv[3] : "";
  const auto wanted = [&](std::string_view name) { return part.empty() || part == name; };
  std::error_code error;
  const bool there = fs::is_directory(scripts, error);
  if (!there)
    fmt::print(
        "\n{}: no such folder. THE SCRIPTS OF THE REFERENCE ARE NOT MEASURED; name their folder with "
        "'make bench SCENES=folder'\n",
        argv[1]);
  const MachineRates machine = measure_machine();
  fmt::print("\nOne core: G = {:.1f} Gflop/s (dgemm), B = {:.1f} GB/s (a = b + s c)\n", 1e-9 * machine.gemm,
             1e-9 * machine.bandwidth);
  json all = {{"gemm_flops", machine.gemm}, {"bandwidth", machine.bandwidth}};
  if (there && wanted("reference")) all["reference"] = compare(scripts, machine);
  if (wanted("mats")) all["mats"] = mats(scripts, there);
  if (wanted("solids")) all["solids"] = solids();
  if (wanted("memory")) all["memory"] = memory();
  if (argc > 2) {
    std::ofstream out(argv[2]);
    out << all.dump(2) << "\n";
    if (!out) {
      fmt::print(stderr, "{}: cannot be written\n", argv[2]);
      return 1;
    }
    fmt::print("saved in {}\n", argv[2]);
  }
  return 0;
}
