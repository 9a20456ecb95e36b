#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace apart::test {

namespace fs = std::filesystem;

Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const fs::path& directory, const Signal& signal) {
  const TemporaryDirectory captured;
  const std::string out = (captured / "out").string(), err = (captured / "err").string();
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    // Only calls that are safe between fork and exec.
    const int o = ::open(out.c_str(), O_WRONLY | O_CREAT, 0600),
              e = ::open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    if (o < 0 || e < 0 || ::dup2(o, 1) < 0 || ::dup2(e, 2) < 0 || ::chdir(directory.c_str()) != 0)
      ::_exit(127);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  if (signal.when) {
    while ((ended = ::wait4(child, &status, WNOHANG, &usage)) == 0 && !signal.when(read_file(out)))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (ended == 0) ::kill(child, signal.number);
  }
  if (ended == 0) ended = ::wait4(child, &status, 0, &usage);
  if (ended != child) throw std::runtime_error("wait4 failed");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out), read_file(err),
          std::size_t(usage.ru_maxrss) * 1024};
}

std::vector<std::string> content_of(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    names.push_back(fs::relative(entry.path(), directory).string());
  std::sort(names.begin(), names.end());
  return names;
}

std::size_t line_count(const fs::path& file) {
  const std::string text = read_file(file);
  return std::size_t(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace apart::test
