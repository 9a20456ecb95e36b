#pragma once
#include <apart/run/run.hpp>

#include <chrono>
#include <deque>

namespace apart {

/// Shows the progress of a run: one line that is overwritten on a terminal, plain lines elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { close(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  /// A step that takes long: on a terminal, its last iterations.
  void show(const IterationReport& iteration);
  /// A message on lines of its own.
  void note(const std::string& text);
  void close();  ///< leaves the last line standing

 private:
  bool terminal_;
  bool open_ = false;  ///< the cursor stands behind an unfinished line
  void write(std::string line);
  double last_shown_ = -1;     ///< [s] of Progress::wall_seconds
  std::deque<double> shares_;  ///< of the last Newton steps that were taken
  std::chrono::steady_clock::time_point last_iteration_ = std::chrono::steady_clock::now();
};

/// Shows how many items of a list are done, and how long the rest will take: one line that is overwritten on
/// a terminal, nothing elsewhere.
class CountLine {
 public:
  explicit CountLine(std::string what);  ///< "picture"
  ~CountLine() { close(); }
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  void show(Index done, Index all);
  void close();

 private:
  std::string what_;
  bool terminal_, open_ = false;
  double start_, last_shown_ = -1;  ///< [s]
};

/// "3 s", "2:05" or "1:02:05".
std::string duration_text(double seconds);

}  // namespace apart
