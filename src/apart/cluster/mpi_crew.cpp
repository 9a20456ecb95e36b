#include <apart/cluster/mpi_crew.hpp>

#include <apart/cli/exit_codes.hpp>
#include <apart/cli/interruption.hpp>
#include <apart/core/error.hpp>

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace apart {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int order_tag = 1, answer_tag = 2;
constexpr auto pause = std::chrono::milliseconds(20);
constexpr auto between_signs = std::chrono::seconds(1);  // of life

/// What rank 0 wants: a word, and what belongs to it.
enum class Order : char {
  jobs = 'j',       ///< how many at a time; comes first
  task = 't',       ///< run, log, arguments
  interrupt = 'i',  ///< all runs
  end = 'e',
  leave = 'l',  ///< the same where processes are lost
};

/// What a process has to say: a run has ended, or just that it lives.
struct Answer {
  std::uint64_t run = alive;
  std::int64_t status = 0;
  static constexpr std::uint64_t alive = ~std::uint64_t(0);
};

/// What rank 0 sends, without waiting for the other process, which may be dead.
class Orders {
 public:
  Orders() = default;
  Orders(const Orders&) = delete;
  ~Orders() {
    for (Sent& order : sent_)
      if (order.request != MPI_REQUEST_NULL) MPI_Request_free(&order.request);
  }
  void send(int to, Order order, const std::vector<std::string>& words = {}) {
    std::erase_if(sent_, [](Sent& earlier) {
      int arrived = 0;
      MPI_Test(&earlier.request, &arrived, MPI_STATUS_IGNORE);
      return arrived != 0;
    });
    Sent& next = sent_.emplace_back();
    *next.text = char(order);
    for (const std::string& word : words) *next.text += word + '\0';
    MPI_Isend(next.text->data(), int(next.text->size()), MPI_BYTE, to, order_tag, MPI_COMM_WORLD,
              &next.request);
  }

 private:
  struct Sent {
    std::unique_ptr<std::string> text = std::make_unique<std::string>(1, ' ');
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::vector<Sent> sent_;  ///< and perhaps not arrived
};

bool has_message(int from, int tag, MPI_Status& status) {
  int there = 0;
  MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
  return there != 0;
}

class MpiCrew final : public RunCrew {
 public:
  MpiCrew(const MpiTeam& team, int jobs, double silence, bool& lost)
      : jobs_(jobs),
        silence_(silence),
        lost_(lost),
        own_(jobs, team.on_this_machine()),
        others_(std::size_t(team.size())) {
    // Rank 0 ends with a message of its own where another one is not there any more.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (std::size_t r = 1; r < others_.size(); ++r)
      orders_.send(int(r), Order::jobs, {std::to_string(jobs)});
  }

  int size() const override { return jobs_ * int(others_.size()); }
  int room() const override {
    int free = own_.room();
    for (std::size_t r = 1; r < others_.size(); ++r) free += room_of(r);
    return free;
  }
  bool has_other_places() const override { return others_.size() > 1; }

  /// The process with most room, so that the first runs are spread over all.
  void start(const Task& task) override {
    std::size_t best = 0;
    int most = own_.room();
    for (std::size_t r = 1; r < others_.size(); ++r)
      if (room_of(r) > most) {
        best = r;
        most = room_of(r);
      }
    if (best == 0) return own_.start(task);
    std::vector<std::string> words = {std::to_string(task.run), task.log.string()};
    words.insert(words.end(), task.arguments.begin(), task.arguments.end());
    orders_.send(int(best), Order::task, words);
    others_[best].busy.insert(task.run);
  }

  std::optional<Ended> ended() override {
    listen();
    const auto now = Clock::now();
    for (std::size_t r = 1; r < others_.size(); ++r) {
      Other& other = others_[r];
      if (other.is_lost || std::chrono::duration<double>(now - other.heard).count() < silence_) continue;
      other.is_lost = lost_ = true;
      const std::string what =
          fmt::format("process {} of {} has not answered for {:g} s", r, others_.size(), silence_);
      fmt::print(stderr, "{}; it is given no more runs\n", what);
      for (const std::size_t run : other.busy) ended_.push_back({run, 0, what});
      other.busy.clear();
    }
    if (ended_.empty()) return own_.ended();
    const Ended first = ended_.front();
    ended_.pop_front();
    return first;
  }

  void interrupt() override {
    own_.interrupt();
    for (std::size_t r = 1; r < others_.size(); ++r) orders_.send(int(r), Order::interrupt);
  }

 private:
  struct Other {
    std::set<std::size_t> busy;  ///< runs that it does
    Clock::time_point heard = Clock::now();
    bool is_lost = false;
  };

  int room_of(std::size_t rank) const {
    const Other& other = others_[rank];
    return other.is_lost ? 0 : jobs_ - int(other.busy.size());
  }

  /// Takes all answers that are there. Those of a process that was given up come too late: its runs are done
  /// by others.
  void listen() {
    MPI_Status status;
    while (has_message(MPI_ANY_SOURCE, answer_tag, status)) {
      Answer answer;
      MPI_Recv(&answer, sizeof answer, MPI_BYTE, status.MPI_SOURCE, answer_tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      Other& other = others_[std::size_t(status.MPI_SOURCE)];
      other.heard = Clock::now();
      if (answer.run != Answer::alive && other.busy.erase(std::size_t(answer.run)) > 0)
        ended_.push_back({std::size_t(answer.run), int(answer.status)});
    }
  }

  int jobs_;
  double silence_;  ///< [s]
  bool& lost_;      ///< any process
  Orders orders_;
  LocalCrew own_;
  std::vector<Other> others_;  ///< the first, rank 0, is not used
  std::deque<Ended> ended_;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return words;
}

/// A process that does what rank 0 orders.
class Server {
 public:
  explicit Server(int processes) : processes_(processes) {}

  void run() {
    const Interruption interruption({}, std::chrono::minutes(10));
    auto next_sign = Clock::now();
    while (obey()) {
      if (Interruption::received() != 0 && !std::exchange(interrupted_, true) && crew_) crew_->interrupt();
      if (crew_)
        while (const auto ended = crew_->ended()) answer({ended->run, ended->status});
      if (Clock::now() >= next_sign) {
        answer({});
        next_sign = Clock::now() + between_signs;
      }
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  static void answer(const Answer& answer) {
    MPI_Send(&answer, sizeof answer, MPI_BYTE, 0, answer_tag, MPI_COMM_WORLD);
  }

  /// Does all orders that are there. False: there will be no more.
  bool obey() {
    MPI_Status status;
    while (has_message(0, order_tag, status)) {
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      std::string text(std::size_t(size), '\0');
      MPI_Recv(text.data(), size, MPI_BYTE, 0, order_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const std::vector<std::string> words = words_of(std::string_view(text).substr(1));
      switch (Order(text[0])) {
        case Order::jobs:
          crew_.emplace(std::stoi(words.at(0)), processes_);
          break;
        case Order::task:
          begin({std::stoul(words.at(0)), {words.begin() + 2, words.end()}, words.at(1)});
          break;
        case Order::interrupt:
          if (crew_) crew_->interrupt();
          break;
        case Order::leave:
          // MPI would wait for the lost ones before it ends.
          std::fflush(nullptr);
          ::_exit(exit_done);
        case Order::end:
          return false;
      }
    }
    return true;
  }

  void begin(const RunCrew::Task& task) {
    try {
      crew_->start(task);
    } catch (const InputError& e) {
      fmt::print(stderr, "{}\n", e.what());
      answer({task.run, exit_not_now << 8});  // as waitpid has it
    }
  }

  int processes_;  ///< on this machine
  std::optional<LocalCrew> crew_;
  bool interrupted_ = false;
};

}  // namespace

std::unique_ptr<RunCrew> make_mpi_crew(const MpiTeam& team, int jobs, double silence, bool& lost) {
  return std::make_unique<MpiCrew>(team, jobs, silence, lost);
}

void serve(const MpiTeam& team) {
  Server(team.on_this_machine()).run();
}

void dismiss(const MpiTeam& team, bool lost, int code) {
  const char end = char(lost ? Order::leave : Order::end);
  for (int r = 1; r < team.size(); ++r)
    MPI_Send(&end, 1, MPI_BYTE, r, order_tag, MPI_COMM_WORLD);  // so short that it waits for nobody
  if (!lost) return;
  std::this_thread::sleep_for(10 * pause);  // MPI sends while there is somebody to send
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace apart
