// A client of HTTP for tests: bytes there, bytes back.
#ifndef OPENSET_TOOLS_TESTING_HTTP_CLIENT_H_
#define OPENSET_TOOLS_TESTING_HTTP_CLIENT_H_

#include <string>

namespace openset {

// Sends the bytes to the port of this machine, and returns what comes until the server closes the connection; what
// there was, where it breaks. "no connection" where nobody listens.
std::string Exchange(int port, const std::string& bytes);

struct HttpReply {
  int status = 0;  // 0: it is no answer of HTTP
  std::string head;
  std::string body;
};

HttpReply ReplyOf(const std::string& bytes);

// GET of a path, as curl asks for it; `more`: further lines of the header, each with "\r\n".
HttpReply Get(int port, const std::string& path, const std::string& more = "");

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HTTP_CLIENT_H_
