#pragma once
// Time, memory and version of the program.
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// The parts a run's time is split into: the keys of `timings` in summary.json, in this order.
/// `remeshing` is choosing and doing changes of meshes, not solving the step again.
enum class Phase { assembly, linear_solve, broad_phase, ccd, line_search, remeshing, output, other };
inline constexpr std::array<std::string_view, 8> phase_names = {
    "assembly", "linear_solve", "broad_phase", "ccd", "line_search", "remeshing", "output", "other"};

/// Wall seconds per phase. Scopes nest: time inside an inner scope is not counted for the outer one, so the
/// parts add up to the time since construction.
class Timings {
 public:
  Timings();
  /// Counts for `phase` from now until destroyed.
  class Scope {
   public:
    Scope(Timings& timings, Phase phase);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timings& timings_;
    Phase previous_;
    double begin_;
  };
  [[nodiscard]] Scope measure(Phase phase) { return Scope(*this, phase); }
  /// Seconds per phase so far, indexed by Phase.
  std::array<double, phase_names.size()> seconds() const;
  double total() const;

  /// One scope that has ended [s since construction]. `depth`: how many scopes were around it.
  struct Span {
    Phase phase;
    int depth;
    double begin, end;
  };
  /// Keeps every scope from now on, up to ten million.
  void record() { recording_ = true; }
  const std::vector<Span>& spans() const { return spans_; }  ///< in the order in which they ended
  double now() const;                                        ///< [s] since construction

 private:
  using Clock = std::chrono::steady_clock;
  void switch_to(Phase phase);
  std::array<double, phase_names.size()> seconds_{};
  Phase current_ = Phase::other;
  Clock::time_point since_, start_;
  bool recording_ = false;
  int depth_ = 0;
  std::vector<Span> spans_;
};

double process_cpu_seconds();      ///< user + system time of this process so far
std::size_t process_peak_bytes();  ///< largest resident set of this process so far
std::string version();             ///< e.g. "0.1.0"

}  // namespace apart
