#include <apart/core/diagnostics.hpp>

#include <sys/resource.h>

namespace apart {

namespace {
constexpr std::size_t most_spans = 10'000'000;
}

Timings::Timings() : since_(Clock::now()), start_(since_) {}

double Timings::now() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Timings::switch_to(Phase phase) {
  const auto now = Clock::now();
  seconds_[static_cast<std::size_t>(current_)] += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  current_ = phase;
}

Timings::Scope::Scope(Timings& timings, Phase phase)
    : timings_(timings), previous_(timings.current_), begin_(timings.recording_ ? timings.now() : 0) {
  timings_.switch_to(phase);
  ++timings_.depth_;
}

Timings::Scope::~Scope() {
  --timings_.depth_;
  if (timings_.recording_ && timings_.spans_.size() < most_spans)
    timings_.spans_.push_back({timings_.current_, timings_.depth_, begin_, timings_.now()});
  timings_.switch_to(previous_);
}

std::array<double, phase_names.size()> Timings::seconds() const {
  auto result = seconds_;
  result[static_cast<std::size_t>(current_)] += std::chrono::duration<double>(Clock::now() - since_).count();
  return result;
}

double Timings::total() const {
  double sum = 0;
  for (double s : seconds()) sum += s;
  return sum;
}

namespace {
rusage usage() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return u;
}
}  // namespace

double process_cpu_seconds() {
  const rusage u = usage();
  return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

std::size_t process_peak_bytes() {
  return std::size_t(usage().ru_maxrss) * 1024;
}

std::string version() {
  return APART_VERSION;
}

}  // namespace apart
