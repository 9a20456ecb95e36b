#include <apart/core/error.hpp>
#include <apart/importers/importers.hpp>
#include <apart/io/located_json.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/readable_text.hpp>
#include <apart/scene/validation.hpp>
#include <apart/studies/study.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

namespace apart {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view samplings[] = {"grid", "list", "random", "latin_hypercube"};
constexpr std::string_view reductions[] = {"min", "max", "mean", "first", "last", "sum"};

void refuse_unknown(const LocatedJson& object, std::span<const std::string_view> known) {
  if (!object.value().get_if<JsonValue::Object>()) object.fail("must be an object {{...}}");
  for (const auto& [key, value] : *object.value().get_if<JsonValue::Object>()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, known);
    LocatedJson(value, member_path(object.path(), key))
        .fail("unknown key; {}", near.empty() ? fmt::format("known here are {}", fmt::join(known, ", "))
                                              : fmt::format("did you mean '{}'?", near));
  }
}

std::string one_of(const LocatedJson& value, std::span<const std::string_view> names) {
  if (std::ranges::find(names, value.text()) == names.end())
    value.fail("got {}, must be one of {}", to_short_text(value.value()),
               fmt::join(names.begin(), names.end(), ", "));
  return value.text();
}

Index whole_number(const LocatedJson& value, Index least, Index most) {
  const Index number = value.integer();
  if (number < least || number > most) value.fail("got {}, must lie in [{}, {}]", number, least, most);
  return number;
}

/// What a parameter may be: values, or a range.
struct Parameter {
  std::string path;
  std::vector<std::string> values;  ///< as JSON; empty: a range
  double from = 0, to = 1;
  Index count = 0;  ///< of the values of a grid
  bool logarithmic = false;

  /// At a share of the range, in [0, 1].
  std::string at(double share) const {
    if (values.empty())
      return fmt::format("{}", logarithmic ? from * std::pow(to / from, share) : from + (to - from) * share);
    return values[std::min(values.size() - 1, std::size_t(share * double(values.size())))];
  }
  std::vector<std::string> grid() const {
    if (!values.empty()) return values;
    std::vector<std::string> result;
    for (Index i = 0; i < count; ++i) result.push_back(at(count == 1 ? 0 : double(i) / (count - 1)));
    return result;
  }
};

Parameter read_parameter(const std::string& path, const LocatedJson& v, const std::string& sampling) {
  constexpr std::string_view known[] = {"values", "from", "to", "count", "scale"};
  refuse_unknown(v, known);
  Parameter p{.path = path, .values = {}};
  if (v.has("values")) {
    for (const char* other : {"from", "to", "count", "scale"})
      if (v.has(other)) v[other].fail("is given together with 'values', which sets the same; remove one");
    for (const LocatedJson& value : v["values"].items()) p.values.push_back(flat_text(value.value()));
    if (p.values.empty()) v["values"].fail("must have at least one entry");
    return p;
  }
  for (const char* needed : {"from", "to"})
    if (!v.has(needed)) v.fail("the key '{}' is missing; give \"values\", or \"from\" and \"to\"", needed);
  p.from = v["from"].number();
  p.to = v["to"].number();
  constexpr std::string_view scales[] = {"linear", "logarithmic"};
  p.logarithmic = v.has("scale") && one_of(v["scale"], scales) == "logarithmic";
  if (p.logarithmic && !(p.from > 0 && p.to > 0))
    v["scale"].fail("is logarithmic, so that 'from' and 'to' must be positive");
  if (sampling == "grid" || sampling == "list") {
    if (!v.has("count"))
      v.fail("the key 'count' is missing; add \"count\": how many values from 'from' to 'to'");
    p.count = whole_number(v["count"], 1, most_study_runs);
  } else if (v.has("count")) {
    v["count"].fail("has no effect with this sampling, whose number is \"runs\"; remove it");
  }
  return p;
}

