#include "tools/cli/serve/http_message.h"

#include "absl/strings/str_cat.h"

namespace openset {

HttpAnswer TextAnswer(int status, const std::string& line) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = absl::StrCat(line, "\n");
  return answer;
}

std::vector<std::pair<std::string, std::string>> HeadersOf(const HttpAnswer& answer) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Type", answer.type},
      {"Content-Security-Policy",
       absl::StrCat(answer.policy.empty() ? "default-src 'none'" : answer.policy, "; frame-ancestors 'none'")},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  headers.insert(headers.end(), answer.headers.begin(), answer.headers.end());
  return headers;
}

}  // namespace openset
