// A server of HTTP/1.1 that answers each request by a function, by Boost.Beast. It reads the header of a request and
// nothing behind it, answers, and closes the connection.
#ifndef OPENSET_TOOLS_CLI_SERVE_HTTP_SERVER_H_
#define OPENSET_TOOLS_CLI_SERVE_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/cli/serve/http_message.h"

namespace openset {

struct ServerLimits {
  uint32_t header_bytes = 8192;                 // more: 431; a body: 413; no HTTP: 400
  int connections = 64;                         // at a time; further ones are closed
  absl::Duration patience = absl::Seconds(10);  // until a request is there, and until its answer is taken
  int threads = 4;                              // that answer
};

class HttpServer {
 public:
  // Called by several threads at once.
  using Handler = std::function<HttpAnswer(const HttpRequest& request)>;

  // Listens, and answers from then on, until the object goes. `address`: an IP address. `port`: 0 for any that is free.
  // Errors: kInvalidArgument for what is no address; kUnavailable with the system's reason.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address, int port, Handler handler,
                                                           const ServerLimits& limits = {});
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
};

// Whether only this machine reaches the address: 127.0.0.1, ::1. Errors: kInvalidArgument for what is no IP address.
absl::StatusOr<bool> IsLoopback(const std::string& address);

// "http://127.0.0.1:6736", "http://[::1]:6736". Precondition: it is an IP address.
std::string UrlOf(const std::string& address, int port);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_HTTP_SERVER_H_