using Runs = std::vector<std::vector<std::string>>;

Runs grid_runs(const std::vector<Parameter>& parameters, const LocatedJson& top) {
  Runs runs = {{}};
  for (const Parameter& p : parameters) {
    const std::vector<std::string> values = p.grid();
    if (double(runs.size()) * double(values.size()) > most_study_runs)
      top["parameters"].fail("makes more than {} runs; use fewer values, or sampling latin_hypercube",
                             most_study_runs);
    Runs longer;
    for (const auto& run : runs)
      for (const std::string& value : values) {
        longer.push_back(run);
        longer.back().push_back(value);
      }
    runs = std::move(longer);
  }
  return runs;
}

Runs list_runs(const std::vector<Parameter>& parameters, const LocatedJson& top) {
  Runs runs(parameters[0].grid().size());
  for (const Parameter& p : parameters) {
    const std::vector<std::string> values = p.grid();
    if (values.size() != runs.size())
      top["parameters"][p.path].fail(
          "has {} values, must have {} as the first; a list takes one of each parameter", values.size(),
          runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].push_back(values[i]);
  }
  return runs;
}

/// Numbers that do not depend on the standard library.
class Dice {
 public:
  explicit Dice(Index seed) : engine_(std::uint64_t(seed)) {}
  double uniform() { return double(engine_() >> 11) * 0x1p-53; }  ///< in [0, 1)
  std::vector<std::size_t> permutation(std::size_t n) {
    std::vector<std::size_t> result(n);
    std::iota(result.begin(), result.end(), std::size_t(0));
    for (std::size_t i = n; i > 1; --i) std::swap(result[i - 1], result[std::size_t(uniform() * double(i))]);
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

Runs random_runs(const std::vector<Parameter>& parameters, Index count, Dice dice, bool latin) {
  Runs runs{std::size_t(count)};
  for (const Parameter& p : parameters) {
    const std::vector<std::size_t> part = latin ? dice.permutation(runs.size()) : std::vector<std::size_t>();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double u = dice.uniform();
      runs[i].push_back(p.at(latin ? (double(part[i]) + u) / double(count) : u));
    }
  }
  return runs;
}

std::vector<StudyResult> read_results(const LocatedJson& v) {
  std::vector<StudyResult> results;
  if (!v.value().get_if<JsonValue::Object>())
    v.fail("must be an object {{name: {{\"column\": ..., \"take\": ...}}}}");
  for (const auto& [name, value] : *v.value().get_if<JsonValue::Object>()) {
    const LocatedJson result(value, member_path(v.path(), name));
    constexpr std::string_view known[] = {"column", "take"};
    refuse_unknown(result, known);
    for (const std::string_view key : known)
      if (!result.has(key)) result.fail("the key '{}' is missing", key);
    results.push_back({name, result["column"].text(), one_of(result["take"], reductions)});
  }
  return results;
}

/// The scene with each value of each parameter, the others as in the first run. Of many values some are
/// tried. Notes the units of parameters.
void check_scene(Study& study, const LocatedJson& top) {
  constexpr std::size_t most_tried = 50;
  study.units.resize(study.paths.size());
  for (std::size_t k = 0; k < study.paths.size(); ++k) {
    std::vector<std::string> tried;
    for (const auto& run : study.runs)
      if (tried.size() < most_tried && std::ranges::find(tried, run[k]) == tried.end())
        tried.push_back(run[k]);
    for (const std::string& value : tried) {
      std::vector<std::string> changes = study.changes(0);
      changes[k] = fmt::format("{}={}", study.paths[k], value);
      try {
        study.units[k] = unit_of_override(open_scene(study.scene, changes), changes[k]);
      } catch (const InputError& e) {
        const std::string change = "--set " + changes[k] + ": ";
        const std::string_view said = e.what();
        top["parameters"][study.paths[k]].fail("cannot be {}: {}", value,
                                               said.starts_with(change) ? said.substr(change.size()) : said);
      }
    }
  }
}

}  // namespace

