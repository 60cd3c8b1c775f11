// Who may ask `openset serve`, and what.
#ifndef OPENSET_TOOLS_CLI_SERVE_ACCESS_H_
#define OPENSET_TOOLS_CLI_SERVE_ACCESS_H_

#include <optional>
#include <string>

#include "tools/cli/serve/http_message.h"

namespace openset {

struct Access {
  // It listens on an address that only this machine reaches. Then the request's host is one, too: a page of another
  // site, whose name was made to lead here (DNS rebinding), names that site.
  bool only_local = true;
  // What whoever asks has to know; "": nothing.
  std::string token;
};

// The name of the cookie that holds the token.
inline constexpr char kTokenCookie[] = "openset_token";

// What a request is answered without looking at its path; absent: it may be answered. 405 for anything but GET and
// HEAD; 421 for a host that is not here; 403 where a page of another site asks, other than by a link that somebody
// followed; 401 without the token. "/?token=TOKEN" is answered by the cookie and the way to "/".
std::optional<HttpAnswer> RefusalOf(const HttpRequest& request, const Access& access);

// 32 hexadecimal digits of the system's randomness.
std::string NewToken();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_ACCESS_H_
