#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/io/table_file.hpp>
#include <apart/studies/study_folder.hpp>
#include <apart/viewer/film.hpp>

#include <nlohmann/json.hpp>

#include <fstream>

namespace apart {

namespace {

namespace fs = std::filesystem;

/// Numbers of summary.json that are columns.
constexpr std::string_view summary_columns[] = {
    "steps",           "simulated_seconds", "cpu_seconds",      "newton_iterations", "max_contacts",
    "min_distance",    "min_gap",           "min_volume_ratio", "max_strain",        "max_stretch",
    "max_compression", "intersection_free", "inversion_free"};

nlohmann::json read_or_null(const fs::path& file) {
  std::ifstream in(file);
  return in ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json();
}

/// The result of a run as JSON; empty if it has no such column.
std::string result_of(const fs::path& run, const StudyResult& result) {
  for (const char* name : {"steps.csv", "probes.csv"}) {
    std::error_code error;
    if (!fs::exists(run / name, error)) continue;
    const Table table = read_table(run / name);
    if (const std::vector<double>* column = table.find(result.column)) {
      const nlohmann::json value = reduced(*column, result.take);
      return value.is_null() ? "" : value.dump();
    }
  }
  return {};
}

/// A cell of a CSV file.
std::string csv_cell(const std::string& json) {
  const nlohmann::json value = nlohmann::json::parse(json, nullptr, false);
  std::string text = value.is_string() ? value.get<std::string>() : json;
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ' ' : c);
  return quoted + "\"";
}

/// Those that the summary of a run has; a sum over steps has that of its column.
void note_units(const nlohmann::json& summary, const std::vector<StudyResult>& results,
                std::vector<std::string>& units) {
  const nlohmann::json of = summary.is_object() ? summary.value("units", nlohmann::json()) : nlohmann::json();
  for (std::size_t i = 0; i < results.size(); ++i)
    if (of.is_object() && of.contains(results[i].column) && of[results[i].column].is_string())
      units[i] = of[results[i].column];
}

}  // namespace

StudyFolder::StudyFolder(fs::path folder, const Study& study, bool shared)
    : folder_(std::move(folder)), study_(study) {
  const fs::path mark = folder_ / "study.txt";
  const auto create = [&](const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
      throw InputError("{}: cannot be created: {}; choose another folder with -o", path.string(),
                       error.message());
  };
  create(folder_);
  if (!shared) lock_.emplace(folder_);
  // Tasks of a job array begin at the same time: each may write the mark, before anything else is there.
  std::error_code error;
  if (!fs::exists(mark, error)) {
    for (const auto& entry : fs::directory_iterator(folder_, error))
      if (!entry.path().filename().string().starts_with("study.txt"))
        if (!fs::exists(mark, error))
          throw InputError("{}: is not empty and holds no study; choose another folder with -o",
                           folder_.string());
    write_atomically(mark, study.identity());
  }
  const FileReader reader(mark);
  if (reader.content() != study.identity())
    throw InputError(
        "{}: holds another study, or this one with other values; choose another folder with -o, or "
        "remove it",
        folder_.string());
  create(folder_ / "runs");
}

fs::path StudyFolder::run_directory(std::size_t run) const {
  return folder_ / "runs" / fmt::format("{:06}", run);
}
fs::path StudyFolder::log(std::size_t run) const {
  return folder_ / "runs" / fmt::format("{:06}.log", run);
}

std::optional<StudyRecord> StudyFolder::record(std::size_t run) const {
  const nlohmann::json json = read_or_null(run_directory(run).replace_extension(".json"));
  if (!json.is_object() || !json.contains("status")) return {};
  return StudyRecord{json.value("status", ""), json.value("reason", "")};
}

void StudyFolder::keep(std::size_t run, const StudyRecord& record) const {
  const nlohmann::ordered_json json = {{"status", record.status}, {"reason", record.reason}};
  write_atomically(run_directory(run).replace_extension(".json"),
                   json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

StudyTable StudyFolder::table() const {
  StudyTable table;
  table.result_units.resize(study_.results.size());
  table.names = {"run", "status", "reason"};
  table.names.insert(table.names.end(), study_.paths.begin(), study_.paths.end());
  table.names.insert(table.names.end(), std::begin(summary_columns), std::end(summary_columns));
  for (const StudyResult& result : study_.results) table.names.push_back(result.name);
  for (std::size_t run = 0; run < study_.runs.size(); ++run) {
    const std::optional<StudyRecord> record = this->record(run);
    if (!record) continue;
    const auto text = [](const std::string& value) {
      return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    std::vector<std::string> row = {std::to_string(run), text(record->status),
                                    record->reason.empty() ? "" : text(record->reason)};
    row.insert(row.end(), study_.runs[run].begin(), study_.runs[run].end());
    const nlohmann::json summary = read_or_null(run_directory(run) / "summary.json");
    for (const std::string_view name : summary_columns) {
      const auto value = summary.is_object() ? summary.find(std::string(name)) : summary.end();
      row.push_back(value == summary.end() || value->is_null() ? "" : value->dump());
    }
    for (const StudyResult& result : study_.results) row.push_back(result_of(run_directory(run), result));
    note_units(summary, study_.results, table.result_units);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void StudyFolder::write_results() const {
  const StudyTable table = this->table();
  std::string csv = fmt::format("{}\n", fmt::join(table.names, ","));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(csv_cell(cell));
    csv += fmt::format("{}\n", fmt::join(cells, ","));
  }
  write_atomically(folder_ / "results.csv", csv);
  write_database(folder_ / "results.sqlite", table);
  draw_thumbnails();
  std::set<std::string> pictures;
  std::error_code error;
  for (const auto& row : table.rows)
    if (fs::exists(run_directory(std::stoul(row[0])).replace_extension(".png"), error))
      pictures.insert(row[0]);
  write_atomically(folder_ / "report.html", study_page(study_, table, pictures));
}

void StudyFolder::draw_thumbnails() const {
  RenderOptions options{.width = 160, .height = 120, .samples = 9, .camera = {}};
  for (std::size_t run = 0; run < study_.runs.size(); ++run) {
    const std::optional<StudyRecord> record = this->record(run);
    const fs::path directory = run_directory(run), picture = fs::path(directory).replace_extension(".png");
    std::error_code error;
    if (!record || record->status != "finished" || !fs::exists(directory / "frames.pvd", error)) continue;
    if (options.camera && fs::exists(picture, error)) continue;
    try {
      const std::vector<fs::path> files = list_frames(directory);
      if (!options.camera) options.camera = automatic_camera(some_frames(files), 4.0 / 3);
      if (!fs::exists(picture, error)) render(read_frame(files.back()), options, picture);
    } catch (const InputError&) {
      continue;  // a run without a picture is in the table all the same
    }
  }
}

}  // namespace apart