std::vector<std::string_view> study_reductions() {
  return {std::begin(reductions), std::end(reductions)};
}

double reduced(const std::vector<double>& column, std::string_view take) {
  if (column.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double sum = std::accumulate(column.begin(), column.end(), 0.0);
  if (take == "min") return *std::ranges::min_element(column);
  if (take == "max") return *std::ranges::max_element(column);
  if (take == "mean") return sum / double(column.size());
  if (take == "first") return column.front();
  if (take == "last") return column.back();
  ensure(take == "sum", "reduced: the name was not checked");
  return sum;
}

std::vector<std::string> Study::changes(std::size_t run) const {
  std::vector<std::string> result;
  for (std::size_t k = 0; k < paths.size(); ++k)
    result.push_back(fmt::format("{}={}", paths[k], runs[run][k]));
  return result;
}

std::string Study::identity() const {
  std::string text = fmt::format("scene {}\nsteps {}\nframes {}\n", scene, steps, frames);
  for (const std::string& path : paths) text += fmt::format("parameter {}\n", path);
  for (const auto& run : runs) text += fmt::format("run {}\n", fmt::join(run, " "));
  for (const StudyResult& r : results) text += fmt::format("result {} {} {}\n", r.name, r.take, r.column);
  return text;
}

Study read_study(const fs::path& file) {
  const JsonValue json = read_json(file);
  const LocatedJson top(json);
  constexpr std::string_view known[] = {"scene", "parameters", "sampling", "runs",
                                        "seed",  "results",    "frames",   "steps"};
  refuse_unknown(top, known);
  for (const char* needed : {"scene", "parameters"})
    if (!top.has(needed)) top.fail("the key '{}' is missing", needed);
  Study study;
  study.name = file.stem().string();
  std::error_code error;
  const fs::path beside = fs::absolute(file).parent_path() / top["scene"].text();
  const bool is_file = fs::exists(beside, error);
  study.scene = is_file ? beside.lexically_normal().string() : top["scene"].text();
  try {
    if (!is_file) find_example(study.scene);
  } catch (const InputError& e) {
    top["scene"].fail("{}", e.what());
  }
  const std::string sampling = top.has("sampling") ? one_of(top["sampling"], samplings) : "grid";
  const bool drawn = sampling == "random" || sampling == "latin_hypercube";
  for (const char* key : {"runs", "seed"})
    if (top.has(key) && !drawn) top[key].fail("has no effect with sampling {}; remove it", sampling);
  if (drawn && !top.has("runs")) top.fail("the key 'runs' is missing; it says how many");
  std::vector<Parameter> parameters;
  if (!top["parameters"].value().get_if<JsonValue::Object>())
    top["parameters"].fail("must be an object {{path: ...}}");
  for (const auto& [path, value] : *top["parameters"].value().get_if<JsonValue::Object>())
    parameters.push_back(read_parameter(path, LocatedJson(value, member_path("parameters", path)), sampling));
  if (parameters.empty())
    top["parameters"].fail("must have at least one parameter, such as \"contact.dhat\"");
  for (const Parameter& p : parameters) study.paths.push_back(p.path);
  if (drawn)
    study.runs = random_runs(
        parameters, whole_number(top["runs"], 1, most_study_runs),
        Dice(top.has("seed") ? whole_number(top["seed"], 0, std::numeric_limits<Index>::max()) : 0),
        sampling == "latin_hypercube");
  else
    study.runs = sampling == "grid" ? grid_runs(parameters, top) : list_runs(parameters, top);
  if (top.has("results")) study.results = read_results(top["results"]);
  if (top.has("frames")) study.frames = top["frames"].boolean();
  if (top.has("steps")) study.steps = whole_number(top["steps"], 1, std::numeric_limits<Index>::max());
  check_scene(study, top);
  return study;
}

}  // namespace apart
