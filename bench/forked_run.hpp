#pragma once
// Measures in a process of its own, so that peak memory is that of one measurement.
#include <apart/core/parallel.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <stdexcept>
#include <string>

namespace apart::bench {

/// What `measure` returns in a child process; {"error": text} if it throws or is killed.
inline nlohmann::json forked_run(const std::function<nlohmann::json()>& measure, int threads) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    close(ends[0]);
    std::string answer;
    try {
      set_thread_count(threads);
      answer = measure().dump();
    } catch (const std::exception& e) {
      answer = nlohmann::json{{"error", e.what()}}.dump();
    }
    for (std::size_t sent = 0; sent < answer.size();) {
      const ssize_t n = write(ends[1], answer.data() + sent, answer.size() - sent);
      if (n <= 0) _exit(1);
      sent += std::size_t(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, std::size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (text.empty())
    return {{"error", WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                          : "ended without an answer"}};
  return nlohmann::json::parse(text);
}

}  // namespace apart::bench
