// The HTTP server of `openset serve`.
#ifndef OPENSET_TOOLS_CLI_SERVE_HTTP_SERVER_H_
#define OPENSET_TOOLS_CLI_SERVE_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace openset {

// ---- The parts of HTTP requests and answers that `openset serve` uses.

// Fields that the request lacks are "".
struct HttpRequest {
  std::string method;
  std::string target;  // "/study/0123456789abcdef?x"
  std::string host;
  std::string cookie;
  // Sec-Fetch-Site ("cross-site") and Sec-Fetch-Mode ("navigate"), in which browsers describe who sends the request.
  std::string fetch_site, fetch_mode;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  // What a page may load (Content-Security-Policy). "": nothing.
  std::string policy;
  std::vector<std::pair<std::string, std::string>> headers;  // in addition to HeadersOf()
};

// An answer of one line.
HttpAnswer TextAnswer(int status, const std::string& line);

// Returns the headers of an answer, except its length. They tell browsers not to store the answer and not to guess its
// type, that no other site may show, embed or read it, and what a page may load.
std::vector<std::pair<std::string, std::string>> HeadersOf(const HttpAnswer& answer);

// An HTTP/1.1 server by Boost.Beast that answers each request by calling a function. It reads only the header of a
// request, answers, and closes the connection.

struct ServerLimits {
  uint32_t header_bytes = 8192;                 // answers: 431 to more, 413 to a body, 400 if it is not HTTP
  int connections = 64;                         // at a time; further ones are closed
  absl::Duration patience = absl::Seconds(10);  // for a request to arrive, and for its answer to be read
  int threads = 4;                              // which call the function
};

class HttpServer {
 public:
  // Called by several threads at once.
  using Handler = std::function<HttpAnswer(const HttpRequest& request)>;

  // Listens and answers until the object is destroyed. `address` is an IP address. `port` 0 takes any free port.
  // Errors: kInvalidArgument if it is not an address; kUnavailable with the system's message.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address, int port, Handler handler,
                                                           const ServerLimits& limits = {});
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
};

// Whether only this machine can reach the address (127.0.0.1, ::1). Errors: kInvalidArgument if it is not an IP
// address.
absl::StatusOr<bool> IsLoopback(const std::string& address);

// "http://127.0.0.1:6736", "http://[::1]:6736". Precondition: it is an IP address.
std::string UrlOf(const std::string& address, int port);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_HTTP_SERVER_H_
