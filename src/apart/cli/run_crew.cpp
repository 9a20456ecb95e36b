#include <apart/cli/exit_codes.hpp>
#include <apart/cli/run_crew.hpp>
#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace apart {

namespace {

/// Starts this program once more. What it prints goes to a file.
pid_t start_program(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) throw InputError("a run cannot be started: {}; use fewer --jobs", std::strerror(errno));
  if (child > 0) return child;
  // A study that is killed takes its runs along, which then keep their state.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0 || ::dup2(file, STDERR_FILENO) < 0) ::_exit(exit_not_now);
  ::execv("/proc/self/exe", words.data());
  ::_exit(exit_not_now);
}

}  // namespace

LocalCrew::LocalCrew(int jobs, int crews)
    : jobs_(jobs), memory_(available_memory() / 10 * 9 / std::size_t(jobs) / std::size_t(crews)) {}

void LocalCrew::start(const Task& task) {
  constexpr std::size_t least = 100;  // [MB] that the program accepts
  std::vector<std::string> arguments = task.arguments;
  arguments.insert(arguments.end(), {"--memory", fmt::format("{}M", std::max(least, memory_ / 1'000'000))});
  busy_[start_program(arguments, task.log)] = task.run;
}

std::optional<RunCrew::Ended> LocalCrew::ended() {
  // Children of others, such as a library's, are theirs to wait for.
  for (auto child = busy_.begin(); child != busy_.end(); ++child) {
    int status = 0;
    if (::waitpid(child->first, &status, WNOHANG) != child->first) continue;
    const Ended result{child->second, status};
    busy_.erase(child);
    return result;
  }
  return {};
}

void LocalCrew::interrupt() {
  for (const auto& [child, run] : busy_) ::kill(child, SIGTERM);
}

}  // namespace apart
