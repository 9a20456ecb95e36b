#include <support/thread_team.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace apart::test {

namespace {

struct Abandoned : std::runtime_error {
  Abandoned() : runtime_error("another process of the team has failed") {}
};

/// Where the threads meet.
class Meeting {
 public:
  explicit Meeting(int size) : size_(size), table_(std::size_t(size)) {}
  int size() const { return size_; }

  /// Everyone brings something for each, and takes what the others have brought for him.
  std::vector<Bytes> swap(int rank, std::vector<Bytes> brought) {
    std::unique_lock lock(mutex_);
    table_[std::size_t(rank)] = std::move(brought);
    wait(lock);
    std::vector<Bytes> taken;
    for (auto& from : table_) taken.push_back(std::move(from[std::size_t(rank)]));
    wait(lock);
    return taken;
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    changed_.notify_all();
  }
  std::exception_ptr error() const { return error_; }

 private:
  void wait(std::unique_lock<std::mutex>& lock) {
    const int round = round_;
    if (++present_ == size_) {
      present_ = 0;
      ++round_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return round_ != round || error_; });
    }
    if (error_) throw Abandoned();
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Bytes>> table_;
  int present_ = 0, round_ = 0;
  std::exception_ptr error_;
};

class ThreadTeam final : public Team {
 public:
  ThreadTeam(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_.size(); }
  std::vector<Bytes> gather(Bytes own) const override {
    return meeting_.swap(rank_, std::vector<Bytes>(std::size_t(size()), own));
  }
  std::vector<Bytes> exchange(std::vector<Bytes> to) const override {
    return meeting_.swap(rank_, std::move(to));
  }

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void as_team(int size, const std::function<void(const Team&)>& body) {
  Meeting meeting(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(ThreadTeam(meeting, rank));
      } catch (...) {
        meeting.fail(std::current_exception());
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (meeting.error()) std::rethrow_exception(meeting.error());
}

}  // namespace apart::test
