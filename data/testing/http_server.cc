#include "data/testing/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/logging.h"

namespace openset {
namespace {

// Reads a request up to the empty line.
std::string ReadHead(int connection) {
  std::string head;
  char bytes[4096];
  while (head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = recv(connection, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    head.append(bytes, got);
  }
  return head;
}

HttpRequest ParseHead(const std::string& head) {
  HttpRequest request;
  const std::vector<std::string> words = absl::StrSplit(head.substr(0, head.find('\r')), ' ');
  if (words.size() > 1) request.path = words[1];
  constexpr absl::string_view kRange = "Range: bytes=";
  const size_t at = head.find(kRange.data());
  if (at != std::string::npos) {
    const size_t begin = at + kRange.size();
    CHECK(absl::SimpleAtoi(head.substr(begin, head.find('-', begin) - begin), &request.first)) << head;
  }
  return request;
}

}  // namespace

HttpServer::HttpServer(Answer answer) : answer_(std::move(answer)) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(socket_ >= 0 && bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(socket_, 8) == 0 &&
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

HttpServer::~HttpServer() {
  shutdown(socket_, SHUT_RDWR);  // makes accept() return
  thread_.join();
  close(socket_);
}

std::string HttpServer::Url(const std::string& path) const { return absl::StrCat("http://127.0.0.1:", port_, path); }

std::vector<HttpRequest> HttpServer::Requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void HttpServer::Serve() {
  for (int connection; (connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(connection)) {
    const HttpRequest request = ParseHead(ReadHead(connection));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(request);
    }
    const std::string answer = answer_(request);
    for (size_t sent = 0; sent < answer.size();) {
      const ssize_t some = send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (some <= 0) break;
      sent += some;
    }
  }
}

std::string HttpAnswer(absl::string_view status, absl::string_view body, absl::string_view headers, int64_t length) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\n", headers,
                      "Content-Length: ", length < 0 ? static_cast<int64_t>(body.size()) : length,
                      "\r\nConnection: close\r\n\r\n", body);
}

std::string RangeAnswer(const HttpRequest& request, absl::string_view body, int64_t most) {
  const auto size = static_cast<int64_t>(body.size());
  if (request.first == 0) return HttpAnswer("200 OK", body.substr(0, std::min(size, most)), "", size);
  if (request.first >= size) {
    return HttpAnswer("416 Range Not Satisfiable", "", absl::StrCat("Content-Range: bytes */", size, "\r\n"));
  }
  const absl::string_view rest = body.substr(request.first);
  return HttpAnswer("206 Partial Content", rest.substr(0, most),
                    absl::StrCat("Content-Range: bytes ", request.first, "-", size - 1, "/", size, "\r\n"),
                    static_cast<int64_t>(rest.size()));
}

}  // namespace openset
