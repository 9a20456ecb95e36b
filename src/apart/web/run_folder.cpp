#include <apart/core/error.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/viewer/contact_reach.hpp>
#include <apart/web/packets.hpp>
#include <apart/web/run_folder.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

namespace apart {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Changes when a file is written; empty if there is none.
std::string stamp_of(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  if (error) return {};
  const auto size = fs::file_size(file, error);
  return error ? std::string() : fmt::format("{}-{}", time.time_since_epoch().count(), size);
}

/// What a JSON file says; null if it cannot be read (now).
Json read_json_or_null(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > (64u << 20)) return {};
  std::ifstream stream(file);
  const Json json = Json::parse(stream, nullptr, false, true);
  return json.is_object() ? json : Json();
}

Json numbers(const std::vector<double>& values, Index from) {
  Json list = Json::array();
  for (std::size_t i = std::size_t(std::max<Index>(0, from)); i < values.size(); ++i)
    list.push_back(std::isfinite(values[i]) ? Json(values[i]) : Json());
  return list;
}

/// The rows of a table from one on.
Json rows_of(const auto& table, Index from) {
  Json columns = Json::object();
  for (std::size_t c = 0; c < table.names.size(); ++c)
    columns[table.names[c]] = numbers(table.columns[c], from);
  return Json{{"count", table.rows()}, {"from", from}, {"columns", std::move(columns)}};
}

/// What the page is told of frames, and the stamp of the file of the first one.
struct FramesState {
  Json state;
  std::string first_stamp;
};
FramesState state_of_frames(const fs::path& directory, const std::vector<FrameEntry>& frames, Index from) {
  FramesState result;
  std::vector<double> times;
  std::string before;
  std::uint64_t stamp = 14695981039346656037u;  // FNV-1a over times and stamps of the files
  const auto stamp_text = [&] { return fmt::format("{:016x}", stamp); };
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (Index(f) == from) before = stamp_text();
    times.push_back(frames[f].time);
    const std::string file_stamp = stamp_of(directory / frames[f].file.lexically_normal());
    if (f == 0) result.first_stamp = file_stamp;
    for (const char c : fmt::format("{} {};", frames[f].time, file_stamp))
      stamp = (stamp ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  result.state = {{"count", times.size()},
                  {"from", from},
                  {"times", numbers(times, from)},
                  {"before", before.empty() ? stamp_text() : before},
                  {"stamp", stamp_text()}};
  return result;
}

std::size_t bytes_of(const Frame& f) {
  return sizeof(double) * std::size_t(f.mesh.points.size() + f.velocity.size() + f.contact_force.size() +
                                      f.von_mises.size() + f.strain.size()) +
         sizeof(int) * std::size_t(f.mesh.tetrahedra.size() + f.mesh.faces.size() + f.mesh.edges.size() +
                                   f.mesh.vertices.size() + f.point_body.size());
}

}  // namespace

RunFolder::RunFolder(const fs::path& directory) {
  std::error_code error;
  directory_ = fs::canonical(directory, error);
  if (error || !fs::is_directory(directory_, error))
    throw InputError("{}: no such directory; name one that 'apart run' has written, or is writing",
                     directory.string());
  if (!fs::exists(directory_ / "frames.pvd", error) && !fs::exists(directory_ / "scene.json", error))
    throw InputError("{}: holds neither frames nor a scene, so it is not the directory of a run; name one",
                     directory.string());
  name_ = directory_.filename().string();
  steps_.tail.file = directory_ / "steps.csv";
  probes_.tail.file = directory_ / "probes.csv";
  log_file_.file = directory_ / "log.txt";
}

fs::path RunFolder::inside(const fs::path& relative) const {
  std::error_code error;
  const fs::path file = fs::weakly_canonical(directory_ / relative, error);
  const auto [end, rest] = std::mismatch(directory_.begin(), directory_.end(), file.begin(), file.end());
  if (error || end != directory_.end())
    throw InputError("{}: {} leads to a file outside the run, which is not read; put the file itself there",
                     directory_.string(), apart::quoted(relative.string()));
  return file;
}

std::vector<FrameEntry> RunFolder::index() {
  const std::lock_guard lock(mutex_);
  const std::string stamp = stamp_of(directory_ / "frames.pvd");
  if (stamp != index_stamp_) {
    inside("frames.pvd");
    index_ = read_frame_index(directory_);
    index_stamp_ = stamp;
  }
  return index_;
}

/// Whether a file still holds what was read of it. One that was restarted, or continued from an earlier step,
/// need not be shorter than before by the time it is looked at.
bool RunFolder::goes_on(const Tail& tail) const {
  if (tail.position == 0) return true;
  std::string now(tail.last.size(), '\0');
  std::ifstream stream(inside(tail.file.filename()), std::ios::binary);
  stream.seekg(std::streamoff(tail.position - now.size()));
  return stream.read(now.data(), std::streamsize(now.size())) && now == tail.last;
}

