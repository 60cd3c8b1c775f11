#include "tools/cli/serve/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Sends the bytes to a port of this machine, and returns everything received until the connection is closed or breaks.
// Returns "no connection" if nothing listens there.
std::string Exchange(int port, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(socket);
    return "no connection";
  }
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;  // it has answered already
    sent += static_cast<size_t>(count);
  }
  shutdown(socket, SHUT_WR);
  char buffer[65536];
  for (ssize_t count; (count = recv(socket, buffer, sizeof(buffer), 0)) > 0;) {
    reply.append(buffer, static_cast<size_t>(count));
  }
  close(socket);
  return reply;
}

struct HttpReply {
  int status = 0;  // 0: not an HTTP answer
  std::string head;
  std::string body;
};

HttpReply ReplyOf(const std::string& bytes) {
  HttpReply reply;
  const size_t end = bytes.find("\r\n\r\n");
  absl::string_view line = bytes;
  if (end == std::string::npos || !absl::ConsumePrefix(&line, "HTTP/1.1 ")) return reply;
  if (!absl::SimpleAtoi(line.substr(0, 3), &reply.status)) return reply;
  reply.head = bytes.substr(0, end + 2);
  reply.body = bytes.substr(end + 4);
  return reply;
}

// Sends a GET request like curl's. `more`: further lines of the header, each with "\r\n".
HttpReply Get(int port, const std::string& path, const std::string& more = "") {
  return ReplyOf(
      Exchange(port, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost:", port, "\r\n", more, "\r\n")));
}

// Answers depending on the request.
HttpAnswer Echo(const HttpRequest& request) {
  return TextAnswer(200, absl::StrCat(request.method, "|", request.target, "|", request.host, "|", request.cookie, "|",
                                      request.fetch_site, "|", request.fetch_mode));
}

int StatusOf(int port, const std::string& bytes) { return ReplyOf(Exchange(port, bytes)).status; }

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() : server_(HttpServer::Start("127.0.0.1", 0, Echo).value()), port_(server_->port()) {}

  std::unique_ptr<HttpServer> server_;
  const int port_;
};

TEST_F(HttpServerTest, AnswersByTheFunction) {
  const HttpReply reply = Get(port_, "/a?b", "Cookie: c=d\r\nSec-Fetch-Site: none\r\nsec-fetch-mode: navigate\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, absl::StrCat("GET|/a?b|localhost:", port_, "|c=d|none|navigate\n"));
  EXPECT_THAT(reply.head, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(reply.head, HasSubstr(absl::StrCat("Content-Length: ", reply.body.size(), "\r\n")));
  EXPECT_THAT(reply.head, HasSubstr("Connection: close\r\n"));
}

// The length of a GET's answer, without the content.
TEST_F(HttpServerTest, HeadHasNoBody) {
  const HttpReply reply = ReplyOf(Exchange(port_, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "");
  EXPECT_THAT(reply.head, HasSubstr(absl::StrCat("Content-Length: ", std::string("HEAD|/|x||||\n").size() - 1)));
}

TEST_F(HttpServerTest, RefusesLongAndMalformedRequests) {
  const std::string host = "Host: x\r\n";
  EXPECT_EQ(StatusOf(port_, absl::StrCat("GET /", std::string(20000, 'a'), " HTTP/1.1\r\n", host, "\r\n")), 431);
  EXPECT_EQ(StatusOf(port_, absl::StrCat("GET / HTTP/1.1\r\n", host, "A: ", std::string(20000, 'a'), "\r\n\r\n")), 431);
  EXPECT_EQ(StatusOf(port_, absl::StrCat("POST / HTTP/1.1\r\n", host, "Content-Length: 3\r\n\r\nabc")), 413);
  EXPECT_EQ(StatusOf(port_, absl::StrCat("POST / HTTP/1.1\r\n", host, "Content-Length: 99999999999\r\n\r\n")), 413);
  EXPECT_EQ(StatusOf(port_, absl::StrCat("GET / HTTP/1.1\r\n", host, "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
            413);
  for (const std::string& bytes :
       {std::string("noise\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"), std::string("GET  HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nno colon\r\n\r\n"), std::string("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8) + std::string(100, '\xff') + "\r\n\r\n",
        std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")}) {
    EXPECT_EQ(StatusOf(port_, bytes), 400) << bytes;
  }
}

TEST_F(HttpServerTest, ClosesSilentConnections) {
  EXPECT_EQ(Exchange(port_, ""), "");
  EXPECT_EQ(Exchange(port_, "GET / HT"), "");
  EXPECT_EQ(Get(port_, "/").status, 200);
}

// Too many connections are closed; when others end, new ones are accepted again.
TEST(HttpServer, LimitsConnections) {
  ServerLimits limits;
  limits.connections = 0;
  const std::unique_ptr<HttpServer> none = HttpServer::Start("127.0.0.1", 0, Echo, limits).value();
  EXPECT_EQ(Get(none->port(), "/").status, 0);
  limits.connections = 1;
  const std::unique_ptr<HttpServer> one = HttpServer::Start("127.0.0.1", 0, Echo, limits).value();
  int answered = 0;
  for (int i = 0; i < 20; ++i) answered += Get(one->port(), "/").status == 200;
  EXPECT_GT(answered, 0);
}

TEST(HttpServer, ExplainsWhyItCannotListen) {
  EXPECT_THAT(HttpServer::Start("localhost", 0, Echo), StatusIs(absl::StatusCode::kInvalidArgument));
  const std::unique_ptr<HttpServer> server = HttpServer::Start("127.0.0.1", 0, Echo).value();
  EXPECT_THAT(HttpServer::Start("127.0.0.1", server->port(), Echo), IsUnavailable("in use"));
}

TEST(IsLoopback, KnowsThisMachine) {
  EXPECT_TRUE(*IsLoopback("127.0.0.1"));
  EXPECT_TRUE(*IsLoopback("::1"));
  EXPECT_FALSE(*IsLoopback("0.0.0.0"));
  EXPECT_FALSE(*IsLoopback("::"));
  EXPECT_FALSE(IsLoopback("localhost").ok());
  EXPECT_EQ(UrlOf("::1", 80), "http://[::1]:80");
  EXPECT_EQ(UrlOf("127.0.0.1", 6736), "http://127.0.0.1:6736");
}

// It answers or closes the connection for any input, and continues.
TEST(MutationTest, Requests) {
  const std::unique_ptr<HttpServer> server = HttpServer::Start("127.0.0.1", 0, Echo).value();
  ForEachMutation("request", "GET /study/0123456789abcdef HTTP/1.1\r\nHost: localhost\r\nCookie: a=b\r\n\r\n",
                  {"\r\n", "\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked", ": ", "HTTP/1.1", "Host:"},
                  [&server](const std::string& bytes) {
                    const std::string reply = Exchange(server->port(), bytes);
                    EXPECT_TRUE(reply.empty() || ReplyOf(reply).status >= 200) << reply;
                  });
  EXPECT_EQ(Get(server->port(), "/").status, 200);
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
