#pragma once
#include <apart/viewer/drawn_surface.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace apart {

struct ViewOptions {
  int port = 0;       ///< 0: any that is free
  std::string token;  ///< the secret part of the address; empty: 128 random bits
  ShownSurface surface = ShownSurface::shape;
};

/// Serves the page that plays runs, to this machine only: it listens on 127.0.0.1, answers only below an
/// address with a secret token, only to requests that name this machine as host (so that no foreign page can
/// read along by a name it controls), and only with the page and the given runs.
class ViewServer {
 public:
  /// Binds the port and starts to answer. Throws InputError if a run cannot be shown, the port is taken, or
  /// the program was built without the page.
  explicit ViewServer(const std::vector<std::filesystem::path>& runs, const ViewOptions& options = {});
  ~ViewServer();  ///< ends open requests
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  int port() const;
  const std::string& address() const;  ///< http://127.0.0.1:PORT/TOKEN/

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace apart
