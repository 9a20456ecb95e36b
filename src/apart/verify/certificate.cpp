#include <apart/core/diagnostics.hpp>
#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/verify/certificate.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
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

void keep_smaller(std::optional<double>& smallest, std::optional<double> value) {
  if (value && (!smallest || *value < *smallest)) smallest = value;
}

/// Checks one run and fills in the certificate.
class Certifier {
 public:
  explicit Certifier(const Path& run_directory) : run_directory_(run_directory) {
    certificate_.run = run_directory.string();
  }

  Certificate certify() {
    for (const Path& file : list_frames(run_directory_)) {
      try {
        check_frame(file, read_frame(file));
      } catch (const InputError& error) {
        add(file, FindingKind::unreadable, error.what());
      }
    }
    if (check_) {
      certificate_.edges = check_->edge_count();
      certificate_.faces = check_->face_count();
      certificate_.tetrahedra = check_->tetrahedron_count();
      certificate_.invertible = check_->invertible_count();
      certificate_.limited = check_->limited_count();
      certificate_.half_spaces = check_->half_space_count();
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

  void check_frame(const Path& file, const Frame& frame) {
    const Matrix3X& x = frame.mesh.points;
    if (!check_) {
      check_.emplace(frame);
      reference_ = x;
    }
    if (const auto difference = check_->difference(frame)) {
      add(file, FindingKind::topology,
          fmt::format("has {} than the first frame; a run keeps its bodies and meshes", *difference));
      return;
    }
    check_->set_absent(frame.absent);
    frames_.push_back(file);
    ++certificate_.frames;
    if (!x.allFinite()) {
      add(file, check_->not_finite(x));
      return;
    }
    add(file, check_->intersections(x));
    add(file, check_->inversions(x));
    add(file, check_->strains(x));
    if (const auto share = check_->largest_strain_share(x))
      certificate_.max_strain_share = std::max(certificate_.max_strain_share.value_or(0), *share);
    add(file, check_->below_half_spaces(x));
    add(file, check_->thin(x, Certificate::max_listed));
    keep_smaller(certificate_.min_volume_ratio, check_->smallest_volume_ratio(x, reference_));
    keep_smaller(certificate_.min_distance, check_->smallest_distance(x));
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
  }

  void check_step(const Path& file, Iterates iterates) {
    std::vector<Matrix3X>& states = iterates.points;
    if (states.empty() || states[0].cols() != reference_.cols()) {
      add(file, FindingKind::history,
          fmt::format("holds {} states of {} points; a step has at least one, of {} points", states.size(),
                      states.empty() ? 0 : states[0].cols(), reference_.cols()));
      state_.reset();
      return;
    }
    ++certificate_.steps;
    const bool first = !last_step_;
    if (first) {
      // Recording may begin late; earlier frames then have no history.
      if (iterates.step > 1)
        while (next_frame_ < frames_.size() && !is_next_frame(states[0])) ++next_frame_;
      if (!is_next_frame(states[0]))
        add(file, FindingKind::history, "begins at a state that is no frame of the run");
      else
        ++next_frame_;
    } else if (iterates.step != *last_step_ + 1) {
      add(file, FindingKind::history,
          fmt::format("is step {} but follows step {}; steps are missing or double", iterates.step,
                      *last_step_));
    } else if (state_ && !same_points(*state_, states[0])) {
      add(file, FindingKind::history,
          fmt::format("begins {:.3g} m away from where the step before it ended",
                      (states[0] - *state_).colwise().norm().maxCoeff()));
    }
    last_step_ = iterates.step;
    check_->set_absent(iterates.absent);
    // A body that appears must be free of the others where it does; the rest of the argument then holds for
    // it too.
    if (first || std::any_of(absent_.begin(), absent_.end(), [&](int body) {
          return std::find(iterates.absent.begin(), iterates.absent.end(), body) == iterates.absent.end();
        }))
      add(file, check_->intersections(states[0]));
    absent_ = iterates.absent;
    for (std::size_t i = 0; i < states.size(); ++i) check_iterate(file, states, i);
    if (is_next_frame(states.back())) ++next_frame_;
    state_ = std::move(states.back());
  }

  void check_iterate(const Path& file, const std::vector<Matrix3X>& states, std::size_t i) {
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
    add_all(check_->strains(states[i]));
    add_all(check_->below_half_spaces(states[i]));
    add_all(check_->thin(states[i], Certificate::max_listed));
    if (i == 0 || !states[i - 1].allFinite()) return;
    ++certificate_.paths;
    if (same_points(states[i - 1], states[i])) return;
    FrameCheck::PathFindings path = check_->path(states[i - 1], states[i]);
    certificate_.path_pairs += path.pairs;
    certificate_.path_pairs_tight_inclusion += path.tight_inclusion;
    add_all(std::move(path.findings));
  }

  /// Whether the next frame that no step accounts for yet is this state.
  bool is_next_frame(const Matrix3X& state) {
    if (next_frame_ == frames_.size()) return false;
    if (loaded_frame_ != next_frame_) {
      next_points_ = read_frame(frames_[next_frame_]).mesh.points;
      loaded_frame_ = next_frame_;
    }
    return same_points(next_points_, state);
  }

  Path run_directory_;
  Certificate certificate_;
  std::optional<FrameCheck> check_;
  Matrix3X reference_;          ///< [m] the first frame
  std::vector<Path> frames_;    ///< those that could be checked
  std::size_t next_frame_ = 0;  ///< the first of `frames_` not yet found among the states
  std::optional<std::size_t> loaded_frame_;
  Matrix3X next_points_;  ///< of frame `loaded_frame_`
  std::optional<Index> last_step_;
  std::vector<int> absent_;        ///< in the last step
  std::optional<Matrix3X> state_;  ///< where the last step ended, if it could be read
};

nlohmann::ordered_json json_of(const Finding& finding) {
  nlohmann::ordered_json json = {{"kind", verify::finding_names[std::size_t(finding.kind)]},
                                 {"file", finding.file},
                                 {"text", finding.text}};
  if (!finding.bodies.empty()) json["bodies"] = finding.bodies;
  if (!finding.elements.empty()) json["elements"] = finding.elements;
  if (finding.position)
    json["position"] = {finding.position->x(), finding.position->y(), finding.position->z()};
  if (finding.distance) json["distance"] = *finding.distance;
  return json;
}

template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// 1234567 as 1 234 567.
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t i = std::ptrdiff_t(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(std::size_t(i), " ");
  return digits;
}

}  // namespace

Certificate certify(const Path& run_directory) {
  return Certifier(run_directory).certify();
}

void write_certificate(const Path& run_directory, const Certificate& c) {
  nlohmann::ordered_json json = {{"certified", c.ok()},
                                 {"frames", c.frames},
                                 {"edges", c.edges},
                                 {"faces", c.faces},
                                 {"tetrahedra", c.tetrahedra},
                                 {"unchecked_tetrahedra", c.invertible},
                                 {"strain_limited_triangles", c.limited},
                                 {"half_spaces", c.half_spaces},
                                 {"thickness_checked", c.thickness},
                                 {"steps_with_iterates", c.steps},
                                 {"paths", c.paths},
                                 {"path_pairs", c.path_pairs},
                                 {"path_pairs_tight_inclusion", c.path_pairs_tight_inclusion},
                                 {"min_volume_ratio", json_of(c.min_volume_ratio)},
                                 {"max_strain_share", json_of(c.max_strain_share)},
                                 {"min_distance", json_of(c.min_distance)},
                                 {"violation_count", c.violation_count},
                                 {"violations", nlohmann::ordered_json::array()},
                                 {"version", version()}};
  for (const Finding& finding : c.violations) json["violations"].push_back(json_of(finding));
  // A body's name need not be valid UTF-8.
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_atomically(run_directory / "certificate.json", json.dump(2, ' ', false, replace) + "\n");
}

std::string summary(const Certificate& c) {
  std::string text = fmt::format("Certificate of {}\n", c.run);
  const auto line = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<18}{}\n", what, value);
  };
  line("frames", fmt::format("{}, in each {} edges against {} triangles, exactly", grouped(c.frames),
                             grouped(c.edges), grouped(c.faces)));
  if (c.tetrahedra > 0)
    line("tetrahedra",
         fmt::format("{} in each frame{}", grouped(c.tetrahedra),
                     c.min_volume_ratio ? fmt::format(", smallest volume ratio {:.4g}", *c.min_volume_ratio)
                                        : std::string()));
  if (c.invertible > 0)
    line("not checked", fmt::format("{} tetrahedra of materials that may invert", grouped(c.invertible)));
  if (c.limited > 0)
    line("strain limits",
         fmt::format("{} triangles in each frame and iterate{}", grouped(c.limited),
                     c.max_strain_share
                         ? fmt::format(", at most {:.6g} of a limit in a frame", *c.max_strain_share)
                         : std::string()));
  if (c.half_spaces > 0) line("half-spaces", grouped(c.half_spaces));
  if (c.thickness) line("thickness", "kept by every pair, relaxed among neighbours of one piece");
  if (c.min_distance) line("smallest distance", fmt::format("{:.4g} m", *c.min_distance));
  line("paths",
       c.steps == 0
           ? "not recorded (run with --record-iterates to prove them too)"
           : fmt::format("{} between Newton iterates of {} steps, {} pairs proven apart exactly, {} by "
                         "Tight Inclusion too",
                         grouped(c.paths), grouped(c.steps), grouped(c.path_pairs),
                         grouped(c.path_pairs_tight_inclusion)));
  if (c.ok()) {
    text += fmt::format("CERTIFIED: no intersection{}{} in any frame{}\n",
                        c.invertible == 0  ? (c.limited > 0 ? ", no inversion" : " and no inversion")
                        : c.tetrahedra > 0 ? ", and no inversion of the tetrahedra checked,"
                                           : "",
                        c.limited > 0 ? " and no strain at its limit" : "",
                        c.steps == 0 ? "" : " or on any path between them");
    return text;
  }
  text += fmt::format("NOT CERTIFIED: {} violation{}\n", grouped(c.violation_count),
                      c.violation_count == 1 ? "" : "s");
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, c.violations.size()); ++i)
    text += fmt::format("  {}: {}\n", c.violations[i].file, c.violations[i].text);
  if (c.violation_count > std::int64_t(shown))
    text += fmt::format("  and {} more; certificate.json lists {}\n",
                        grouped(c.violation_count - std::int64_t(shown)),
                        c.violation_count > std::int64_t(c.violations.size())
                            ? fmt::format("the first {}", c.violations.size())
                            : std::string("all"));
  return text;
}

}  // namespace apart
