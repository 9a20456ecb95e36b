// Error against time for elements of degree 1 to 4: a clamped beam bends under its weight, on finer and finer
// meshes. The error is that of the deflection of its end, relative to the finest mesh of degree 4. Prints a
// table; saves it as JSON and as a plot (SVG) if files are named.
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/simulation.hpp>

#include "forked_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <iostream>

namespace apart::bench {
namespace {

using nlohmann::json;

/// 1 m long, 0.1 m thick, 10 MPa: the end sinks by about an eighth of the length.
json bent_beam(int degree, int across) {
  const Mesh mesh = generate::box({1, 0.1, 0.1}, {8 * across, across, across});
  const CellSubstances cells{{{NeoHookean{lame_parameters(1e7, 0.3)}, 1000}},
                             std::vector<Index>(std::size_t(mesh.cell_count()), 0)};
  Body beam = degree == 1 ? make_volume("beam", mesh, cells, MassKind::consistent)
                          : make_volume("beam", mesh, cells, LagrangeOptions{.degree = degree});
  std::vector<Index> clamped, end;
  for (Index p = 0; p < beam.mesh.point_count(); ++p) {
    const Vector3 x = beam.mesh.points.col(p);
    if (x[0] < -0.499) clamped.push_back(p);
    if (x[0] > 0.499 && std::abs(std::abs(x[1]) - 0.05) < 1e-9 && std::abs(std::abs(x[2]) - 0.05) < 1e-9)
      end.push_back(p);
  }
  add_script(beam, &clamped, {true, true, true}, {});
  SimulationOptions options;
  options.integrator.scheme = Integrator::quasi_static;
  const Matrix3X rest = beam.mesh.points;
  const Index nodes = beam.node_count();
  Simulation simulation(
      std::make_shared<Model>(std::vector<Body>{std::move(beam)}, PairTable(1, {true, 0, 1e-3, 0}), options));
  const double cpu = process_cpu_seconds();
  const StepReport report = simulation.step();
  const double seconds = process_cpu_seconds() - cpu;
  const Matrix3X points = simulation.frame().mesh.points;
  double deflection = 0;
  for (const Index p : end) deflection += (rest(1, p) - points(1, p)) / double(end.size());
  return {{"degree", degree},
          {"across", across},
          {"elements", mesh.cell_count()},
          {"nodes", nodes},
          {"iterations", report.newton_iterations},
          {"cpu_seconds", seconds},
          {"deflection", deflection}};
}

/// Logarithmic axes, one line for each degree.
std::string plot(const json& rows) {
  double least[2] = {infinity, infinity}, most[2] = {0, 0};
  for (const json& row : rows)
    for (int k = 0; k < 2; ++k) {
      const double value = row[k == 0 ? "cpu_seconds" : "error"];
      least[k] = std::min(least[k], value), most[k] = std::max(most[k], value);
    }
  for (int k = 0; k < 2; ++k) {
    least[k] = std::floor(std::log10(least[k]));
    most[k] = std::ceil(std::log10(most[k]));
  }
  const double width = 560, height = 360, left = 70, top = 20;
  const auto place = [&](int k, double value) {
    const double share = (std::log10(value) - least[k]) / (most[k] - least[k]);
    return k == 0 ? left + share * width : top + (1 - share) * height;
  };
  std::string text = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {}' font-family='sans-serif' font-size='13'>\n"
      "<rect width='100%' height='100%' fill='white'/>\n",
      left + width + 30, top + height + 50);
  for (double decade = least[0]; decade <= most[0]; ++decade)
    text += fmt::format(
        "<path d='M{0:.1f} {1}v{2}' stroke='#ddd'/><text x='{0:.1f}' y='{3}' text-anchor='middle'>{4:g} "
        "s</text>\n",
        place(0, std::pow(10, decade)), top, height, top + height + 18, std::pow(10, decade));
  for (double decade = least[1]; decade <= most[1]; ++decade)
    text += fmt::format(
        "<path d='M{1} {0:.1f}h{2}' stroke='#ddd'/><text x='{3}' y='{4:.1f}' "
        "text-anchor='end'>{5:g}</text>\n",
        place(1, std::pow(10, decade)), left, width, left - 6, place(1, std::pow(10, decade)) + 4,
        std::pow(10, decade));
  constexpr std::string_view colours[] = {"#c0392b", "#d68910", "#1e8449", "#2471a3"};
  for (int degree = 1; degree <= 4; ++degree) {
    const std::string_view colour = colours[degree - 1];
    std::string line, marks;
    double x = 0, y = 0;
    for (const json& row : rows) {
      if (row["degree"] != degree) continue;
      x = place(0, row["cpu_seconds"]), y = place(1, row["error"]);
      line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x, y);
      marks += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3.5' fill='{}'/>", x, y, colour);
    }
    text += fmt::format(
        "<path d='{}' fill='none' stroke='{}' stroke-width='2'/>{}<text x='{:.1f}' y='{:.1f}' "
        "fill='{}'>P{}</text>\n",
        line, colour, marks, x + 7, y + 4, colour, degree);
  }
  return text + fmt::format(
                    "<text x='{:.1f}' y='{}' text-anchor='middle'>CPU time</text>"
                    "<text transform='translate(16 {:.1f}) rotate(-90)' text-anchor='middle'>error of the "
                    "deflection</text>\n</svg>\n",
                    left + width / 2, top + height + 40, top + height / 2);
}

bool save(const char* file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (out.flush()) return true;
  std::cerr << file << ": cannot be written\n";
  return false;
}

int study(int argc, char** argv) {
  const auto run = [](int degree, int across) {
    return forked_run([=] { return bent_beam(degree, across); }, 1);
  };
  constexpr int finest = 3;
  const double exact = run(4, finest).at("deflection");
  fmt::print("{:>6} {:>7} {:>9} {:>8} {:>10} {:>10} {:>15} {:>10}\n", "degree", "across", "elements", "nodes",
             "iterations", "CPU [s]", "deflection [m]", "error");
  json rows = json::array();
  const std::vector<int> meshes[] = {{1, 2, 4, 8, 12}, {1, 2, 3, 4, 6}, {1, 2, 3}, {1, 2}};
  for (int degree = 1; degree <= 4; ++degree)
    for (const int across : meshes[degree - 1]) {
      json row = run(degree, across);
      if (row.contains("error")) {
        std::cerr << "degree " << degree << ", " << across << " across: " << row["error"] << "\n";
        return 1;
      }
      row["error"] = std::abs(row["deflection"].get<double>() / exact - 1);
      fmt::print("{:>6} {:>7} {:>9} {:>8} {:>10} {:>10.3f} {:>15.6f} {:>10.2e}\n", degree, across,
                 row["elements"].get<Index>(), row["nodes"].get<Index>(), row["iterations"].get<int>(),
                 row["cpu_seconds"].get<double>(), row["deflection"].get<double>(),
                 row["error"].get<double>());
      std::fflush(stdout);
      rows.push_back(std::move(row));
    }
  return (argc < 2 || save(argv[1], rows.dump(2) + "\n")) && (argc < 3 || save(argv[2], plot(rows))) ? 0 : 1;
}

}  // namespace
}  // namespace apart::bench

int main(int argc, char** argv) {
  return apart::bench::study(argc, argv);
}
