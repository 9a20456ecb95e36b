// Debian's library is compiled with these; the layout of its types depends on them.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <apart/core/error.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/gzip.hpp>
#include <apart/viewer/point_field.hpp>
#include <apart/viewer/shapes.hpp>
#include <apart/web/connections.hpp>
#include <apart/web/page.hpp>
#include <apart/web/run_folder.hpp>
#include <apart/web/view_server.hpp>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace apart {

namespace {

// The library compresses what it takes for text again, slowly; with a parameter behind the type it does not.
constexpr const char* json_type = "application/json; charset=utf-8";

std::string random_token() {
  std::random_device random;  // the system's generator
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

/// Takes the same time wherever the two differ; how long they are is no secret.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= unsigned(a[i] ^ b[i]);
  return difference == 0;
}

std::string type_of(std::string_view name) {
  if (name.ends_with(".js")) return "application/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css";
  return "text/html";
}

Index number(const httplib::Request& request, const char* name) {
  const std::string text = request.has_param(name) ? request.get_param_value(name) : "0";
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > std::numeric_limits<Index>::max())
    throw InputError("{}: got {}, must be a number from 0 on", name, apart::quoted(text));
  return Index(*value);
}

/// Which surface is asked for, or else `usual`.
ShownSurface surface_of(const httplib::Request& request, ShownSurface usual) {
  if (!request.has_param("surface")) return usual;
  try {
    return surface_named(request.get_param_value("surface"));
  } catch (const InputError& e) {
    throw InputError("surface: {}", e.what());
  }
}

/// A connection whose next request has arrived, as the library wants it. Never waits for input: what is not
/// there by now, such as the content of a request, which no request here needs, does not come.
class ArrivedRequest final : public httplib::Stream {
 public:
  ArrivedRequest(int socket, std::string& bytes) : socket_(socket), bytes_(bytes) {}
  ~ArrivedRequest() override { bytes_.erase(0, position_); }

  bool is_readable() const override { return position_ < bytes_.size(); }
  bool is_writable() const override {
    pollfd polled{socket_, POLLOUT, 0};
    return ::poll(&polled, 1, 5000) == 1 && (polled.revents & POLLOUT) != 0;  // [ms]
  }
  ssize_t read(char* to, size_t size) override {
    if (!is_readable()) return ::recv(socket_, to, size, MSG_DONTWAIT);
    const size_t count = std::min(size, bytes_.size() - position_);
    std::memcpy(to, bytes_.data() + position_, count);
    position_ += count;
    return ssize_t(count);
  }
  ssize_t write(const char* from, size_t size) override {
    for (size_t sent = 0; sent < size;) {
      const ssize_t count = ::send(socket_, from + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0)
        sent += size_t(count);
      else if ((errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) || !is_writable())
        return -1;
    }
    return ssize_t(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override { get_remote_ip_and_port(ip, port); }
  socket_t socket() const override { return socket_; }

 private:
  int socket_;
  std::string& bytes_;
  size_t position_ = 0;
};

}  // namespace

/// The library's server, with connections that wait for their requests without keeping its threads: by itself
/// it gives each connection a thread for as long as that sends a byte now and then.
class PatientServer final : public httplib::Server {
 public:
  /// `token`: must outlive the server.
  explicit PatientServer(const std::string& token)
      : connections_([&token](std::string_view header) { return knows(header, token); },
                     [this](int socket, std::string& bytes, bool known) {
                       // Other requests may have content, which is not read.
                       const bool alone = bytes.starts_with("GET ") || bytes.starts_with("HEAD ");
                       ArrivedRequest request(socket, bytes);
                       bool closed = false;
                       return process_request(request, !known || !alone, closed, nullptr) && !closed &&
                              known && alone;
                     }) {
    new_task_queue = [] { return new AtOnce; };
  }

  /// After the port is bound. The library lets five connections queue up, and the system lets connections
  /// beyond that wait for a second.
  void lengthen_queue() { ::listen(svr_sock_, 512); }

 private:
  struct AtOnce final : httplib::TaskQueue {
    void enqueue(std::function<void()> task) override { task(); }
    void shutdown() override {}
  };
  /// Whether the address in "GET /TOKEN/... HTTP/1.1" begins with the token.
  static bool knows(std::string_view header, const std::string& token) {
    const std::size_t begin = header.find(" /");
    const std::size_t end = begin == header.npos ? begin : header.find_first_of("/ \r", begin + 2);
    return end != header.npos && header[end] == '/' &&
           same_secret(header.substr(begin + 2, end - begin - 2), token);
  }
  bool process_and_close_socket(socket_t socket) override {
    connections_.add(socket);
    return true;
  }
  Connections connections_;
};

struct ViewServer::Implementation {
  std::vector<std::unique_ptr<RunFolder>> runs;
  ShownSurface surface = ShownSurface::shape;                  ///< where requests do not say
  std::vector<std::pair<std::string_view, std::string>> page;  ///< name, compressed content
  std::string token, address;
  int port = 0;
  PatientServer server{token};
  std::thread listener;
  std::atomic<bool> ended = false;  ///< the listener

  void send_text(httplib::Response& response, const nlohmann::json& text, int status) const {
    response.status = status;
    response.set_content(text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), json_type);
  }

