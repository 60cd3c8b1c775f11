// A web server of a test's own, which answers as the test says.
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
  int64_t first = 0;  // of "Range: bytes=FIRST-"; 0 where all is asked for
};

// On 127.0.0.1, one connection at a time, one request each: what `answer` gives is sent as it is, headers and all, and
// the connection is closed.
class HttpServer {
 public:
  using Answer = std::function<std::string(const HttpRequest&)>;

  explicit HttpServer(Answer answer);
  ~HttpServer();

  // "http://127.0.0.1:PORT/data.bin" of "/data.bin".
  std::string Url(const std::string& path) const;
  // So far, in their order.
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

// "HTTP/1.1 STATUS", HEADERS (each with its line end) and a Content-Length, which is that of the body unless `length`
// says another.
std::string HttpAnswer(absl::string_view status, absl::string_view body, absl::string_view headers = "",
                       int64_t length = -1);

// Of a server that knows ranges: the body from request.first on, at most `most` bytes of it although all is announced.
std::string RangeAnswer(const HttpRequest& request, absl::string_view body, int64_t most = INT64_MAX);

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_HTTP_SERVER_H_
