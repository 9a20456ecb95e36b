#include <apart/core/counted.hpp>
#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/directory_lock.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/run/checkpoint.hpp>
#include <apart/run/follow.hpp>
#include <apart/run/line_file.hpp>
#include <apart/run/probe_table.hpp>
#include <apart/run/profile.hpp>
#include <apart/run/run.hpp>
#include <apart/run/run_directory.hpp>
#include <apart/run/run_recorder.hpp>
#include <apart/run/run_summary.hpp>
#include <apart/run/step_table.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <deque>
#include <map>

namespace apart {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double summary_seconds = 1;  // between two summaries of a run that goes on

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Where a run begins, and what it has behind it if it is resumed.
struct RunStart {
  State state;
  Spent spent = {};
  std::vector<StepReport> done = {};
};

class Run {
 public:
  Run(const Scene& scene, fs::path directory, RunOptions options, const CheckpointFiles& checkpoints,
      RunStart start)
      : scene_(scene),
        directory_(std::move(directory)),
        options_(std::move(options)),
        checkpoints_(checkpoints),
        simulation_(scene.model, std::move(start.state), options_.work),
        spent_(start.spent),
        last_step_(options_.steps.value_or(scene.steps)),
        log_(directory_ / "log.txt") {
    add_done(start.done);
    if (options_.rescue) rescue_ = options_.rescue;
    simulation_.should_stop = options_.should_stop;
    simulation_.on_step_bound = options_.on_step_bound;
    simulation_.on_iteration = options_.on_iteration;
    simulation_.on_slow = [this](const std::string& what) {
      log_line(what);
      if (options_.on_note) options_.on_note(what);
    };
    simulation_.on_note = simulation_.on_slow;
    if (options_.profile) simulation_.timings().record();
    if (options_.record_iterates)
      simulation_.on_iterate = [this](const Matrix3X& points) {
        iterates_.points.push_back(points);
        const Index topology = simulation_.model().topology;
        if (!iterates_.topology.empty() && topology != iterates_.topology.back())
          topologies_.push_back(simulation_.frame());
        iterates_.topology.push_back(topology);
      };
    simulation_.on_discard = [this](std::size_t count) {
      if (!options_.record_iterates) return;
      iterates_.points.resize(iterates_.points.size() - count);
      iterates_.topology.resize(iterates_.points.size());
      std::erase_if(topologies_, [&](const Frame& f) { return f.topology > iterates_.topology.back(); });
    };
  }

