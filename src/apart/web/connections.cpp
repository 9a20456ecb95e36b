#include <apart/core/error.hpp>
#include <apart/web/connections.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace apart {

namespace {

/// Without cutting off what was sent: the system resets a connection whose input has not been read.
void close_gently(int socket) {
  ::shutdown(socket, SHUT_WR);
  char rest[4096];
  for (int i = 0; i < 64 && ::recv(socket, rest, sizeof rest, MSG_DONTWAIT) > 0;) ++i;
  ::close(socket);
}

}  // namespace

Connections::Connections(Known known, Answer answer, const ConnectionLimits& limits)
    : known_(std::move(known)), answer_(std::move(answer)), limits_(limits) {
  if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw InputError("the server cannot be started: {}; end other programs", std::strerror(errno));
  waiter_ = std::thread([this] { wait(); });
  for (int i = 0; i < limits_.threads; ++i) workers_.emplace_back([this] { this->answer(); });
}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const int socket : answered_) ::shutdown(socket, SHUT_RDWR);  // so that nobody waits to write
  }
  arrived_.notify_all();
  wake();
  waiter_.join();
  for (std::thread& worker : workers_) worker.join();
  for (const auto& [socket, connection] : waiting_) ::close(socket);
  for (const auto* list : {&first_, &then_})
    for (const Connection& connection : *list) ::close(connection.socket);
  for (const Connection& connection : incoming_) ::close(connection.socket);
  for (const int end : wake_) ::close(end);
}

void Connections::add(int socket) {
  Connection connection;
  connection.socket = socket;
  hand_back(std::move(connection));
}

void Connections::hand_back(Connection connection) {
  {
    const std::lock_guard lock(mutex_);
    incoming_.push_back(std::move(connection));
  }
  wake();
}

void Connections::wake() const {
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(wake_[1], &byte, 1);  // a full pipe wakes as well
}

/// Reads what is there. A connection that has ended, or sends too much, is closed.
void Connections::receive(Connection& connection) {
  char bytes[1 << 14];
  const auto count = ::recv(connection.socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (count <= 0 || connection.bytes.size() + std::size_t(count) > limits_.header) {
    close_gently(connection.socket);
    connection.socket = -1;
    return;
  }
  if (connection.bytes.empty()) connection.end = Clock::now() + limits_.arrival;
  connection.bytes.append(bytes, std::size_t(count));
}

/// Passes a connection with a complete header on to be answered. Returns whether it has one.
bool Connections::settle(Connection& connection) {
  if (connection.bytes.find("\r\n\r\n") == std::string::npos) return false;
  connection.known = known_(connection.bytes);
  {
    const std::lock_guard lock(mutex_);
    (connection.known ? first_ : then_).push_back(std::move(connection));
  }
  arrived_.notify_one();
  return true;
}

void Connections::wait() {
  std::vector<pollfd> polled;
  for (;;) {
    std::vector<Connection> incoming;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      incoming.swap(incoming_);
    }
    for (Connection& connection : incoming) {
      connection.end = Clock::now() + (connection.bytes.empty() ? limits_.idle : limits_.arrival);
      const int socket = connection.socket;
      if (!settle(connection)) waiting_[socket] = std::move(connection);
    }
    while (waiting_.size() > limits_.waiting) {
      // Connections that have shown the secret are kept longest, then the newest ones.
      const auto oldest = std::ranges::min_element(
          waiting_, {}, [](const auto& entry) { return std::pair(entry.second.known, entry.second.end); });
      close_gently(oldest->first);
      waiting_.erase(oldest);
    }

    polled.assign(1, {wake_[0], POLLIN, 0});
    auto next = Clock::now() + std::chrono::hours(1);
    for (const auto& [socket, connection] : waiting_) {
      polled.push_back({socket, POLLIN, 0});
      next = std::min(next, connection.end);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(polled.data(), polled.size(), int(std::max<long>(0, left)));
    if (polled[0].revents != 0)
      for (char bytes[256]; ::read(wake_[0], bytes, sizeof bytes) > 0;) {
      }
    const auto now = Clock::now();
    for (std::size_t i = 1; i < polled.size(); ++i) {
      const auto at = waiting_.find(polled[i].fd);
      if (polled[i].revents != 0) receive(at->second);
      if (at->second.socket < 0 || settle(at->second)) {
        waiting_.erase(at);
      } else if (at->second.end <= now) {
        close_gently(at->first);
        waiting_.erase(at);
      }
    }
  }
}

void Connections::answer() {
  for (;;) {
    Connection connection;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return ending_ || !first_.empty() || !then_.empty(); });
      if (ending_) return;
      auto& list = first_.empty() ? then_ : first_;
      connection = std::move(list.front());
      list.pop_front();
      answered_.insert(connection.socket);
    }
    const bool goes_on = answer_(connection.socket, connection.bytes, connection.known);
    {
      const std::lock_guard lock(mutex_);
      answered_.erase(connection.socket);
    }
    if (goes_on)
      hand_back(std::move(connection));
    else
      close_gently(connection.socket);
  }
}

}  // namespace apart