std::vector<std::string> RunFolder::new_lines(Tail& tail) {
  std::error_code error;
  if (!fs::exists(tail.file, error)) return {};
  std::ifstream stream(inside(tail.file.filename()), std::ios::binary);
  stream.seekg(std::streamoff(tail.position));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line) && !stream.eof();) {  // a line without end is not whole
    tail.position += line.size() + 1;
    tail.last += line + '\n';
    lines.push_back(std::move(line));
  }
  constexpr std::size_t kept = 1 << 14;
  if (tail.last.size() > kept) tail.last.erase(0, tail.last.size() - kept);
  return lines;
}

void RunFolder::forget_steps() {
  steps_.forget();
  probes_.forget();
  step_seconds_.clear();
  log_file_ = {log_file_.file, 0, {}};
}

void RunFolder::read(GrowingTable& table) {
  if (!goes_on(table.tail)) {
    ++restarts_;
    forget_steps();
  }
  for (const std::string& line : new_lines(table.tail)) {
    std::vector<std::string> cells(1);
    for (const char c : line)
      if (c == ',')
        cells.emplace_back();
      else if (c != '\r')
        cells.back() += c;
    if (table.names.empty()) {
      table.names = cells;
      table.columns.resize(cells.size());
    } else if (cells.size() == table.names.size()) {
      for (std::size_t c = 0; c < cells.size(); ++c)
        table.columns[c].push_back(parse_real(cells[c]).value_or(std::nan("")));
    }
  }
}

/// "step 12 t 0.24 s: 3 iterations, 40 contacts, gap 0.00093 m, 0.0214 s": the wall time of a step differs
/// from run to run and so is in the log only.
void RunFolder::read_times() {
  if (!goes_on(log_file_)) {
    step_seconds_.clear();
    log_file_ = {log_file_.file, 0, {}};
  }
  for (const std::string& line : new_lines(log_file_)) {
    if (!line.starts_with("step ") || !line.ends_with(" s")) continue;
    const std::size_t begin = line.rfind(", ");
    if (begin == line.npos) continue;
    const auto step = parse_integer(line.substr(5, line.find(' ', 5) - 5));
    const auto seconds = parse_real(line.substr(begin + 2, line.size() - begin - 4));
    if (step && seconds && *step > 0) step_seconds_[Index(*step)] = *seconds;
  }
}

