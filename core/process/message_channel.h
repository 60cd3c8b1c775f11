// Protobuf messages over a file descriptor.
#ifndef OPENSET_CORE_PROCESS_MESSAGE_CHANNEL_H_
#define OPENSET_CORE_PROCESS_MESSAGE_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace openset {

// The largest message.
inline constexpr uint32_t kMaxMessageBytes = 256u << 20;

// Each message is its size in 4 bytes (low byte first), then its wire format. Waits for the other side. Does not own
// the descriptor.
class MessageChannel {
 public:
  explicit MessageChannel(int fd) : fd_(fd) {}

  // Errors: kUnavailable if the other side is gone; kInvalidArgument if the message is too large.
  absl::Status Send(const google::protobuf::Message& message);

  // Waits for a message. Errors: kOutOfRange at the end of the stream; kDataLoss if it ends within a message;
  // kInvalidArgument if the bytes are not such a message; kUnavailable if reading fails.
  absl::Status Receive(google::protobuf::Message* message);

  // Whether Receive() would find something, or the end of the stream, without waiting for it.
  bool IsReadable() const;

 private:
  int fd_;
};

// One side of such a channel that never waits for the other side, however slowly this reads and writes. Call Move()
// when poll() reports one of Events(), then Take() until it finds no more. Does not own the descriptor, a socket.
class PolledChannel {
 public:
  explicit PolledChannel(int fd) : fd_(fd) {}

  // Sends what is possible without waiting; Move() sends the rest. Errors: kUnavailable if the other side is gone;
  // kInvalidArgument if the message is too large, and then nothing of it is sent.
  absl::Status Send(const google::protobuf::Message& message);

  // The events of poll() to wait for.
  short Events() const;
  // Sends and receives what is possible without waiting. Returns the number of bytes. The end of the stream is reported
  // by Take().
  size_t Move();
  // Takes the next message that is complete; false if there is none. Errors: as MessageChannel::Receive().
  absl::StatusOr<bool> Take(google::protobuf::Message* message);

  // Whether Move() would receive something, or the end of the stream.
  bool IsReadable() const;
  // Whether anything has come that was not taken: if Take() has found no more, a part of a message.
  bool IsReceiving() const { return taken_ < in_.size(); }
  // Whether the other side has yet to read a part of what was sent (more than a socket holds).
  bool IsSending() const { return sent_ < out_.size(); }

 private:
  size_t Write();
  size_t Read();

  int fd_;
  std::string in_, out_;
  size_t taken_ = 0, sent_ = 0;  // bytes of these
  absl::Status write_error_;     // OK: the other side takes what we send
  absl::Status read_error_;      // what Take() reports when it has taken all messages
};

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_MESSAGE_CHANNEL_H_
