#include <apart/cli/ccd_command.hpp>
#include <apart/cli/exit_codes.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/queries/query_benchmark.hpp>
#include <apart/queries/query_generator.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace apart {

namespace {

namespace fs = std::filesystem;

struct CcdArguments {
  std::vector<std::string> paths;
  CcdOptions options{.method = CcdMethod::tight_inclusion};
  double separation = 0;  ///< [m]
  std::optional<int> threads;
  bool json = false;
  std::optional<QueryFamily> family;
  Index count = 10'000;
  std::uint64_t seed = 0;
  bool force = false;
};

// ---- option values --------------------------------------------------------------------------

/// Refuses values with "got VALUE, must be ...", to which the parser adds the option's name.
template <class Accept>
CLI::Validator checked(std::string must_be, Accept accept) {
  return CLI::Validator(
      [=](std::string& text) {
        if (accept(text)) return std::string();
        const bool plain = text.size() < 32 && parse_real(text);  // anything else is quoted, and cut if long
        return fmt::format("got {}, must be {}", plain ? text : apart::quoted(text), must_be);
      },
      "");
}

CLI::Validator metres(bool or_zero) {
  return checked(or_zero ? "a number of metres, 0 or more" : "a positive number of metres",
                 [=](const std::string& text) {
                   const auto x = parse_real(text);
                   return x && std::isfinite(*x) && (*x > 0 || (or_zero && *x == 0));
                 });
}

CLI::Validator at_least_one(int most = std::numeric_limits<int>::max()) {
  return checked(fmt::format("a whole number from 1 to {}", most), [=](const std::string& text) {
    const auto n = parse_integer(text);
    return n && *n >= 1 && *n <= most;
  });
}

CLI::Validator any_seed() {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return checked(fmt::format("a whole number from 0 to {}", most), [](const std::string& text) {
    std::uint64_t seed = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, seed);
    return result.ec == std::errc() && result.ptr == end;
  });
}

template <class T>
struct Choice {
  std::string name;
  T value;
};

/// An option that takes one of a few names and nothing else. `target` must outlive the parser.
template <class T, class Target>
CLI::Option* add_choice(CLI::App& command, const std::string& option, Target& target,
                        const std::vector<Choice<T>>& choices, const std::string& description) {
  std::string names;
  for (std::size_t i = 0; i < choices.size(); ++i)
    names += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i].name;
  const auto find = [choices](const std::string& text) -> const T* {
    for (const Choice<T>& choice : choices)
      if (choice.name == text) return &choice.value;
    return nullptr;
  };
  // The value is stored only after the check has passed.
  return command
      .add_option_function<std::string>(
          option, [find, &target](const std::string& text) { target = *find(text); }, description)
      ->check(checked(names, [find](const std::string& text) { return find(text) != nullptr; }));
}

// ---- running queries -------------------------------------------------------------------------------------

struct FileResult {
  std::string name;
  QueryStatistics statistics;
};

void print_table(const std::vector<FileResult>& rows) {
  std::size_t widest = 4;
  for (const FileResult& row : rows) widest = std::max(widest, row.name.size());
  fmt::print("{:<{}} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9} {:>10}\n", "file", widest, "queries",
             "impacts", "misses", "unknown", "false +", "false -", "mean us", "p99 us", "max us");
  for (const auto& [name, s] : rows)
    fmt::print("{:<{}} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9.2f} {:>9.2f} {:>10.1f}\n", name, widest,
               s.queries, s.true_impacts, s.true_misses, s.unknown, s.false_positives, s.false_negatives,
               s.mean_microseconds(), s.p99_microseconds(), s.max_microseconds());
}

nlohmann::ordered_json as_json(const QueryStatistics& s) {
  nlohmann::ordered_json json;
  json["queries"] = s.queries;
  json["true_impacts"] = s.true_impacts;
  json["true_misses"] = s.true_misses;
  json["unknown"] = s.unknown;
  json["impacts_answered"] = s.impacts;
  json["false_positives"] = s.false_positives;
  json["false_negatives"] = s.false_negatives;
  json["mean_us"] = s.mean_microseconds();
  json["p99_us"] = s.p99_microseconds();
  json["max_us"] = s.max_microseconds();
  return json;
}

