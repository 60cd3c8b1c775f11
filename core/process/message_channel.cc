#include "core/process/message_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/status_macros.h"
#include "core/text/little_endian.h"

namespace openset {
namespace {

constexpr size_t kHeaderBytes = 4;

absl::StatusOr<std::string> Framed(const google::protobuf::Message& message) {
  const std::string body = message.SerializeAsString();
  if (body.size() > kMaxMessageBytes) return absl::InvalidArgumentError("the message is too large for the channel");
  std::string bytes(kHeaderBytes, '\0');
  for (size_t i = 0; i < kHeaderBytes; ++i) bytes[i] = static_cast<char>(body.size() >> (8 * i));
  return bytes + body;
}

absl::StatusOr<uint32_t> SizeOf(absl::string_view header) {
  const uint32_t size = LittleEndian32(header);
  if (size <= kMaxMessageBytes) return size;
  return absl::InvalidArgumentError("a message on the channel declares an impossible size");
}

absl::Status Parse(absl::string_view body, google::protobuf::Message* message) {
  if (message->ParseFromArray(body.data(), static_cast<int>(body.size()))) return absl::OkStatus();
  return absl::InvalidArgumentError("the channel carries another kind of message");
}

absl::Status EndOfStream(bool is_within_message) {
  return is_within_message ? absl::DataLossError("the channel was closed within a message")
                           : absl::OutOfRangeError("the channel is closed");
}

bool IsReadableNow(int fd) {
  pollfd waiting = {fd, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

absl::Status CannotWrite() {
  return absl::UnavailableError(absl::StrCat("cannot write to the channel: ", std::strerror(errno)));
}

absl::Status CannotRead() {
  return absl::UnavailableError(absl::StrCat("cannot read from the channel: ", std::strerror(errno)));
}

// Reads exactly `size` bytes; kOutOfRange if the stream ends before the first, kDataLoss if it ends later.
absl::Status ReadAll(int fd, char* data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(fd, data + done, size - done);
    if (got > 0) {
      done += got;
    } else if (got == 0 || errno == ECONNRESET) {
      return EndOfStream(/*is_within_message=*/done > 0);
    } else if (errno != EINTR) {
      return CannotRead();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MessageChannel::Send(const google::protobuf::Message& message) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, Framed(message));
  for (size_t done = 0; done < bytes.size();) {
    // MSG_NOSIGNAL: a closed channel is an error, not SIGPIPE.
    const ssize_t sent = send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent >= 0) {
      done += sent;
    } else if (errno != EINTR) {
      return CannotWrite();
    }
  }
  return absl::OkStatus();
}

absl::Status MessageChannel::Receive(google::protobuf::Message* message) {
  char header[kHeaderBytes];
  OPENSET_RETURN_IF_ERROR(ReadAll(fd_, header, sizeof(header)));
  OPENSET_ASSIGN_OR_RETURN(const uint32_t size, SizeOf({header, sizeof(header)}));
  std::string body(size, '\0');
  if (size > 0) {
    const absl::Status status = ReadAll(fd_, body.data(), size);
    if (absl::IsOutOfRange(status)) return EndOfStream(/*is_within_message=*/true);
    OPENSET_RETURN_IF_ERROR(status);
  }
  return Parse(body, message);
}

bool MessageChannel::IsReadable() const { return IsReadableNow(fd_); }

absl::Status PolledChannel::Send(const google::protobuf::Message& message) {
  OPENSET_RETURN_IF_ERROR(write_error_);
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, Framed(message));
  out_ += bytes;
  Write();
  return write_error_;
}

short PolledChannel::Events() const { return IsSending() ? POLLIN | POLLOUT : POLLIN; }

size_t PolledChannel::Move() {
  const size_t written = Write();
  return written + Read();
}

size_t PolledChannel::Write() {
  size_t done = 0;
  while (IsSending()) {
    const ssize_t sent = send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      sent_ += sent;
      done += sent;
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return done;
    } else if (sent == 0 || errno != EINTR) {
      write_error_ = CannotWrite();
      break;
    }
  }
  std::string().swap(out_);  // frees the memory of a large message
  sent_ = 0;
  return done;
}

// Reads at most one part, so that a side that never stops sending doesn't keep this one from its other work.
size_t PolledChannel::Read() {
  if (!read_error_.ok()) return 0;
  char part[size_t{1} << 16];
  ssize_t got = 0;
  do {
    got = recv(fd_, part, sizeof(part), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    in_.erase(0, taken_);
    taken_ = 0;
    in_.append(part, got);
    return got;
  }
  if (got == 0 || errno == ECONNRESET) {
    read_error_ = absl::OutOfRangeError("");
  } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
    read_error_ = CannotRead();
  }
  return 0;
}

absl::StatusOr<bool> PolledChannel::Take(google::protobuf::Message* message) {
  const absl::string_view all = absl::string_view(in_).substr(taken_);
  if (all.size() >= kHeaderBytes) {
    OPENSET_ASSIGN_OR_RETURN(const uint32_t size, SizeOf(all.substr(0, kHeaderBytes)));
    if (all.size() - kHeaderBytes >= size) {
      const absl::Status parsed = Parse(all.substr(kHeaderBytes, size), message);
      taken_ += kHeaderBytes + size;
      if (taken_ == in_.size()) {
        std::string().swap(in_);
        taken_ = 0;
      }
      OPENSET_RETURN_IF_ERROR(parsed);
      return true;
    }
  }
  if (absl::IsOutOfRange(read_error_)) return EndOfStream(/*is_within_message=*/!all.empty());
  OPENSET_RETURN_IF_ERROR(read_error_);
  return false;
}

bool PolledChannel::IsReadable() const { return IsReadableNow(fd_); }

}  // namespace openset
