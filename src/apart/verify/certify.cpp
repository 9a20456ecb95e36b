#include <apart/core/error.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/verify/binding.hpp>
#include <apart/verify/certificate.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace apart {

using verify::Finding;
using verify::FindingKind;
using verify::FrameCheck;

namespace {

using Path = std::filesystem::path;

bool same_points(const Matrix3X& a, const Matrix3X& b) {
  return a.cols() == b.cols() && a == b;
}

std::vector<int> sorted(std::vector<int> list) {
  std::sort(list.begin(), list.end());
  return list;
}

void keep_smaller(std::optional<double>& smallest, std::optional<double> value) {
  if (value && (!smallest || *value < *smallest)) smallest = value;
}

/// Checks one run and fills in the certificate.
class Certifier {
 public:
  Certifier(const Path& run_directory, const verify::SceneClaims* scene)
      : run_directory_(run_directory), scene_(scene) {
    certificate_.run = run_directory.string();
    certificate_.with_scene = scene != nullptr;
  }

  Certificate certify() {
    const std::vector<Path> files = list_frames(run_directory_);
    const std::vector<FrameEntry> entries = read_frame_index(run_directory_);
    if (scene_) {
      bind(entries);
      if (!scene_->trouble.empty())
        add(run_directory_ / "scene.json", FindingKind::scene,
            fmt::format("cannot be compared with the frames: {}", scene_->trouble));
    }
    if (knows_scene()) joints_ = verify::JointCheck(scene_->joints, scene_->start);
    certificate_.joints = joints_.count();
    const std::vector<Path> iterates = list_iterates(run_directory_);
    proves_changes_ = !iterates.empty() && iterates.front() == run_directory_ / iterates_name(1);
    for (std::size_t i = 0; i < files.size(); ++i) {
      try {
        const Frame frame = read_frame(files[i]);
        check_place(files[i], frame, entries[i].time, Index(i), i + 1 == files.size());
        check_frame(files[i], frame);
      } catch (const InputError& error) {
        add(files[i], FindingKind::unreadable, error.what());
      }
    }
    if (check_) {
      certificate_.edges = check_->edge_count();
      certificate_.faces = check_->face_count();
      certificate_.tetrahedra = check_->tetrahedron_count();
      certificate_.planar = check_->planar_count();
      certificate_.invertible = check_->invertible_count();
      certificate_.limited = check_->limited_count();
      certificate_.half_spaces = check_->half_space_count();
      certificate_.neighbours = check_->neighbour_count();
      certificate_.solids = check_->solid_count();
      certificate_.affine = check_->affine_count();
      certificate_.rigid = check_->rigid_count();
      certificate_.thickness = check_->has_thickness();
      check_history();
    }
    return std::move(certificate_);
  }

 private:
  void add(const Path& file, Finding finding) {
    ++certificate_.violation_count;
    if (certificate_.violations.size() == Certificate::max_listed) return;
    finding.file = file.lexically_relative(run_directory_).generic_string();
    certificate_.violations.push_back(std::move(finding));
  }
  void add(const Path& file, std::vector<Finding> findings) {
    for (Finding& finding : findings) add(file, std::move(finding));
  }
  void add(const Path& file, FindingKind kind, std::string text) {
    Finding finding{.kind = kind};
    finding.text = std::move(text);
    add(file, std::move(finding));
  }

  void bind(const std::vector<FrameEntry>& entries) {
    std::vector<std::string> frames, iterates;
    for (const FrameEntry& entry : entries) frames.push_back(entry.file.generic_string());
    for (const Path& file : list_iterates(run_directory_))
      iterates.push_back(file.lexically_relative(run_directory_).generic_string());
    verify::Binding binding = verify::check_binding(run_directory_, frames, iterates);
    certificate_.scene_digest = binding.scene_digest;
    certificate_.run_digest = binding.run_digest;
    certificate_.written_by = binding.written_by;
    certificate_.files = binding.files;
    said_steps_ = binding.steps;
    for (Finding& finding : binding.findings) {
      const Path file = run_directory_ / finding.file;
      add(file, std::move(finding));
    }
  }

  bool knows_scene() const { return scene_ && scene_->trouble.empty(); }

