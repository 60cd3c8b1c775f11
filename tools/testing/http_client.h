// An HTTP client for tests, which sends any bytes.
#ifndef OPENSET_TOOLS_TESTING_HTTP_CLIENT_H_
#define OPENSET_TOOLS_TESTING_HTTP_CLIENT_H_

#include <string>

namespace openset {

// Sends the bytes to a port of this machine, and returns everything received until the connection is closed or breaks.
// Returns "no connection" if nothing listens there.
std::string Exchange(int port, const std::string& bytes);

struct HttpReply {
  int status = 0;  // 0: not an HTTP answer
  std::string head;
  std::string body;
};

HttpReply ReplyOf(const std::string& bytes);

// Sends a GET request like curl's. `more`: further lines of the header, each with "\r\n".
HttpReply Get(int port, const std::string& path, const std::string& more = "");

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HTTP_CLIENT_H_
