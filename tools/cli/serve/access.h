// Who may read the pages of `openset serve`.
#ifndef OPENSET_TOOLS_CLI_SERVE_ACCESS_H_
#define OPENSET_TOOLS_CLI_SERVE_ACCESS_H_

#include <optional>
#include <string>

#include "tools/cli/serve/http_server.h"

namespace openset {

struct Access {
  // The server listens on an address that only this machine can reach. The host of a request must then be such an
  // address too: a page of another site whose name was made to resolve to this machine (DNS rebinding) sends the site's
  // name.
  bool only_local = true;
  // The secret that requests must contain; "": none.
  std::string token;
};

// The name of the cookie that holds the token.
inline constexpr char kTokenCookie[] = "openset_token";

// Returns the answer to a request that may not be served, whatever its path, or nothing if it may: 405 for methods
// other than GET and HEAD; 421 for a host other than this machine; 403 for a request by a page of another site, unless
// somebody followed a link; 401 without the token. The answer to "/?token=TOKEN" sets the cookie and redirects to "/".
std::optional<HttpAnswer> RefusalOf(const HttpRequest& request, const Access& access);

// Returns 32 random hexadecimal digits from the system.
std::string NewToken();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_ACCESS_H_
