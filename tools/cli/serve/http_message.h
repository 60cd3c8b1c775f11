// The parts of HTTP requests and answers that `openset serve` uses.
#ifndef OPENSET_TOOLS_CLI_SERVE_HTTP_MESSAGE_H_
#define OPENSET_TOOLS_CLI_SERVE_HTTP_MESSAGE_H_

#include <string>
#include <utility>
#include <vector>

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_HTTP_MESSAGE_H_