  /// Whether a frame belongs at its place in the index, and the bodies that the scene has there are present.
  void check_place(const Path& file, const Frame& frame, double time, Index number, bool last) {
    if (frame.time != time)
      add(file, FindingKind::history,
          fmt::format("is of t = {} s, but is listed in frames.pvd at t = {} s", frame.time, time));
    if (number > 0 && !(frame.time > last_time_))
      add(file, FindingKind::history,
          fmt::format("is of t = {} s and follows one of t = {} s; frames were exchanged or repeated",
                      frame.time, last_time_));
    last_time_ = frame.time;
    if (!knows_scene()) return;
    if (number == 0) {
      if (const auto difference = verify::difference_to_scene(frame, scene_->start))
        add(file, FindingKind::scene, *difference);
    }
    const double steps = std::round(frame.time / scene_->dt);
    if (!(steps >= 0 && steps <= std::numeric_limits<Index>::max()) || steps * scene_->dt != frame.time) {
      add(file, FindingKind::scene,
          fmt::format("is of t = {} s, where no step of {} s ends", frame.time, scene_->dt));
      return;
    }
    const Index step = Index(steps), every = scene_->frame_every;
    const double due = double(number) * every;
    if (!last && steps != due)
      add(file, FindingKind::scene,
          fmt::format("is of step {}, the scene asks for one of step {} here; frames are missing or added",
                      step, due));
    if (last) {
      certificate_.run_steps = step;
      if (!(steps <= due && steps > due - every))
        add(file, FindingKind::scene,
            fmt::format("is of step {}, the scene asks for one every {} steps; frames are missing or added",
                        step, every));
      if (said_steps_ && *said_steps_ != step)
        add(file, FindingKind::binding,
            fmt::format("is the last and of step {}, summary.json has {} steps", step, *said_steps_));
    }
    check_absent(file, frame.absent, std::max(step, Index(1)));
  }

  std::string names(const std::vector<int>& bodies) const {
    std::vector<std::string> list;
    for (const int b : bodies)
      list.push_back(b >= 0 && b < int(body_names_.size()) ? "'" + body_names_[std::size_t(b)] + "'" : "?");
    return list.empty() ? std::string("none") : fmt::format("{}", fmt::join(list, ", "));
  }

  /// `bodies` are said not to be there in a step.
  void check_absent(const Path& file, std::vector<int> bodies, Index step) {
    if (!knows_scene()) return;
    if (body_names_.empty())
      for (const FrameBody& body : scene_->start.bodies) body_names_.push_back(body.name);
    bodies = sorted(std::move(bodies));
    const std::vector<int> expected = scene_->absent(step);
    if (bodies != expected)
      add(file, FindingKind::presence,
          fmt::format("lists as absent: {}; the scene says for step {}: {}", names(bodies), step,
                      names(expected)));
  }

  void check_frame(const Path& file, const Frame& frame) {
    const Matrix3X& x = frame.mesh.points;
    if (!check_ && frame.topology != 0)
      add(file, FindingKind::topology,
          fmt::format("is the first and of topology {}; a run begins with topology 0", frame.topology));
    if (check_ && frame.topology != check_->topology() && !change_topology(file, frame)) return;
    if (!check_ || frame.topology != check_->topology()) {
      check_.emplace(frame);
      reference_ = x;
      first_of_topology_.emplace(frame.topology, file);
    }
    if (const auto difference = check_->difference(frame)) {
      add(file, FindingKind::topology,
          frame.topology == 0
              ? fmt::format("has {} than the first frame; a run keeps its bodies and meshes", *difference)
              : fmt::format("has {} than the first frame of topology {}", *difference, frame.topology));
      return;
    }
    if (body_names_.empty())
      for (const FrameBody& body : frame.bodies) body_names_.push_back(body.name);
    check_->set_absent(frame.absent);
    frames_.push_back(file);
    ++certificate_.frames;
    if (!x.allFinite()) {
      add(file, check_->not_finite(x));
      return;
    }
    add(file, check_->intersections(x));
    add(file, check_->nested(x));
    add(file, check_->inversions(x));
    add(file, check_->strains(x));
    if (const auto share = check_->largest_strain_share(x))
      certificate_.max_strain_share = std::max(certificate_.max_strain_share.value_or(0), *share);
    add(file, check_->below_half_spaces(x));
    add(file, check_->thin(x, Certificate::max_listed));
    if (knows_scene() && joints_.count() > 0) {
      if (const auto points = joints_.first_points(frame))
        add(file, joints_.open(*points, Index(std::round(frame.time / scene_->dt)), frame.absent));
      else
        add(file, FindingKind::topology,
            fmt::format("is of topology {}; where bodies may lose points of the first mesh, joints at points "
                        "are checked only while meshes stay",
                        frame.topology));
    }
    keep_smaller(certificate_.min_volume_ratio, check_->smallest_volume_ratio(x, reference_));
    keep_smaller(certificate_.min_distance, check_->smallest_distance(x));
  }