  std::string list_of_runs() const {
    nlohmann::json text;
    text["runs"] = nlohmann::json::array();
    for (const auto& run : runs) text["runs"].push_back({{"name", run->name()}});
    text["surface"] = name_of(surface);
    text["colours"] = colour_stops();
    text["no_value"] = srgb(obstacle_colour());
    return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void send_compressed(const httplib::Request& request, httplib::Response& response,
                       const std::string& gzipped, const std::string& type) const {
    if (request.get_header_value("Accept-Encoding").find("gzip") == std::string::npos)
      throw InputError("this address answers compressed with gzip only; ask with Accept-Encoding: gzip");
    response.set_header("Content-Encoding", "gzip");
    response.set_content(gzipped, type);
  }

  /// `path`: behind the token.
  void answer(const std::string& path, const httplib::Request& request, httplib::Response& response) {
    for (const auto& [name, content] : page)
      if (path == name || (path.empty() && name == "index.html")) {
        // A stylesheet or an HTML text is compressed by the library itself.
        const std::string type = type_of(name);
        if (type.starts_with("text/")) {
          for (const PageFile& file : page_files())
            if (file.name == name) response.set_content(std::string(file.content), type.c_str());
          return;
        }
        return send_compressed(request, response, content, type);
      }
    if (path == "runs.json") return response.set_content(list_of_runs(), json_type);
    const std::size_t slash = path.find('/');
    const auto run_number = parse_integer(path.substr(0, slash));
    if (slash == path.npos || !run_number || *run_number < 0 || *run_number >= std::int64_t(runs.size()))
      return send_text(response, {{"error", "there is nothing at this address"}}, 404);
    RunFolder& run = *runs[std::size_t(*run_number)];
    const std::string what = path.substr(slash + 1);
    if (what == "state.json")
      return response.set_content(
          run.state(number(request, "frame"), number(request, "step"), number(request, "probe")), json_type);
    if (what == "pick.json")
      return response.set_content(run.picked(number(request, "frame"), number(request, "cell"),
                                             number(request, "point"), surface_of(request, surface)),
                                  json_type);
    std::string packet = what;
    if (what == "field") {
      packet = request.get_param_value("name");
      if (packet != "contact_vectors") find_field(packet);
    } else if (what != "topology" && what != "positions") {
      return send_text(response, {{"error", "there is nothing at this address"}}, 404);
    }
    send_compressed(request, response,
                    *run.packet(packet, number(request, "frame"), surface_of(request, surface)),
                    "application/octet-stream");
  }

  void route(const httplib::Request& request, httplib::Response& response) {
    const std::string host = request.get_header_value("Host");
    if (host != fmt::format("127.0.0.1:{}", port) && host != fmt::format("localhost:{}", port))
      return send_text(response, {{"error", "this server answers to 127.0.0.1 only"}}, 403);
    const std::size_t end = request.path.find('/', 1);
    if (request.path.empty() || request.path[0] != '/' || end == std::string::npos ||
        !same_secret(request.path.substr(1, end - 1), token))
      return send_text(
          response, {{"error", "the address is not complete; use the one that 'apart view' printed"}}, 403);
    try {
      answer(request.path.substr(end + 1), request, response);
    } catch (const InputError& e) {
      send_text(response, {{"error", e.what()}}, 422);
    } catch (const std::bad_alloc&) {
      send_text(response, {{"error", "not enough memory for this frame"}}, 500);
    } catch (const std::exception& e) {
      send_text(response, {{"error", e.what()}}, 500);
    }
  }
};

ViewServer::ViewServer(const std::vector<std::filesystem::path>& runs, const ViewOptions& options)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& me = *implementation_;
  if (page_files().empty())
    throw InputError(
        "this program was built without the page that shows runs; build it again with -DAPART_VIEWER=ON, or "
        "open the run's frames.pvd in ParaView");
  for (const auto& run : runs) me.runs.push_back(std::make_unique<RunFolder>(run));
  me.surface = options.surface;
  for (const PageFile& file : page_files()) me.page.emplace_back(file.name, gzip(file.content, 6));
  me.token = options.token.empty() ? random_token() : options.token;
  // Without this a second server on the same port would be allowed, and get some of the requests.
  me.server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  me.server.set_tcp_nodelay(true);
  me.server.set_payload_max_length(1 << 16);
  me.server.set_keep_alive_max_count(100000);
  me.server.set_keep_alive_timeout(ConnectionLimits().idle / std::chrono::seconds(1));
  me.server.set_default_headers(
      {{"Cache-Control", "no-store"},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Content-Security-Policy",
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:"}});
  me.server.Get(".*", [&me](const httplib::Request& request, httplib::Response& response) {
    me.route(request, response);
  });
  const char* host = "127.0.0.1";
  me.port = options.port == 0                            ? me.server.bind_to_any_port(host)
            : me.server.bind_to_port(host, options.port) ? options.port
                                                         : -1;
  if (me.port <= 0)
    throw InputError("port {}: cannot be listened on at {}, is it taken? choose another with --port",
                     options.port, host);
  me.server.lengthen_queue();
  me.address = fmt::format("http://{}:{}/{}/", host, me.port, me.token);
  me.listener = std::thread([&me] {
    me.server.listen_after_bind();
    me.ended = true;
  });
}

ViewServer::~ViewServer() {
  // stop() before the listener has begun would be forgotten.
  while (!implementation_->server.is_running() && !implementation_->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  implementation_->server.stop();
  implementation_->listener.join();
}

int ViewServer::port() const {
  return implementation_->port;
}

const std::string& ViewServer::address() const {
  return implementation_->address;
}

}  // namespace apart