std::string_view method_name(CcdMethod method) {
  return method == CcdMethod::additive ? "additive" : "tight";
}

void print_json(const CcdArguments& arguments, const std::vector<FileResult>& files,
                const std::vector<FileResult>& totals) {
  nlohmann::ordered_json json;
  json["method"] = method_name(arguments.options.method);
  json["tolerance"] = arguments.options.tolerance;
  json["max_iterations"] = arguments.options.max_iterations;
  json["separation"] = arguments.separation;
  json["threads"] = thread_count();
  json["files"] = nlohmann::ordered_json::array();
  for (const auto& [name, statistics] : files) {
    nlohmann::ordered_json row;
    row["file"] = name;
    row.update(as_json(statistics));
    row["slowest_query"] = statistics.slowest;
    row["first_missed_query"] = statistics.first_missed < 0 ? nlohmann::ordered_json()
                                                            : nlohmann::ordered_json(statistics.first_missed);
    json["files"].push_back(row);
  }
  for (const auto& [name, statistics] : totals) json[name] = as_json(statistics);
  fmt::print("{}\n", json.dump(2));
}

std::string impacts_were(std::int64_t count) {
  return fmt::format("{} impact{}", count, count == 1 ? " was" : "s were");
}

int ask(const CcdArguments& arguments) {
  std::vector<FileResult> files;
  QueryStatistics faces, edges, total;
  for (const fs::path& file : find_query_files(arguments.paths)) {
    const QuerySet set = read_queries(file);
    if (set.separation > arguments.separation)
      throw InputError(
          "{}: its truth holds for a separation of {} m, but it is queried with {} m, for which its impacts "
          "may not be impacts; use --separation {}",
          file.string(), set.separation, arguments.separation, set.separation);
    const QueryStatistics statistics = benchmark_queries(set, arguments.options, arguments.separation);
    (set.kind == PairKind::edge_edge ? edges : faces).add(statistics);
    total.add(statistics);
    files.push_back({file.string(), statistics});
  }
  if (arguments.json) {
    print_json(arguments, files, {{"vertex_face", faces}, {"edge_edge", edges}, {"total", total}});
  } else {
    std::vector<FileResult> rows = files;
    if (faces.queries > 0 && edges.queries > 0) {
      rows.push_back({"vertex-face", faces});
      rows.push_back({"edge-edge", edges});
    }
    if (files.size() > 1) rows.push_back({"total", total});
    print_table(rows);
  }
  if (total.false_negatives == 0) return exit_done;
  std::fflush(stdout);
  for (const auto& [name, statistics] : files)
    if (statistics.false_negatives > 0)
      fmt::print(stderr, "{}: {} missed, the first in query {}, counted from 0\n", name,
                 impacts_were(statistics.false_negatives), statistics.first_missed);
  fmt::print(stderr,
             "{} missed. Either the truth in the files is wrong or the method '{}' is: please report it "
             "together with the files\n",
             impacts_were(total.false_negatives), method_name(arguments.options.method));
  return exit_not_verified;
}

// ---- generating queries
// -------------------------------------------------------------------------------------