std::string RunFolder::state(Index first_frame, Index first_step, Index first_probe) {
  Json text;
  text["name"] = name_;
  const auto problem = [&](const std::string& what) {
    const std::string before = text.contains("problem") ? text["problem"].get<std::string>() + "\n" : "";
    text["problem"] = before + what;
  };
  /// Whatever is wrong with one part of the run concerns no other.
  const auto attempt = [&](auto&& part) {
    try {
      part();
    } catch (const InputError& e) {
      problem(e.what());
    }
  };
  std::error_code error;
  const bool gone = !fs::is_directory(directory_, error);
  if (gone)
    problem(fmt::format("{}: this folder is gone; put it back, or end 'apart view' and show another run",
                        directory_.string()));
  Json summary;
  attempt([&] { summary = read_json_or_null(inside("summary.json")); });
  const auto from_summary = [&](const char* key) {
    return summary.contains(key) && summary[key].is_string() ? summary[key].get<std::string>() : "";
  };
  text["scene"] = from_summary("scene");
  const std::string status = from_summary("status");
  if (summary.contains("units") && summary["units"].is_object()) text["units"] = summary["units"];
  if (const std::string reason = from_summary("reason"); !reason.empty()) text["reason"] = reason;

  std::vector<FrameEntry> frames;
  attempt([&] { frames = index(); });
  text["status"] = gone ? "gone" : !status.empty() ? status : frames.empty() ? "starting" : "unknown";
  FramesState in_files = state_of_frames(directory_, frames, first_frame);
  text["frames"] = std::move(in_files.state);
  const std::string& first_frame_stamp = in_files.first_stamp;

  auto newest = fs::file_time_type::min();
  for (const char* file : {"frames.pvd", "steps.csv", "summary.json", "log.txt"})
    if (const auto time = fs::last_write_time(directory_ / file, error); !error)
      newest = std::max(newest, time);
  if (newest != fs::file_time_type::min())
    text["age"] = std::chrono::duration<double>(fs::file_time_type::clock::now() - newest).count();

  const std::lock_guard lock(mutex_);
  if (first_frame_stamp != first_frame_stamp_) {
    forget_steps();
    first_frame_stamp_ = first_frame_stamp;
  }
  for (GrowingTable* table : {&steps_, &probes_}) attempt([&] { read(*table); });
  attempt([&] { read_times(); });
  text["generation"] = fmt::format("{}/{}", first_frame_stamp, restarts_);
  text["steps"] = rows_of(steps_, first_step);
  text["probes"] = rows_of(probes_, first_probe);
  text["probes"]["order"] = probes_.names;  // objects of JSON have none
  if (const auto step = std::find(steps_.names.begin(), steps_.names.end(), "step");
      step != steps_.names.end()) {
    const std::vector<double>& step_numbers = steps_.columns[std::size_t(step - steps_.names.begin())];
    Json seconds = Json::array();
    for (std::size_t i = std::size_t(std::max<Index>(0, first_step)); i < step_numbers.size(); ++i) {
      const auto at = step_seconds_.find(Index(std::clamp(step_numbers[i], 0.0, 2e9)));
      seconds.push_back(at == step_seconds_.end() ? Json() : Json(at->second));
    }
    text["steps"]["columns"]["seconds"] = std::move(seconds);
  }
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::shared_ptr<const RunFolder::Loaded> RunFolder::load(Index frame, ShownSurface surface,
                                                         std::string& key) {
  const std::vector<FrameEntry> frames = index();
  if (frame < 0 || frame >= Index(frames.size()))
    throw InputError("frame {}: the run has {} frames, counted from 0", frame, frames.size());
  const fs::path file = inside(frames[std::size_t(frame)].file);
  const std::string stamp = stamp_of(file);
  if (stamp.empty())
    throw InputError("frame {}: {} is missing; restore it or run the simulation again", frame,
                     file.filename().string());
  key = fmt::format("{}/{}/{}", name_of(surface), frame, stamp);
  if (auto found = frames_.find(key)) return found;
  auto loaded = std::make_shared<Loaded>();
  loaded->frame = read_frame(file);
  loaded->has_other_surfaces = has_other_surfaces(loaded->frame);
  loaded->frame = shown_frame(std::move(loaded->frame), surface);
  const std::uint64_t topology = topology_key(loaded->frame);
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = surfaces_.find(topology); at != surfaces_.end()) loaded->surface = at->second;
  }
  if (!loaded->surface) {
    loaded->surface = std::make_shared<DrawnSurface>(drawn_surface(loaded->frame));
    const std::lock_guard lock(mutex_);
    if (surfaces_.size() >= 4) surfaces_.clear();  // they seldom change, so seldom many are needed
    surfaces_[topology] = loaded->surface;
  }
  const std::size_t bytes = bytes_of(loaded->frame);
  frames_.put(key, loaded, bytes);
  return loaded;
}

double RunFolder::contact_reach(const Frame& frame) const {
  const auto read = [&](const char* name) {
    try {
      return read_json_or_null(inside(name));
    } catch (const InputError&) {
      return Json();
    }
  };
  return apart::contact_reach(read("scene.json"), read("summary.json"), frame);
}

/// Where the points of a frame are in the first one; empty if that has other points or cannot be read.
Matrix3X RunFolder::start_of(const Loaded& loaded, ShownSurface surface) {
  try {
    std::string key;
    const auto first = load(0, surface, key);
    const bool same = first->frame.topology == loaded.frame.topology &&
                      first->frame.mesh.point_count() == loaded.frame.mesh.point_count();
    return same ? first->frame.mesh.points : Matrix3X();
  } catch (const InputError&) {
    return {};
  }
}

std::shared_ptr<const std::string> RunFolder::packet(const std::string& what, Index frame,
                                                     ShownSurface shown_surface) {
  std::string key;
  // The stamp of the file is part of the key: a frame that is written again is a new one.
  const auto frames = index();
  if (frame >= 0 && frame < Index(frames.size()))
    if (auto found = packets_.find(fmt::format("{}/{}/{}/{}", what, name_of(shown_surface), frame,
                                               stamp_of(inside(frames[std::size_t(frame)].file)))))
      return found;
  making_.acquire();
  const auto release = [](std::counting_semaphore<>* semaphore) { semaphore->release(); };
  const std::unique_ptr<std::counting_semaphore<>, decltype(release)> turn(&making_, release);
  const auto loaded = load(frame, shown_surface, key);
  const Frame& shown = loaded->frame;
  const DrawnSurface& surface = *loaded->surface;
  const Matrix3X start =
      what == "positions" || what == "displacement" ? start_of(*loaded, shown_surface) : Matrix3X();
  auto packet = std::make_shared<std::string>(
      what == "topology"    ? topology_packet(shown, surface, loaded->has_other_surfaces)
      : what == "positions" ? position_packet(shown, surface, start)
                            : field_packet(shown, surface, what, contact_reach(shown), start));
  const std::size_t bytes = packet->size();
  packets_.put(what + "/" + key, packet, bytes);
  return packet;
}

std::string RunFolder::picked(Index frame, Index cell, Index point, ShownSurface surface) {
  std::string key;
  return picked_values(load(frame, surface, key)->frame, cell, point);
}

}  // namespace apart
