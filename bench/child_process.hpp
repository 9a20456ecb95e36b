#pragma once
// Runs a program as a child and waits for it, with a limit of time.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace apart::bench {

struct ChildEnd {
  int code = 0;            ///< exit code, or 128 + the signal that ended it
  bool timed_out = false;  ///< it was asked to stop because its time was over
  double seconds = 0;      ///< wall time
};

/// Runs `arguments` (the program first) with all its output appended to `log`. After `limit` seconds, or once
/// `stop` is not zero, the child gets SIGINT, and a minute and a half later, if it has not ended, SIGKILL.
inline ChildEnd run_child(const std::vector<std::string>& arguments, const std::filesystem::path& log,
                          double limit, const volatile std::sig_atomic_t& stop) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return {-1, false, 0};
  if (child == 0) {
    setpgid(0, 0);  // so that Ctrl-C reaches it through this program alone, once
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0) {
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
    }
    execv(argv[0], argv.data());
    _exit(127);
  }
  constexpr double patience = 90;  // [s] a step that does not look up ends after that
  ChildEnd end;
  double asked = -1;
  bool killed = false;
  for (int status = 0;;) {
    if (waitpid(child, &status, WNOHANG) == child) {
      end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    if (asked < 0 && (stop != 0 || elapsed() > limit)) {
      end.timed_out = stop == 0;
      asked = elapsed();
      kill(child, SIGINT);
    } else if (asked >= 0 && !killed && elapsed() > asked + patience) {
      killed = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(elapsed() < 1 ? 5 : 50));
  }
  end.seconds = elapsed();
  return end;
}

}  // namespace apart::bench