  /// A frame has another topology than the one before it. False: it cannot be.
  bool change_topology(const Path& file, const Frame& frame) {
    const Index before = check_->topology();
    if (frame.topology < before) {
      add(file, FindingKind::topology,
          fmt::format("is of topology {} and follows one of topology {}; numbers only grow", frame.topology,
                      before));
      return false;
    }
    if (const auto difference = check_->difference_of_bodies(frame)) {
      add(file, FindingKind::topology,
          fmt::format("has {} than the first frame; a run keeps its bodies", *difference));
      return false;
    }
    if (!proves_changes_)
      add(file, FindingKind::topology,
          fmt::format(
              "is of topology {} and follows one of topology {}; that nothing was passed through when "
              "the mesh changed is not proven; record the run with --record-iterates",
              frame.topology, before));
    return true;
  }

  /// Checks are those of a topology from now on. False: no frame has it.
  bool use_topology(const Path& file, Index topology) {
    if (check_->topology() == topology) return true;
    if (const Path own = run_directory_ / topology_name(topology); std::filesystem::exists(own))
      first_of_topology_.try_emplace(topology, own);
    const auto first = first_of_topology_.find(topology);
    if (first == first_of_topology_.end()) {
      add(file, FindingKind::topology,
          fmt::format("has iterates of topology {}, which no frame has: its cells are not known, and its "
                      "paths are not proven",
                      topology));
      return false;
    }
    const Frame frame = read_frame(first->second);
    if (const auto difference = check_->difference_of_bodies(frame);
        difference || frame.topology != topology) {
      add(first->second, FindingKind::topology,
          difference
              ? fmt::format("has {} than the first frame; a run keeps its bodies", *difference)
              : fmt::format("is of topology {}, but stands for topology {}", frame.topology, topology));
      return false;
    }
    check_.emplace(frame);
    reference_ = frame.mesh.points;
    return true;
  }

  /// Walks through all recorded states, from one to the next. The first one is a checked frame, so nothing
  /// intersects there; if nothing ever touches on the way, nothing ever will.
  void check_history() {
    const std::vector<Path> files = list_iterates(run_directory_);
    if (files.empty()) return;
    for (const Path& file : files) {
      try {
        check_step(file, read_iterates(file));
      } catch (const InputError& error) {
        add(file, FindingKind::unreadable, error.what());
        state_.reset();
      }
    }
    if (next_frame_ < frames_.size())
      add(frames_[next_frame_], FindingKind::history,
          "is not the state before or after a recorded step, in the order of the frames");
    if (!knows_scene() && last_step_) certificate_.run_steps = *last_step_;
  }

  /// Whether an iterate has the points of its topology, which must be in use.
  bool check_size(const Path& file, const std::vector<Matrix3X>& states, std::size_t i) {
    if (i < states.size() && states[i].cols() == check_->point_count()) return true;
    add(file, FindingKind::history,
        fmt::format("holds {} states of {} points; a step has at least one, of {} points", states.size(),
                    states.empty() ? 0 : states[i].cols(), check_->point_count()));
    return false;
  }