  ~Run() {
    const std::lock_guard lock(rescue_->writing());
    rescue_->offer(nullptr);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// `kept_frames`: of the run that is continued.
  RunResult advance(Index kept_frames) {
    std::unique_lock writing(rescue_->writing());
    log_line(fmt::format(
        "{} of {}, dt {:g} s, {}, {}, size {:.6g} m, {}",
        simulation_.state().step == 0
            ? fmt::format("apart {}: run", version())
            : fmt::format("apart {}: resumed after step {}", version(), simulation_.state().step),
        counted(last_step_, "step"), scene_.model->options.dt,
        counted(Index(scene_.model->bodies.size()), "body", "bodies"),
        counted(scene_.model->node_count(), "node"), scene_.model->size, counted(thread_count(), "thread")));
    if (simulation_.state().step == 0)
      for (const std::string& note : scene_.notes) log_line(note);
    for (const std::string& warning : options_.warnings) log_line("warning: " + warning);
    std::optional<FrameWriter> frames;
    if (options_.frames)
      frames.emplace(directory_, scene_.extra_formats, kept_frames, options_.work.team.size());
    recorder_.emplace(directory_, simulation_.frame(), std::move(frames),
                      RunDigests(directory_, files_so_far(kept_frames)), spent_.findings);
    LineFile steps(directory_ / "steps.csv");
    if (!scene_.probes.empty()) probes_.emplace(directory_ / "probes.csv");
    for (const Probe& probe : scene_.probes) meters_.emplace_back(probe);
    first_step_ = simulation_.state().step + 1;
    RunResult result;
    if (kept_frames == 0)
      recorder_->add({.frame = next_frame()});
    else if (simulation_.state().step % scene_.frame_every == 0)
      frame_step_ = simulation_.state().step;
    publish();
    keep_state("running", {}, Writers::team);
    rescue_->offer([this] {
      log_line(fmt::format("interrupted after step {}", published_.state.step));
      recorder_->finish();
      checkpoints_.keep(published_.state, *published_.model);
      write_summary("interrupted", fmt::format("interrupted after step {}", published_.state.step));
      return published_.state.step;
    });
    writing.unlock();
    try {
      result = simulate(steps);
      writing.lock();
      // A process that has no memory has left the others in the middle of a step.
      const bool waits = result.end != RunEnd::no_memory;
      finish(result, waits ? Writers::team : Writers::leader);
      if (waits) announce_end(options_.work.team);
    } catch (const std::exception& e) {
      if (!writing) writing.lock();
      keep_what_there_is(e);
      throw;
    }
    return result;
  }

 private:
  void add_done(const std::vector<StepReport>& steps) {
    for (const StepReport& step : steps) totals_.add(step);
    energy_noted_ = totals_.most_gained >= much_energy;  // has been said
  }

  /// All steps, or as many as can be done.
  RunResult simulate(LineFile& steps) {
    try {
      while (simulation_.state().step < last_step_ && !is_refuted_) {
        if (options_.should_stop && options_.should_stop()) throw Interrupted("interrupted");
        step(steps);
      }
    } catch (const Interrupted&) {
      return {RunEnd::interrupted, fmt::format("interrupted after step {}", simulation_.state().step)};
    } catch (const MemoryError& e) {
      return {RunEnd::no_memory, e.what()};
    } catch (const std::bad_alloc&) {
      return {RunEnd::no_memory,
              fmt::format("memory: step {} needs more than {:.3g} GB; use a coarser mesh, a smaller "
                          "contact.dhat, or give more with --memory",
                          simulation_.state().step + 1, double(memory_limit()) / 1e9)};
    } catch (const SolverError& e) {
      return {RunEnd::failed, e.what()};
    }
    return {};
  }

  /// The files of a run that is continued, in the order in which they were written.
  std::vector<std::string> files_so_far(Index kept_frames) const {
    std::vector<std::string> files = {"scene.json"};
    if (kept_frames > 0) files.push_back(frame_name(0));
    // Topologies stand after the step that they came with.
    std::multimap<std::string, std::string> topologies;
    if (const Index last = simulation_.model().topology; last > 0 && options_.record_iterates) {
      std::string step;
      for (const FileDigest& entry : read_digests(directory_)) {
        if (entry.file.starts_with("iterates/")) step = entry.file;
        if (entry.file.starts_with("topologies/") && entry.file <= topology_name(last))
          topologies.emplace(step, entry.file);
      }
    }
    for (Index step = 1; step <= simulation_.state().step; ++step) {
      if (options_.record_iterates) files.push_back(iterates_name(step));
      const auto [begin, end] = topologies.equal_range(iterates_name(step));
      for (auto it = begin; it != end; ++it) files.push_back(it->second);
      if (step % scene_.frame_every == 0 && step / scene_.frame_every < kept_frames)
        files.push_back(frame_name(step / scene_.frame_every));
    }
    return files;
  }

  /// Bodies that appear with the next step must not do so inside a solid. The step itself checks that they do
  /// not intersect.
  void refuse_nested() {
    const auto absent_at = [&](Index step) {
      std::vector<int> absent;
      const double time = double(step) * scene_.model->options.dt;
      for (std::size_t b = 0; b < scene_.model->bodies.size(); ++b)
        if (!scene_.model->bodies[b].presence.covers(time)) absent.push_back(int(b));
      return absent;
    };
    const Index step = simulation_.state().step + 1;
    const std::vector<int> before = absent_at(std::max(step - 1, 1)), now = absent_at(step);
    if (std::ranges::includes(now, before)) return;
    const auto found =
        recorder_->nested(simulation_.model().point_map.positions(simulation_.state().nodes), now);
    if (!found.empty())
      throw SolverError(
          fmt::format("a body cannot appear after t = {:.6g} s: {}; make room, let it appear elsewhere or at "
                      "another time, or set contact.allow_nested",
                      simulation_.state().time, found.front().text));
  }

  /// After an error that is not the solver's: no memory, a full disk, a broken invariant.
  void keep_what_there_is(const std::exception& e) {
    try {
      log_line(e.what());
      // A checkpoint must not be ahead of the list of steps, or the run could not be resumed from it.
      if (recorder_->is_whole() && listed_step_ == simulation_.state().step)
        keep_state("failed", e.what());
      else
        write_summary("failed", e.what());
    } catch (const std::exception&) {
      // The first error is the one to report.
    }
  }

  void step(LineFile& steps) {
    const Clock::time_point begin = Clock::now();
    const double began = simulation_.timings().now();
    iterates_ = {};
    topologies_.clear();
    const Index topology = simulation_.model().topology;
    refuse_nested();
    announce_step(options_.work.team);
    const StepReport report = simulation_.step();
    const std::lock_guard writing(rescue_->writing());
    if (options_.profile) step_times_.emplace_back(began, simulation_.timings().now());
    totals_.add(report);
    const bool has_new_meshes = simulation_.model().topology != topology;
    if (has_new_meshes) follow_meshes();
    note_energy();
    {
      const auto time = simulation_.timings().measure(Phase::output);
      if (probes_) probes_->add(probe_line(simulation_, meters_));
      steps.add(step_line(report));
      listed_step_ = report.step;
      publish();
      const bool frame_due = report.step % scene_.frame_every == 0 || report.step == last_step_;
      record(has_new_meshes, frame_due);
      const bool often_enough = scene_.checkpoint_steps && report.step % *scene_.checkpoint_steps == 0;
      if (often_enough || seconds_since(last_kept_) > scene_.checkpoint_seconds)
        keep_state("running", {}, Writers::team);
      else if (frame_due && options_.frames && seconds_since(last_summary_) > summary_seconds)
        write_summary("running", {});
    }
    recent_.push_back(seconds_since(begin));
    if (recent_.size() > 20) recent_.pop_front();
    log_line(fmt::format("step {} t {:.6g} s: {} iterations, {} contacts, gap {:.3g} m{}, {:.3g} s",
                         report.step, report.time, report.newton_iterations, report.contacts, report.min_gap,
                         remeshing_text(report), recent_.back()));
    if (options_.on_step) {
      double mean = 0;
      for (const double s : recent_) mean += s / double(recent_.size());
      const auto spent = simulation_.timings().seconds();
      options_.on_step({report, last_step_, seconds_since(start_), mean * double(last_step_ - report.step),
                        spent[std::size_t(Phase::remeshing)] / simulation_.timings().total()});
    }
  }

  /// Whatever refers to the meshes that have just changed is made again.
  void follow_meshes() {
    meters_.clear();
    for (const Probe& probe : scene_.probes) meters_.emplace_back(probe);
    dofs_ = free_coordinates(simulation_.model());
  }

  std::string remeshing_text(const StepReport& report) const {
    if (!scene_.model->remesher) return {};
    return fmt::format(", {} cells, {} split, {} collapsed, {} swaps, {} moved, {} tried", report.cells,
                       report.splits, report.collapses, report.swaps, report.moves, report.remesh_trials);
  }

  static Index free_coordinates(const Model& model) {
    return Index((!ScriptedNodes(model).mask(model.options.dt)).count());
  }

  /// Energy without a source makes all other results doubtful, even though no surface intersects.
  void note_energy() {
    if (energy_noted_ || totals_.most_gained < much_energy) return;
    energy_noted_ = true;
    const std::string what = fmt::format(
        "step {}: energy has grown by {:.3g} J more than the work done on the bodies, {:.0f} % of all there "
        "was: speeds and forces from here on are unreliable; use time.integrator generalized_alpha, bdf2 or "
        "implicit_euler, or a smaller time.dt",
        simulation_.state().step, totals_.gained, 100 * totals_.most_gained);
    log_line(what);
    if (options_.on_note) options_.on_note(what);
  }

  /// Forces of such steps do not satisfy the friction law to the tolerance, which nothing else would show.
  void note_friction() {
    if (totals_.friction_unsettled_steps == 0) return;
    const std::string what = fmt::format(
        "friction did not settle in {} of {}, which were accepted as they were (friction_unsettled in "
        "steps.csv); use a smaller time.dt or a larger contact.epsv",
        totals_.friction_unsettled_steps, counted(totals_.steps, "step"));
    log_line(what);
    if (options_.on_note) options_.on_note(what);
  }

  /// Hands over what is kept of the step just done. An intersection ends the run: it is looked for in the
  /// frames before this one, so that the run ends with the same step for any number of threads.
  void record(bool has_new_meshes, bool frame_due) {
    RunRecorder::Record kept;
    if (options_.record_iterates) {
      iterates_.step = simulation_.state().step;
      iterates_.absent = simulation_.absent();
      kept.iterates = std::move(iterates_);
      kept.topologies = std::move(topologies_);
    }
    if (has_new_meshes) kept.new_meshes = simulation_.frame();
    if (frame_due) kept.frame = next_frame();
    if (!kept.iterates && !kept.new_meshes && !kept.frame) return;
    recorder_->finish();
    is_refuted_ = recorder_->written().findings.intersection.has_value();
    recorder_->add(std::move(kept));
  }

  /// The present state, unless it is a frame already or none are kept.
  std::optional<Frame> next_frame() {
    if (!options_.frames || frame_step_ == simulation_.state().step) return std::nullopt;
    frame_step_ = simulation_.state().step;
    return simulation_.frame();
  }

  /// What another thread may see of the simulation while the next step is under way.
  struct Published {
    State state;
    std::shared_ptr<const Model> model;
    std::array<double, phase_names.size()> timings{};  ///< [s]
  };
  void publish() {
    published_ = {simulation_.state(), simulation_.shared_model(), simulation_.timings().seconds()};
  }

  /// Who writes a checkpoint: all processes of the team where they wait for what comes next.
  enum class Writers { leader, team };

  void keep_state(std::string_view status, const std::string& reason = {},
                  Writers writers = Writers::leader) {
    publish();
    recorder_->finish();
    if (recorder_->is_whole()) {  // a run goes on from a checkpoint with the frames before it
      flush_to_disk(directory_);
      const bool together = writers == Writers::team && options_.work.write_archive;
      if (together) announce_checkpoint(options_.work.team, checkpoints_.fresh(), checkpoints_.scene);
      checkpoints_.keep(simulation_.state(), simulation_.model(), together ? &options_.work : nullptr);
    }
    write_summary(status, reason);
    last_kept_ = Clock::now();
  }

  void finish(RunResult& result, Writers writers) {
    {
      const auto time = simulation_.timings().measure(Phase::output);
      recorder_->add({.frame = next_frame()});
      recorder_->finish();
      // What counts is what is on the disk.
      recorder_->examine(options_.frames ? read_frame(list_frames(directory_).back()) : simulation_.frame());
    }
    if (const auto found = recorder_->written().findings.first(); found && result.end == RunEnd::finished)
      result = {RunEnd::refuted, *found};
    static constexpr std::string_view status[] = {"finished", "interrupted", "failed", "refuted", "failed"};
    keep_state(status[std::size_t(result.end)], result.reason, writers);
    note_friction();
    log_line(result.reason.empty() ? "finished" : result.reason);
    if (options_.profile) {
      const Timings& timings = simulation_.timings();
      write_trace(directory_ / "trace.json", timings.spans(), step_times_, first_step_);
      result.profile = time_tree(timings.spans(), timings.now());
    }
  }

  void write_summary(std::string_view status, const std::string& reason) {
    const RunRecorder::Written written = recorder_->written();
    RunSummary summary{.scene = scene_,
                       .model = *published_.model,
                       .totals = totals_,
                       .findings = written.findings,
                       .status = status,
                       .reason = reason,
                       .warnings = options_.warnings};
    summary.simulated = published_.state.time, summary.wall = spent_.wall + seconds_since(start_);
    summary.cpu = spent_.cpu + process_cpu_seconds() - cpu_start_;
    for (std::size_t i = 0; i < phase_names.size(); ++i)
      summary.timings[i] = spent_.timings[i] + published_.timings[i];
    summary.has_thickness = written.has_thickness, summary.has_limits = written.has_strain_limits;
    summary.dofs = dofs_, summary.frames = written.frames;
    summary.scene_digest = written.scene_digest, summary.run_digest = written.run_digest;
    // One that will soon be replaced need not wait for the disk.
    write_atomically(directory_ / "summary.json", text_of(summary),
                     status == "running" ? Flush::later : Flush::now);
    last_summary_ = Clock::now();
  }

  void log_line(std::string_view what) { log_.add(what); }

  const Scene& scene_;
  fs::path directory_;
  RunOptions options_;
  CheckpointFiles checkpoints_;
  Simulation simulation_;
  Spent spent_;
  Index last_step_;
  LineFile log_;
  RunRescue own_rescue_;  ///< if the options have none
  RunRescue* rescue_ = &own_rescue_;
  Published published_;
  std::optional<LineFile> probes_;
  std::vector<ProbeMeter> meters_;
  std::optional<RunRecorder> recorder_;           ///< from `advance` on
  bool is_refuted_ = false;                       ///< by an intersection
  Index first_step_ = 1;                          ///< of those done here
  Index frame_step_ = -1;                         ///< step of the last frame
  Index listed_step_ = simulation_.state().step;  ///< last step in steps.csv
  Iterates iterates_;
  std::vector<Frame> topologies_;  ///< of each that came with this step
  Totals totals_;
  bool energy_noted_ = false;
  Index dofs_ = free_coordinates(*scene_.model);
  std::deque<double> recent_;                          ///< [s] of the last steps
  std::vector<std::pair<double, double>> step_times_;  ///< begin and end [s], if profiled
  Clock::time_point start_ = Clock::now(), last_kept_ = start_, last_summary_ = start_;
  double cpu_start_ = process_cpu_seconds();
};

}  // namespace

RunResult run_scene(const SceneFile& file, const Scene& scene, const fs::path& directory,
                    const RunOptions& options) {
  if (!options.work.team.leads()) {
    follow_run(scene.model, start_state(*scene.model), options.work);
    return {};
  }
  const DirectoryLock lock(directory);
  write_atomically(directory / "scene.json", file.text());
  LineFile(directory / "steps.csv").add(step_header());
  if (!scene.probes.empty()) LineFile(directory / "probes.csv").add(probe_header(scene.probes));
  Run run(scene, directory, options, {directory, fingerprint(file, *scene.model)},
          {start_state(*scene.model)});
  return run.advance(0);
}

RunResult resume_run(const SceneFile& file, const Scene& scene, const fs::path& directory,
                     const RunOptions& options) {
  const Team& team = options.work.team;
  std::optional<DirectoryLock> lock;
  if (team.leads()) lock.emplace(directory);
  const CheckpointFiles checkpoints(directory, fingerprint(file, *scene.model));
  const auto [state, model, trouble] = checkpoints.read(scene.model);
  team.any(false);  // all have read it: the leader may replace it
  if (!team.leads()) {
    follow_run(model, state, options.work);
    return {};
  }
  Scene going_on = scene;
  going_on.model = model;  // its meshes may have changed since the start
  if (!trouble.empty() && options.on_note)
    options.on_note(
        fmt::format("{}\nThe previous checkpoint, of step {}, is used instead", trouble, state.step));
  const Index last = options.steps.value_or(scene.steps);
  if (state.step > last)
    throw InputError("{}: has {} steps already, which is more than {}; nothing is left to do",
                     directory.string(), state.step, last);
  const std::vector<StepReport> done = read_steps(directory / "steps.csv", state.step);
  const Spent spent = read_spent(directory / "summary.json");
  if (spent.refuted || spent.findings.intersection)
    throw InputError(
        "{}: an earlier part of this run was refuted; a continued run could not be certified, start a new "
        "one",
        directory.string());
  RunOptions same = options;  // goes on as it began
  same.frames = fs::exists(directory / "frames");
  same.record_iterates = fs::exists(directory / "iterates");
  if (options.record_iterates && !same.record_iterates)
    throw InputError(
        "{}: this run began without --record-iterates, and iterates prove a run only from its start; start a "
        "new one",
        directory.string());
  const Index kept_frames = same.frames ? state.step / scene.frame_every + 1 : 0;
  if (same.frames) ensure_frames(directory, kept_frames);  // now, not when the run has ended
  remove_half_written(directory);
  remove_later_iterates(directory, state.step, model->topology);
  write_atomically(directory / "scene.json", file.text());
  // Steps after the checkpoint will be done again.
  std::string lines = step_header() + "\n";
  for (const StepReport& report : done) lines += step_line(report) + "\n";
  write_atomically(directory / "steps.csv", lines);
  if (!scene.probes.empty()) cut_probes(directory / "probes.csv", scene.probes, state.step);
  Run run(going_on, directory, same, checkpoints, {state, spent, done});
  return run.advance(kept_frames);
}

}  // namespace apart
