#pragma once
// What tests of apart-mpi need.
#include <support/program_test.hpp>

#include <sys/types.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace apart::test {

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Runs apart-mpi with mpirun.
class Cluster : public ProgramTest {
 protected:
  void SetUp() override {
    // Tests may be run by root in a container, and with fewer cores than processes.
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
  }
  Outcome mpi(int processes, const std::vector<std::string>& arguments, const Signal& signal = {},
              std::vector<std::string> of_mpirun = {}) const {
    of_mpirun.insert(of_mpirun.end(),
                     {"--oversubscribe", "-n", std::to_string(processes), APART_MPI_PROGRAM});
    of_mpirun.insert(of_mpirun.end(), arguments.begin(), arguments.end());
    return run_program(APART_MPIRUN, of_mpirun, directory.path(), signal);
  }
};

/// A process that works in a directory and of which `is_it` is true, given its command and its environment,
/// whose words end with zeros; 0: none.
inline pid_t process_in(const std::filesystem::path& where,
                        const std::function<bool(const std::string&, const std::string&)>& is_it) {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::error_code error;
    if (pid <= 0 || fs::read_symlink(entry.path() / "cwd", error) != where || error) continue;
    if (is_it(bytes_of(entry.path() / "cmdline"), bytes_of(entry.path() / "environ"))) return pid;
  }
  return 0;
}

/// The process of a rank of the job in this directory; 0: none.
inline pid_t process_of(int rank, const std::filesystem::path& where) {
  const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
  return process_in(where, [&](const std::string& command, const std::string& environment) {
    return environment.find(wanted) != std::string::npos &&
           command.find("--of-study") == std::string::npos;  // which inherit it
  });
}

}  // namespace apart::test
