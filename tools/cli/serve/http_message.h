// Requests and answers of HTTP, as far as `openset serve` knows them.
#ifndef OPENSET_TOOLS_CLI_SERVE_HTTP_MESSAGE_H_
#define OPENSET_TOOLS_CLI_SERVE_HTTP_MESSAGE_H_

#include <string>
#include <utility>
#include <vector>

namespace openset {

// What is read of a request; fields that it has not are "".
struct HttpRequest {
  std::string method;
  std::string target;  // "/study/0123456789abcdef?x"
  std::string host;
  std::string cookie;
  // Who asks, as browsers say it: "cross-site"; "navigate".
  std::string fetch_site, fetch_mode;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  // Of a page: what it may load (Content-Security-Policy). "": nothing at all.
  std::string policy;
  std::vector<std::pair<std::string, std::string>> headers;  // beside those of HeadersOf()
};

// An answer of one line.
HttpAnswer TextAnswer(int status, const std::string& line);

// The headers of an answer, but for its length. Nothing is stored or guessed to be of another type, no other site may
// show, embed or read it, and pages load what their policy says.
std::vector<std::pair<std::string, std::string>> HeadersOf(const HttpAnswer& answer);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_HTTP_MESSAGE_H_
