#include "tools/cli/serve/access.h"

#include <sys/random.h>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/logging.h"

namespace openset {
namespace {

// "localhost:6736", "127.0.0.1", "[::1]:80".
bool IsLocal(absl::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon != absl::string_view::npos && host.find(']', colon) == absl::string_view::npos) {
    const absl::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || !absl::c_all_of(port, absl::ascii_isdigit)) return false;
    host = host.substr(0, colon);
  }
  // Only an address consists of digits and dots.
  const bool is_v4 =
      absl::StartsWith(host, "127.") && absl::c_all_of(host, [](char c) { return absl::ascii_isdigit(c) || c == '.'; });
  return absl::EqualsIgnoreCase(host, "localhost") || is_v4 || host == "[::1]";
}

// Compares digests, so that the time doesn't depend on the wrong token.
bool IsToken(absl::string_view text, const Access& access) {
  return Sha256Hex(std::string(text)) == Sha256Hex(access.token);
}

bool HasCookie(const HttpRequest& request, const Access& access) {
  for (absl::string_view cookie : absl::StrSplit(request.cookie, ';')) {
    cookie = absl::StripAsciiWhitespace(cookie);
    if (absl::ConsumePrefix(&cookie, kTokenCookie) && absl::ConsumePrefix(&cookie, "=") && IsToken(cookie, access)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<HttpAnswer> RefusalOf(const HttpRequest& request, const Access& access) {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer answer = TextAnswer(405, "openset serve is read-only: use GET or HEAD");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (access.only_local && !IsLocal(request.host)) {
    return TextAnswer(
        421, "openset serve accepts only this machine's own hosts: localhost, 127.0.0.1 (or any 127.*) and [::1]");
  }
  const bool is_own = request.fetch_site.empty() || request.fetch_site == "same-origin" || request.fetch_site == "none";
  if (!is_own && request.fetch_mode != "navigate") return TextAnswer(403, "another site's page may not read this");
  if (access.token.empty() || HasCookie(request, access)) return std::nullopt;
  absl::string_view given = request.target;
  if (absl::ConsumePrefix(&given, "/?token=") && IsToken(given, access)) {
    HttpAnswer answer = TextAnswer(303, "welcome");
    answer.headers.emplace_back("Location", "/");
    answer.headers.emplace_back("Set-Cookie",
                                absl::StrCat(kTokenCookie, "=", access.token, "; HttpOnly; SameSite=Strict; Path=/"));
    return answer;
  }
  return TextAnswer(401, "open the address that 'openset serve' printed: its token is missing or out of date");
}

std::string NewToken() {
  std::string bytes(16, '\0');
  CHECK_EQ(getrandom(bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return absl::BytesToHexString(bytes);
}

}  // namespace openset
