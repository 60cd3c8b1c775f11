#include "core/process/message_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/little_endian.h"

namespace openset {
namespace {

// Reads exactly `size` bytes; kOutOfRange if the stream ends before the first, kDataLoss if it ends later.
absl::Status ReadAll(int fd, char* data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(fd, data + done, size - done);
    if (got > 0) {
      done += got;
    } else if (got == 0 || errno == ECONNRESET) {
      return done == 0 ? absl::OutOfRangeError("the channel is closed")
                       : absl::DataLossError("the channel was closed within a message");
    } else if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("cannot read from the channel: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MessageChannel::Send(const google::protobuf::Message& message) {
  const std::string body = message.SerializeAsString();
  if (body.size() > kMaxBytes) return absl::InvalidArgumentError("the message is too large for the channel");
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(body.size() >> (8 * i));
  bytes += body;
  for (size_t done = 0; done < bytes.size();) {
    // MSG_NOSIGNAL: a closed channel is an error, not SIGPIPE.
    const ssize_t sent = send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent >= 0) {
      done += sent;
    } else if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("cannot write to the channel: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

absl::Status MessageChannel::Receive(google::protobuf::Message* message) {
  char header[4];
  OPENSET_RETURN_IF_ERROR(ReadAll(fd_, header, sizeof(header)));
  const uint32_t size = LittleEndian32({header, sizeof(header)});
  if (size > kMaxBytes) return absl::InvalidArgumentError("a message on the channel declares an impossible size");
  std::string body(size, '\0');
  if (size > 0) {
    const absl::Status status = ReadAll(fd_, body.data(), size);
    if (absl::IsOutOfRange(status)) return absl::DataLossError("the channel was closed within a message");
    OPENSET_RETURN_IF_ERROR(status);
  }
  if (!message->ParseFromString(body)) return absl::InvalidArgumentError("the channel carries another kind of message");
  return absl::OkStatus();
}

bool MessageChannel::IsReadable() const {
  pollfd waiting = {fd_, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

}  // namespace openset
