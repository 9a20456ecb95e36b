#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// What does the runs of a study: each in a process of its own, which is this program once more.
class RunCrew {
 public:
  virtual ~RunCrew() = default;
  virtual int room() const = 0;  ///< for so many more runs now
  virtual int size() const = 0;  ///< for so many runs at a time in all
  /// Whether a run that was stopped from outside may do better at another place.
  virtual bool has_other_places() const { return false; }
  struct Task {
    std::size_t run = 0;
    std::vector<std::string> arguments;  ///< of the program; the crew adds how much memory it may use
    std::filesystem::path log;           ///< for what it prints
  };
  /// There is room.
  virtual void start(const Task& task) = 0;
  struct Ended {
    std::size_t run = 0;
    int status = 0;         ///< as waitpid has it
    std::string lost = {};  ///< instead: what became of the process that did it
  };
  /// A run that has ended since it was last asked.
  virtual std::optional<Ended> ended() = 0;
  /// Asks all runs to keep their state and end.
  virtual void interrupt() = 0;
};

/// On this machine.
class LocalCrew final : public RunCrew {
 public:
  /// `jobs`: runs at a time. `crews`: how many like this one share the machine's memory.
  explicit LocalCrew(int jobs, int crews = 1);
  int room() const override { return jobs_ - int(busy_.size()); }
  int size() const override { return jobs_; }
  /// Throws InputError if the system starts no more processes.
  void start(const Task& task) override;
  std::optional<Ended> ended() override;
  void interrupt() override;

 private:
  int jobs_;
  std::size_t memory_;               ///< [bytes] for each run
  std::map<int, std::size_t> busy_;  ///< run of each process
};

}  // namespace apart