  void check_step(const Path& file, Iterates iterates) {
    std::vector<Matrix3X>& states = iterates.points;
    const std::optional<Matrix3X> before = std::exchange(state_, std::nullopt);
    if ((!states.empty() && !use_topology(file, iterates.topology_of(0))) || !check_size(file, states, 0))
      return;
    ++certificate_.steps;
    const bool first = !last_step_;
    if (first) {
      // Recording may begin late; earlier frames then have no history.
      const bool late = iterates.step > 1;
      // A frame shows who was there in the step before it; that of the start, who is there in the first step.
      const std::vector<int>* absent = late ? nullptr : &iterates.absent;
      if (late)
        while (next_frame_ < frames_.size() && !is_next_frame(states[0], iterates.step - 1, absent))
          ++next_frame_;
      if (is_next_frame(states[0], iterates.step - 1, absent)) {
        if (!late) check_same_absent(file, iterates);
        ++next_frame_;
      } else {
        add(file, FindingKind::history, "begins at a state that is no frame of the run");
      }
    } else if (iterates.step != *last_step_ + 1) {
      add(file, FindingKind::history,
          fmt::format("is step {} but follows step {}; steps are missing or double", iterates.step,
                      *last_step_));
    } else if (before && state_topology_ != iterates.topology_of(0)) {
      add_change(file, 0, state_topology_, iterates.topology_of(0));
    } else if (before && !same_points(*before, states[0])) {
      add(file, FindingKind::history,
          fmt::format("begins {:.3g} m away from where the step before it ended",
                      (states[0] - *before).colwise().norm().maxCoeff()));
    }
    last_step_ = iterates.step;
    check_->set_absent(iterates.absent);
    check_absent(file, iterates.absent, iterates.step);
    // A body that appears must be free of the others where it does; the rest of the argument then holds for
    // it too.
    if ((first || std::any_of(absent_.begin(), absent_.end(),
                              [&](int body) {
                                return std::find(iterates.absent.begin(), iterates.absent.end(), body) ==
                                       iterates.absent.end();
                              })) &&
        states[0].allFinite())
      check_as_frame(file, states[0]);
    absent_ = iterates.absent;
    bool unchecked = false;  // a mesh whose points have not all been apart yet
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (i > 0 && iterates.topology_of(i) != iterates.topology_of(i - 1)) {
        if (unchecked) add_merged(file, i - 1);
        if (!change_mesh(file, iterates, i)) return;
        unchecked = true;
      }
      if (unchecked && states[i].allFinite() && !check_->has_merged_points(states[i])) {
        check_as_frame(file, states[i]);
        unchecked = false;
      }
      check_iterate(file, iterates, i);
    }
    if (unchecked) add_merged(file, states.size() - 1);
    if (is_next_frame(states.back(), iterates.step, &iterates.absent)) {
      check_same_absent(file, iterates);
      ++next_frame_;
    }
    state_topology_ = check_->topology();
    state_ = std::move(states.back());
  }

  /// Where the walk through the states begins or goes on with something new.
  void check_as_frame(const Path& file, const Matrix3X& x) {
    add(file, check_->intersections(x));
    add(file, check_->nested(x));
    add(file, check_->inversions(x));
    add(file, check_->thin(x, Certificate::max_listed));
  }

  /// From iterate i on the mesh is another. Its surface must be the same here as that of the one before.
  bool change_mesh(const Path& file, const Iterates& iterates, std::size_t i) {
    const std::vector<Matrix3X>& states = iterates.points;
    const verify::PlacedSurface before = check_->placed(states[i - 1]);
    const Index old = iterates.topology_of(i - 1), now = iterates.topology_of(i);
    if (!use_topology(file, now) || !check_size(file, states, i)) return false;
    check_->set_absent(iterates.absent);
    if (now < old || check_->placed(states[i]) != before) add_change(file, i, old, now);
    return true;
  }

  void add_merged(const Path& file, std::size_t i) {
    add(file, FindingKind::topology,
        fmt::format("iterate {}: points of the new mesh are still in one place", i));
  }

  /// There is no path between two surfaces that are not the same.
  void add_change(const Path& file, std::size_t i, Index before, Index now) {
    add(file, FindingKind::topology,
        fmt::format("iterate {}: is of topology {} and follows one of topology {}; {}", i, now, before,
                    now < before ? "numbers only grow"
                                 : "that nothing was passed through when the mesh changed is not proven"));
  }

