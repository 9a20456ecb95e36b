#include "scene_tables.hpp"

#include <apart/core/diagnostics.hpp>
#include <apart/io/file_reader.hpp>

#include <algorithm>
#include <array>
#include <ctime>

namespace apart::bench {

namespace {

using nlohmann::json;

double per_step(const json& d, const char* key) {
  const double steps = d.value("steps", 0.0);
  return steps > 0 ? d.at(key).get<double>() / steps : 0;
}

std::string time_text(double seconds) {
  return seconds < 0.0995 ? fmt::format("{:.1f} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

/// What the kernel calls this machine.
std::string machine() {
  std::string model = "unknown CPU";
  int cores = 0;
  FileReader reader("/proc/cpuinfo");
  while (!reader.at_end()) {
    const std::string line(reader.line());
    if (line.starts_with("model name")) {
      ++cores;
      model = line.substr(line.find(':') + 2);
    }
  }
  return fmt::format("{} cores, {}", cores, model);
}

std::string steps_text(const json& d) {
  return fmt::format(
      "{}{}", d["steps"].get<Index>(),
      d["steps"] == d["steps_wanted"] ? "" : fmt::format(" of {}", d["steps_wanted"].get<Index>()));
}
std::string cost_text(const json& d) {
  return fmt::format("{:.0f} ({}) | {:.2f} | {} | {} | {:.0f}", d["mean_contacts"].get<double>(),
                     d["max_contacts"].get<Index>(), per_step(d, "newton_iterations"),
                     time_text(per_step(d, "wall_seconds")), time_text(per_step(d, "cpu_seconds")),
                     d["peak_rss_bytes"].get<double>() / 1e6);
}
std::string_view certified_text(const Result& r) {
  return r.outcome == Outcome::failed ? "**no**" : r.outcome == Outcome::partly ? "yes, so far" : "yes";
}
std::string_view ending(const Result& r) {
  return r.outcome == Outcome::partly ? "no step in its time" : outcome_names[std::size_t(r.outcome)];
}
std::string number_text(const json& d, const char* key) {
  return d.contains(key) && d[key].is_number() ? fmt::format("{:.4g}", d[key].get<double>())
                                               : std::string("–");
}

std::string script_row(const Item& item, const Result& r) {
  const json& d = r.data;
  const auto p = published(item.name);
  const std::string there =
      p ? fmt::format("{} | {} | {:g} | {} | {:g} | {}, {}", p->name, p->contacts, p->iterations,
                      time_text(p->seconds), p->megabytes, p->table, p->cpu)
        : "| | | | |";
  if (d.value("steps", Index(0)) == 0)
    return fmt::format("| {} | | | | | | | | | | **{}** | {} |\n", item.name,
                       outcome_names[std::size_t(r.outcome)], there);
  return fmt::format("| {} | {} | {} | {:g} | {} | {} | {} | {} |\n", item.name, d["nodes"].get<Index>(),
                     d.contains("tetrahedra") ? d["tetrahedra"].get<Index>() : 0, d["dt"].get<double>(),
                     steps_text(d), cost_text(d), certified_text(r), there);
}

std::string codimensional_row(const Item& item, const Result& r) {
  const json& d = r.data;
  const CodimensionalScene& p = *item.row;
  const std::string there =
      p.published.empty() ? "| | | | |"
                          : fmt::format("{} | {} | {} | {} | {} | {}, {}", p.published, p.nodes, p.contacts,
                                        p.iterations > 0 ? fmt::format("{:g}", p.iterations) : "–",
                                        time_text(60 * p.minutes), p.figure, p.cores);
  if (d.value("steps", Index(0)) == 0)
    return fmt::format("| {} | | | | | | | | | | | **{}** | {} |\n", p.name, ending(r), there);
  return fmt::format("| {} | {} | {:g} | {} | {} | {} | {} | {} | {} |\n", p.name, d["nodes"].get<Index>(),
                     d["dt"].get<double>(), steps_text(d), cost_text(d), number_text(d, "min_gap"),
                     number_text(d, "max_strain_share"), certified_text(r), there);
}

/// Beside the published means of table 4.1 stands how many times our CPU seconds a step fit into its wall
/// seconds; totals of table D.1 are those of the whole fixture.
std::string rigid_row(const Item& item, const Result& r) {
  const json& d = r.data;
  const std::string name = item.name.substr(item.name.find('/') + 1);
  const auto p = published_rigid(name);
  const bool ran = d.value("steps", Index(0)) > 0;
  std::string there = "| | | | |";
  if (p) {
    const double cpu = ran ? per_step(d, "cpu_seconds") : 0;
    there =
        fmt::format("{} | {} | {} | {} | {} | {}", p->name, p->contacts,
                    p->iterations > 0 ? fmt::format("{:g}", p->iterations) : "",
                    p->seconds > 0 ? fmt::format("{}, {} threads", time_text(p->seconds), p->threads) : "",
                    p->seconds > 0 && cpu > 0 ? fmt::format("{:.3g}", p->seconds / cpu) : "", p->totals);
  }
  if (!ran) return fmt::format("| {} | | | | | | | | | | **{}** | {} |\n", name, ending(r), there);
  return fmt::format("| {} | {} | {:g} | {} | {} | {} | {} | {} |\n", name, d.value("bodies", Index(0)),
                     d["dt"].get<double>(), steps_text(d), cost_text(d), number_text(d, "min_gap"),
                     certified_text(r), there);
}

/// As in the table of rigid fixtures; the published wall seconds are means over all steps of the scene.
std::string high_order_row(const Item& item, const Result& r) {
  const json& d = r.data;
  const std::string name = item.name.substr(item.name.find('/') + 1);
  const auto p = published_high_order(name);
  const bool ran = d.value("steps", Index(0)) > 0;
  std::string there = "| | | |";
  if (p) {
    const double cpu = ran ? per_step(d, "cpu_seconds") : 0, seconds = p->seconds / p->steps;
    there = fmt::format("{} | {} | {} | {} | {}", p->name, p->elements, p->faces, time_text(seconds),
                        cpu > 0 ? fmt::format("{:.3g}", seconds / cpu) : "");
  }
  if (!ran) return fmt::format("| {} | | | | | | | | | | **{}** | {} |\n", name, ending(r), there);
  return fmt::format("| {} | {} | {} | {:g} | {} | {} | {} | {} |\n", name, d["nodes"].get<Index>(),
                     d.contains("tetrahedra") ? d["tetrahedra"].get<Index>() : 0, d["dt"].get<double>(),
                     steps_text(d), cost_text(d), certified_text(r), there);
}

/// The published wall seconds are means over the steps that are published; ours over those that were run.
std::string remeshed_row(const Item& item, const Result& r) {
  const json& d = r.data;
  const RemeshedScene& p = *item.remeshed;
  const bool ran = d.value("steps", Index(0)) > 0;
  std::string there = "| | | |";
  if (p.seconds > 0) {
    const double cpu = ran ? per_step(d, "cpu_seconds") : 0;
    there = fmt::format("{} | {} | {} | {}", p.dofs, time_text(p.seconds), p.uniform_seconds,
                        cpu > 0 ? fmt::format("{:.3g}", p.seconds / cpu) : "");
  }
  if (!ran) return fmt::format("| {} | | | | | | | | | | | | **{}** | {} |\n", p.name, ending(r), there);
  const double accepted = d["splits"].get<double>() + d["collapses"].get<double>(),
               trials = d["remesh_trials"].get<double>();
  return fmt::format("| {} | {} | {} | {} | {} | {:.0f} % | {} | {} | {} |\n", p.name, steps_text(d),
                     d["cells"].get<Index>(), d["splits"].get<Index>(), d["collapses"].get<Index>(),
                     trials > 0 ? 100 * accepted / trials : 0, cost_text(d), certified_text(r), there);
}

struct TableStyle {
  std::string_view what, head;
  int columns;
  std::string (*row)(const Item&, const Result&);
};

constexpr TableStyle styles[] = {
    {"scripts",
     "| script | nodes | tets | h [s] | steps | contacts mean (max) | iterations a step | wall a step | CPU "
     "a step | MB | certified | published as | contacts | iterations | wall a step | MB | table, CPU |\n",
     17, script_row},
    {"codimensional scenes",
     "| scene | nodes | h [s] | steps | contacts mean (max) | iterations a step | wall a step | CPU a step | "
     "MB | smallest gap [m] | of the strain limit | certified | published as | nodes | contacts | iterations "
     "| wall a step | figure, cores |\n",
     18, codimensional_row},
    {"rigid fixtures",
     "| fixture | bodies | h [s] | steps | contacts mean (max) | iterations a step | wall a step | CPU a "
     "step | MB | smallest gap [m] | certified | published as | contacts | iterations | wall a step | ratio "
     "to our CPU | table D.1: IPC / rigid |\n",
     17, rigid_row},
    {"scenes of PolyFEM",
     "| scene | nodes | elements | h [s] | steps | contacts mean (max) | iterations a step | wall a step | "
     "CPU a "
     "step | MB | certified | published as | elements | faces | wall a step | ratio to our CPU |\n",
     16, high_order_row},
    {"remeshed scenes",
     "| scene | steps | cells at the end | splits | collapses | accepted trials | contacts mean (max) | "
     "iterations a step | wall a step | CPU a step | MB | certified | published: DOF mean (max) | wall a "
     "step "
     "| uniform: start, refined 1, 2, 3 times [s] | ratio to our CPU |\n",
     16, remeshed_row}};

std::string table(Kind kind, const std::vector<TableEntry>& entries, int threads) {
  const TableStyle& style = styles[std::size_t(kind)];
  std::array<int, 4> count{};
  std::size_t number = 0;
  std::string rows, troubles;
  for (const auto& [item, result] : entries) {
    if (item.kind != kind) continue;
    ++number;
    if (!result) continue;
    ++count[std::size_t(result->outcome)];
    rows += style.row(item, *result);
    const json& d = result->data;
    if (d.contains("message") && result->outcome != Outcome::partly)
      troubles += fmt::format("* {}, exit code {}: {}\n", item.name, d["exit_code"].get<int>(),
                              d["message"].get<std::string>());
  }
  if (number == 0) return {};
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string text = fmt::format(
      "{}, apart {}, {}, {} {}. {} {}: {} certified, {} stopped by the limit of time and certified so far, "
      "{} failed, {} left out because a mesh is not there.\n\n",
      date, version(), machine(), threads, threads == 1 ? "thread" : "threads", number, style.what, count[0],
      count[1], count[3], count[2]);
  text += style.head;
  for (int k = 0; k < style.columns; ++k) text += "| --- ";
  text += "|\n" + rows;
  if (!troubles.empty()) text += "\nNot run, or not proven:\n\n" + troubles;
  return text;
}

}  // namespace

std::string in_short(const Result& r) {
  const json& d = r.data;
  std::string text = d.at("outcome").get<std::string>();
  if (d.contains("steps"))
    text += fmt::format(", {} steps, {:.2f} iterations a step, {:.3g} CPU s a step", d["steps"].get<Index>(),
                        per_step(d, "newton_iterations"), per_step(d, "cpu_seconds"));
  if (d.contains("message"))
    text += fmt::format(", exit code {}: {}", d["exit_code"].get<int>(), d["message"].get<std::string>());
  return text;
}

std::string scene_tables(const std::vector<TableEntry>& entries, int threads) {
  std::string text;
  for (const Kind kind : {Kind::script, Kind::codimensional, Kind::rigid, Kind::high_order, Kind::remeshed}) {
    const std::string one = table(kind, entries, threads);
    text += (text.empty() || one.empty() ? "" : "\n") + one;
  }
  return text;
}

}  // namespace apart::bench