int write_queries(const CcdArguments& arguments) {
  const fs::path folder = arguments.paths.front();
  GeneratorOptions options{
      .family = *arguments.family, .seed = arguments.seed, .separation = arguments.separation};
  const std::string_view name = name_of(options.family);
  if (options.separation > largest_separation(options.family))
    throw InputError("--separation: got {}, must be at most {:.3g} for {} queries, the size of the smallest",
                     options.separation, largest_separation(options.family), name);
  prepare_query_folder(folder, name, arguments.force);
  Index left = arguments.count;
  for (const PairKind kind : {PairKind::point_triangle, PairKind::edge_edge}) {
    options.kind = kind;
    const fs::path file = query_file_in(folder, kind, name);
    const bool both = kind == PairKind::point_triangle;
    const Index count = !has_queries(options.family, kind) ? 0 : both ? left / 2 : left;
    if (count == 0) {  // with --force an earlier set may have had some
      remove_query_file(file);
      continue;
    }
    left -= count;
    write_query_file(file, [&](std::ostream& out) {
      QueryWriter writer(out, kind, fmt::format("{}, seed {}", name, options.seed), options.separation);
      constexpr Index block = 1 << 16;
      for (Index first = 0; first < count; first += block)
        for (const GeneratedQuery& query :
             generate_queries(options, std::uint64_t(first), std::min(block, count - first)))
          writer.add(query.pair);
    });
    fmt::print("{}: {} {}\n", file.string(), count, count == 1 ? "query" : "queries");
  }
  return exit_done;
}

}  // namespace

void add_ccd_command(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<CcdArguments>();  // lives as long as the callback
  CLI::App* command = app.add_subcommand(
      "ccd", "Run continuous collision detection on files of queries, or generate such files");
  command
      ->add_option("FILES", arguments->paths,
                   "Query files, or folders to search for *.csv; with --generate: the folder to write")
      ->required();
  auto* method =
      add_choice<CcdMethod>(*command, "--method", arguments->options.method,
                            {{"tight", CcdMethod::tight_inclusion}, {"additive", CcdMethod::additive}},
                            "tight (default) or additive")
          ->type_name("METHOD");
  auto* tolerance = command
                        ->add_option("--tolerance", arguments->options.tolerance,
                                     "Of tight: boxes of this size count as touching [m]; default: 1e-6")
                        ->check(metres(false));
  auto* iterations =
      command
          ->add_option(
              "--max-iterations", arguments->options.max_iterations,
              "Of tight: boxes examined before it returns the earliest time not excluded; default: 1000000")
          ->check(at_least_one());
  command
      ->add_option(
          "--separation", arguments->separation,
          "Distance that counts as touching [m], for tight in the maximum norm; default: 0. The truth in "
          "files is for 0 unless they were generated with a separation, so false positives are no errors "
          "then. Files generated with a separation cannot be queried with a smaller one")
      ->check(metres(true));
  command
      ->add_option("--threads", arguments->threads,
                   "Number of threads; default: 1, so that queries do not affect each other's times; with "
                   "--generate, all cores")
      ->check(at_least_one(1024));
  auto* json = command->add_flag("--json", arguments->json, "Print JSON instead of a table");

  std::vector<Choice<QueryFamily>> families;
  std::string names;
  for (const FamilyName& row : query_families) {
    families.push_back({std::string(row.name), row.family});
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  auto* kind = add_choice<QueryFamily>(
                   *command, "--generate", arguments->family, families,
                   "Write queries of this kind, with their truth, to FILES/vertex-face/KIND.csv and "
                   "FILES/edge-edge/KIND.csv instead: " +
                       names)
                   ->type_name("KIND");
  auto* count = command
                    ->add_option("--count", arguments->count,
                                 "Total number of queries to write, half of them impacts; default: 10000")
                    ->check(at_least_one());
  auto* seed = command->add_option("--seed", arguments->seed, "Seed of the random numbers; default: 0")
                   ->check(any_seed());
  auto* force = command->add_flag("--force", arguments->force, "Replace files that --generate wrote earlier");
  for (auto* option : {count, seed, force}) option->needs(kind);
  for (auto* option : {method, tolerance, iterations, json}) option->excludes(kind);

  command->callback([arguments, &code] {
    if (arguments->family && arguments->paths.size() != 1)
      throw CLI::ValidationError("--generate", "writes one folder; give exactly one");
    set_thread_count(arguments->threads.value_or(arguments->family ? 0 : 1));
    if (arguments->options.method == CcdMethod::tight_inclusion)
      arguments->options.norm = SeparationNorm::maximum;
    code = arguments->family ? write_queries(*arguments) : ask(*arguments);
  });
}

}  // namespace apart