  /// A step and the frame of its end, or of the start of the first step, tell of the same bodies.
  void check_same_absent(const Path& file, const Iterates& iterates) {
    const std::vector<int> here = sorted(iterates.absent);
    if (here == next_absent_) return;
    add(file, FindingKind::presence,
        fmt::format("lists as absent: {}; {} lists: {}", names(here),
                    frames_[next_frame_].lexically_relative(run_directory_).generic_string(),
                    names(next_absent_)));
  }

  void check_iterate(const Path& file, const Iterates& iterates, std::size_t i) {
    const std::vector<Matrix3X>& states = iterates.points;
    const auto add_all = [&](std::vector<Finding> findings) {
      for (Finding& finding : findings) {
        finding.text = fmt::format("iterate {}: {}", i, finding.text);
        add(file, std::move(finding));
      }
    };
    if (!states[i].allFinite()) {
      add_all(check_->not_finite(states[i]));
      return;
    }
    // Edges begin and end as points next to a change of the mesh only.
    const auto changes = [&](std::size_t k) {
      return k > 0 && k < states.size() && iterates.topology_of(k) != iterates.topology_of(k - 1);
    };
    add_all(check_->strains(states[i], changes(i) || changes(i + 1)));
    add_all(check_->below_half_spaces(states[i]));
    add_all(check_->thin_above_half_spaces(states[i]));
    add_all(check_->affine_images(states[i]));
    add_all(check_->rigid_shapes(states[i]));
    if (i == 0 || changes(i) || !states[i - 1].allFinite()) return;
    ++certificate_.paths;
    if (same_points(states[i - 1], states[i])) return;
    FrameCheck::PathFindings path = check_->path(states[i - 1], states[i], changes(i - 1) || changes(i + 1));
    certificate_.path_pairs += path.pairs;
    add_all(std::move(path.findings));
  }

  /// Whether the next frame that no step accounts for yet is this state, at the end of a step. Times tell
  /// which step that is, if the scene is known; otherwise states that are the same are told apart by who is
  /// there, if `absent` is not null.
  bool is_next_frame(const Matrix3X& state, Index step, const std::vector<int>* absent) {
    if (next_frame_ == frames_.size()) return false;
    if (loaded_frame_ != next_frame_) {
      Frame frame = read_frame(frames_[next_frame_]);
      next_points_ = std::move(frame.mesh.points);
      next_absent_ = sorted(std::move(frame.absent));
      next_time_ = frame.time;
      next_topology_ = frame.topology;
      loaded_frame_ = next_frame_;
    }
    const bool right_time =
        knows_scene() ? next_time_ == double(step) * scene_->dt : !absent || next_absent_ == sorted(*absent);
    return right_time && next_topology_ == check_->topology() && same_points(next_points_, state);
  }

  Path run_directory_;
  const verify::SceneClaims* scene_;  ///< null: what frames claim is believed
  Certificate certificate_;
  std::optional<Index> said_steps_;  ///< by summary.json
  bool proves_changes_ = false;      ///< iterates from the first step on show how meshes changed
  std::vector<std::string> body_names_;
  verify::JointCheck joints_;
  double last_time_ = 0;             ///< [s] of the frame before
  std::optional<FrameCheck> check_;  ///< for the topology in use
  Matrix3X reference_;               ///< [m] the first frame of that topology
  std::map<Index, Path> first_of_topology_;
  std::vector<Path> frames_;    ///< those that could be checked
  std::size_t next_frame_ = 0;  ///< the first of `frames_` not yet found among the states
  std::optional<std::size_t> loaded_frame_;
  Matrix3X next_points_;          ///< of frame `loaded_frame_`
  std::vector<int> next_absent_;  ///< there
  double next_time_ = 0;          ///< [s] of it
  Index next_topology_ = 0;       ///< of it
  std::optional<Index> last_step_;
  std::vector<int> absent_;        ///< in the last step
  std::optional<Matrix3X> state_;  ///< where the last step ended, if it could be read
  Index state_topology_ = 0;       ///< there
};

}  // namespace

Certificate certify(const Path& run_directory, const verify::SceneClaims* scene) {
  return Certifier(run_directory, scene).certify();
}

}  // namespace apart
