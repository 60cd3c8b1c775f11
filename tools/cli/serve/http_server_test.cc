#include "tools/cli/serve/http_server.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/http_client.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_THAT(HttpServer::Start("127.0.0.1", server->port(), Echo),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("in use")));
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
