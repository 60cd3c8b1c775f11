#include "tools/cli/serve/access.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

HttpRequest Get(const std::string& target, const std::string& host = "localhost:6736") {
  HttpRequest request;
  request.method = "GET";
  request.target = target;
  request.host = host;
  return request;
}

int StatusOf(const HttpRequest& request, const Access& access = {}) {
  const std::optional<HttpAnswer> refusal = RefusalOf(request, access);
  return refusal.has_value() ? refusal->status : 200;
}

TEST(RefusalOf, AllowsOnlyReading) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "", "X"}) {
    HttpRequest request = Get("/");
    request.method = method;
    EXPECT_EQ(StatusOf(request), 405) << method;
  }
  HttpRequest head = Get("/");
  head.method = "HEAD";
  EXPECT_EQ(StatusOf(head), 200);
}

// A page of evil.example whose name leads to 127.0.0.1 (DNS rebinding) asks for evil.example.
TEST(RefusalOf, AnswersOnlyToItsOwnNames) {
  for (const char* host :
       {"localhost", "localhost:6736", "LocalHost:1", "127.0.0.1", "127.0.0.1:80", "127.0.0.2:6736", "[::1]:6736"}) {
    EXPECT_EQ(StatusOf(Get("/", host)), 200) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:6736", "localhost.evil.example", "127.0.0.1.evil.example",
                           "localhost:", "localhost:80x", "localhost:123456", "localhost@evil.example", "0.0.0.0",
                           "[::1", "[::2]:80", "::1", "localhost, evil.example", "localhost\tx"}) {
    EXPECT_EQ(StatusOf(Get("/", host)), 421) << host;
  }
  // On other addresses, the server can have any name, and the token decides.
  EXPECT_EQ(StatusOf(Get("/", "node7:6736"), {/*only_local=*/false, kToken}), 401);
}

TEST(RefusalOf, RefusesPagesOfOtherSites) {
  HttpRequest request = Get("/live.json");
  for (const char* site : {"cross-site", "same-site", "x"}) {
    request.fetch_site = site;
    for (const char* mode : {"cors", "no-cors", "websocket", ""}) {
      request.fetch_mode = mode;
      EXPECT_EQ(StatusOf(request), 403) << site << " " << mode;
    }
    request.fetch_mode = "navigate";  // somebody followed a link
    EXPECT_EQ(StatusOf(request), 200) << site;
  }
  request.fetch_mode = "cors";
  for (const char* site : {"same-origin", "none", ""}) {
    request.fetch_site = site;
    EXPECT_EQ(StatusOf(request), 200) << site;
  }
}

TEST(RefusalOf, AsksForTheToken) {
  const Access access{/*only_local=*/false, kToken};
  for (const char* target :
       {"/", "/live.json", "/?token=", "/?token=0123", "/live.json?token=0123456789abcdef",
        "/?token=0123456789abcdef0123456789abcdeF", "/?x&token=0123456789abcdef0123456789abcdef"}) {
    EXPECT_EQ(StatusOf(Get(target), access), 401) << target;
  }
  const std::optional<HttpAnswer> welcome = RefusalOf(Get(std::string("/?token=") + kToken), access);
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->status, 303);
  EXPECT_THAT(welcome->headers, Contains(Pair("Location", "/")));
  EXPECT_THAT(welcome->headers, Contains(Pair("Set-Cookie", std::string("openset_token=") + kToken +
                                                                "; HttpOnly; SameSite=Strict; Path=/")));
  HttpRequest request = Get("/study/0123456789abcdef");
  request.cookie = std::string("a=b; openset_token=") + kToken;
  EXPECT_EQ(StatusOf(request, access), 200);
  for (const char* cookie : {"openset_token=", "openset_token", "xopenset_token=0123456789abcdef0123456789abcdef",
                             "openset_token=0123456789abcdef0123456789abcde"}) {
    request.cookie = cookie;
    EXPECT_EQ(StatusOf(request, access), 401) << cookie;
  }
}

TEST(NewToken, DiffersEachTime) {
  EXPECT_THAT(NewToken(), ::testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(NewToken(), NewToken());
}

TEST(HeadersOf, AllowNoScripts) {
  HttpAnswer answer = TextAnswer(200, "x");
  EXPECT_THAT(HeadersOf(answer),
              Contains(Pair("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")));
  answer.policy = "default-src 'none'; script-src 'sha256-x'";
  EXPECT_THAT(HeadersOf(answer), Contains(Pair("Content-Security-Policy", HasSubstr("'sha256-x'; frame-ancestors"))));
  for (const auto& [name, value] : HeadersOf(answer)) EXPECT_NE(name, "Access-Control-Allow-Origin");
}

}  // namespace
}  // namespace openset
