#include "tools/testing/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace openset {

std::string Exchange(int port, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(socket);
    return "no connection";
  }
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;  // it has answered already
    sent += static_cast<size_t>(count);
  }
  shutdown(socket, SHUT_WR);
  char buffer[65536];
  for (ssize_t count; (count = recv(socket, buffer, sizeof(buffer), 0)) > 0;) {
    reply.append(buffer, static_cast<size_t>(count));
  }
  close(socket);
  return reply;
}

HttpReply ReplyOf(const std::string& bytes) {
  HttpReply reply;
  const size_t end = bytes.find("\r\n\r\n");
  absl::string_view line = bytes;
  if (end == std::string::npos || !absl::ConsumePrefix(&line, "HTTP/1.1 ")) return reply;
  if (!absl::SimpleAtoi(line.substr(0, 3), &reply.status)) return reply;
  reply.head = bytes.substr(0, end + 2);
  reply.body = bytes.substr(end + 4);
  return reply;
}

HttpReply Get(int port, const std::string& path, const std::string& more) {
  return ReplyOf(
      Exchange(port, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost:", port, "\r\n", more, "\r\n")));
}

}  // namespace openset
