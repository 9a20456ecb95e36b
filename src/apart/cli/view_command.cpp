#include <apart/cli/exit_codes.hpp>
#include <apart/cli/surface_option.hpp>
#include <apart/cli/view_command.hpp>
#include <apart/core/parallel.hpp>
#include <apart/web/view_server.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace apart {
namespace {

struct Arguments {
  std::vector<std::string> runs;
  int port = 0;
  bool no_open = false;
  ShownSurface surface = ShownSurface::shape;
};

/// Asks the desktop to open an address; failure is no error, since the address has been printed.
void open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const pid_t child = ::fork();
  if (child != 0) {
    if (child > 0) ::waitpid(child, nullptr, 0);
    return;
  }
  // Twice, so that the browser is nobody's child and outlives this program.
  if (::fork() != 0) ::_exit(0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) ::_exit(1);
  ::execlp("xdg-open", "xdg-open", address.c_str(), nullptr);
  ::_exit(1);
}

int view(const Arguments& arguments) {
  set_thread_count(0);
  // Blocked before the server's threads begin, so that none of them takes the signal from sigwait.
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signal);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const std::vector<std::filesystem::path> runs(arguments.runs.begin(), arguments.runs.end());
  const ViewServer server(runs, {.port = arguments.port, .token = {}, .surface = arguments.surface});
  fmt::print("{}\nOpen this address in a browser on this machine; press Ctrl-C to stop.\n", server.address());
  std::fflush(stdout);
  if (!arguments.no_open) open_browser(server.address());
  int signal = 0;
  ::sigwait(&ends, &signal);
  return exit_done;
}

}  // namespace

void add_view_command(CLI::App& app, int& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("view", "Play runs in a browser, finished or still running");
  command->add_option("RUN", arguments->runs, "Run directories; several are shown side by side")
      ->required()
      ->expected(1, 16);
  command->add_option("--port", arguments->port, "Port on 127.0.0.1; default: any that is free")
      ->check(CLI::Range(1, 65535));
  add_surface_option(*command, arguments->surface);
  command->add_flag("--no-open", arguments->no_open, "Print the address without opening a browser");
  command->callback([arguments, &code] { code = view(*arguments); });
}

}  // namespace apart
