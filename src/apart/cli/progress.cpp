#include <apart/cli/progress.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace apart {

std::string duration_text(double seconds) {
  if (!(seconds < 1e8)) return "long";
  const long s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

namespace {

/// Columns of the terminal; 0 if it does not say.
std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(::isatty(STDOUT_FILENO) != 0) {}

void ProgressLine::close() {
  if (open_) std::fputc('\n', stdout);
  open_ = false;
}

void ProgressLine::show(const Progress& p) {
  const StepReport& r = p.report;
  const bool last = r.step == p.steps;
  // A terminal is slow, and nobody reads more than ten lines a second.
  if (terminal_ && !last && p.wall_seconds < last_shown_ + 0.1) return;
  last_shown_ = p.wall_seconds;
  shares_.clear();
  last_iteration_ = std::chrono::steady_clock::now();
  const std::string gap = std::isfinite(r.min_gap) ? fmt::format("{:.2e} m", r.min_gap) : "none";
  const std::string shares =
      r.shortest_step < 0.999 ? fmt::format(" (shortest step {:.2g})", r.shortest_step) : "";
  const std::string cells =
      r.remesh_trials > 0
          ? fmt::format(
                "  cells {} ({} edges split, {} collapsed, {} swaps, {} points moved, {} tried; {:.0f} % of "
                "the time so far)",
                r.cells, r.splits, r.collapses, r.swaps, r.moves, r.remesh_trials, 100 * p.remesh_share)
          : "";
  write(fmt::format("step {}/{}  t {:.4g} s  iterations {}{}  contacts {}  smallest gap {}{}  {} left",
                    r.step, p.steps, r.time, r.newton_iterations, shares, r.contacts, gap, cells,
                    duration_text(p.seconds_left)));
}

void ProgressLine::show(const IterationReport& iteration) {
  shares_.push_back(iteration.alpha);
  if (shares_.size() > 8) shares_.pop_front();
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_iteration_ < std::chrono::seconds(1)) return;
  last_iteration_ = now;
  std::string shares;
  for (const double share : shares_) shares += fmt::format(" {:.2g}", share);
  write(fmt::format("step {}  iteration {}  Newton step {:.2e} m/s  step lengths{}", iteration.step,
                    iteration.iterations, iteration.residual, shares));
}

void ProgressLine::note(const std::string& text) {
  close();
  fmt::print(stderr, "{}\n", text);
}

void ProgressLine::write(std::string line) {
  if (terminal_) {
    // A line that wraps cannot be written over.
    if (const std::size_t width = terminal_width(); width > 0 && line.size() >= width) line.resize(width - 1);
    std::fprintf(stdout, "\r\x1b[K%s", line.c_str());
  } else {
    std::fprintf(stdout, "%s\n", line.c_str());
  }
  std::fflush(stdout);
  open_ = terminal_;
}

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

CountLine::CountLine(std::string what)
    : what_(std::move(what)), terminal_(::isatty(STDOUT_FILENO) != 0), start_(seconds_now()) {}

void CountLine::close() {
  if (open_) std::fputc('\n', stdout);
  open_ = false;
}

void CountLine::show(Index done, Index all) {
  const double now = seconds_now();
  if (!terminal_ || (done < all && now < last_shown_ + 0.1)) return;
  last_shown_ = now;
  constexpr int width = 30;
  const int filled = all > 0 ? int(std::int64_t(width) * done / all) : width;
  std::fprintf(stdout, "\r\x1b[K[%s%s] %s %d/%d  %s left", std::string(std::size_t(filled), '#').c_str(),
               std::string(std::size_t(width - filled), '.').c_str(), what_.c_str(), done, all,
               duration_text((now - start_) / std::max<Index>(1, done) * (all - done)).c_str());
  std::fflush(stdout);
  open_ = true;
}

}  // namespace apart
