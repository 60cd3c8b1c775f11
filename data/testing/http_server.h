// A web server whose answers a test chooses.
#ifndef OPENSET_DATA_TESTING_HTTP_SERVER_H_
#define OPENSET_DATA_TESTING_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

struct HttpRequest {
  std::string path;   // "/data.bin"
  int64_t first = 0;  // of "Range: bytes=FIRST-"; 0 if the request has no range
};

// A server on 127.0.0.1 that handles one connection at a time, with one request each. It sends the text that `answer`
// returns unchanged, including headers, and closes the connection.
class HttpServer {
 public:
  using Answer = std::function<std::string(const HttpRequest&)>;

  explicit HttpServer(Answer answer);
  ~HttpServer();

  // Returns "http://127.0.0.1:PORT/data.bin" for "/data.bin".
  std::string Url(const std::string& path) const;
  // Returns the requests so far, in order.
  std::vector<HttpRequest> Requests() const;

 private:
  void Serve();

  const Answer answer_;
  int socket_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

// Returns "HTTP/1.1 STATUS", HEADERS (each with its line end), a Content-Length, which is the body's length unless
// `length` is given, and the body.
std::string HttpAnswer(absl::string_view status, absl::string_view body, absl::string_view headers = "",
                       int64_t length = -1);

// The answer of a server that supports ranges: the body from request.first on. Sends at most `most` bytes of it, but
// announces all.
std::string RangeAnswer(const HttpRequest& request, absl::string_view body, int64_t most = INT64_MAX);

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_HTTP_SERVER_H_
