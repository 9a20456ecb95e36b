#include <apart/cli/exit_codes.hpp>
#include <apart/cli/interruption.hpp>

#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace apart {

namespace {

// What a handler of signals may touch.
volatile std::sig_atomic_t signal_number = 0;
sem_t woken;

}  // namespace

Interruption::Interruption(std::function<void()> last_act, std::chrono::milliseconds grace)
    : last_act_(std::move(last_act)), grace_(grace) {
  ::sem_init(&woken, 0, 0);
  // The watcher must not be the one that is interrupted.
  sigset_t both, before;
  ::sigemptyset(&both);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&both, signal);
  ::pthread_sigmask(SIG_BLOCK, &both, &before);
  watcher_ = std::thread([this] { watch(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    const int error = errno;
    signal_number = signal;
    ::sem_post(&woken);
    errno = error;
  };
  action.sa_flags = SA_RESETHAND;  // the second one ends the program at once
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

Interruption::~Interruption() {
  done_ = true;
  ::sem_post(&woken);
  watcher_.join();
}

int Interruption::received() {
  return signal_number;
}

void Interruption::watch() {
  while (!done_ && signal_number == 0) ::sem_wait(&woken);
  const auto end = std::chrono::steady_clock::now() + grace_;
  while (!done_ && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (done_) return;
  if (last_act_) last_act_();
  ::_exit(exit_signal + signal_number);
}

}  // namespace apart
