#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace apart {

/// What a connection of a server may take.
struct ConnectionLimits {
  int threads = 24;               ///< that answer
  std::size_t waiting = 256;      ///< connections without a whole request; beyond it the oldest is closed
  std::size_t header = 32 << 10;  ///< bytes of a request's header
  std::chrono::milliseconds arrival{2000};  ///< for all of a header, from its first byte on
  std::chrono::milliseconds idle{30000};    ///< without any byte of the next request
};

/// The open connections of an HTTP server. Those whose next request has not arrived as a whole wait together
/// in one thread: however many send slowly, or nothing, they keep no thread from the others. Requests with
/// the secret are answered first.
class Connections {
 public:
  /// Whether the header of a request, from its first byte on, contains the secret.
  using Known = std::function<bool(std::string_view header)>;
  /// Answers the first request in `bytes` and takes it off; its header is whole. Called from several threads.
  /// Returns whether the connection goes on.
  using Answer = std::function<bool(int socket, std::string& bytes, bool known)>;

  Connections(Known known, Answer answer, const ConnectionLimits& limits = {});
  ~Connections();  ///< closes all
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Takes a connection over.
  void add(int socket);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int socket = -1;
    std::string bytes;  ///< arrived and not yet answered
    bool known = false;
    Clock::time_point end;  ///< when it is given up
  };

  void hand_back(Connection connection);
  void wake() const;
  void wait();
  void receive(Connection& connection);
  bool settle(Connection& connection);
  void answer();

  const Known known_;
  const Answer answer_;
  const ConnectionLimits limits_;
  int wake_[2] = {-1, -1};               ///< a pipe that ends the present poll
  std::map<int, Connection> waiting_;    ///< by socket; of the waiting thread alone
  std::mutex mutex_;                     ///< of everything below
  std::condition_variable arrived_;      ///< a request, or the end
  std::vector<Connection> incoming_;     ///< to the waiting thread
  std::deque<Connection> first_, then_;  ///< requests to answer: of those who know the secret, and of others
  std::set<int> answered_;               ///< sockets that are being answered
  bool ending_ = false;
  std::thread waiter_;
  std::vector<std::thread> workers_;
};

}  // namespace apart
