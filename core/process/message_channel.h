// Protobuf messages over a file descriptor.
#ifndef OPENSET_CORE_PROCESS_MESSAGE_CHANNEL_H_
#define OPENSET_CORE_PROCESS_MESSAGE_CHANNEL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace openset {

// Each message is its size in 4 bytes (low byte first), then its wire format. Does not own the descriptor.
class MessageChannel {
 public:
  static constexpr uint32_t kMaxBytes = 256u << 20;

  explicit MessageChannel(int fd) : fd_(fd) {}

  // Errors: kUnavailable if the other side is gone.
  absl::Status Send(const google::protobuf::Message& message);

  // Waits for a message. Errors: kOutOfRange at the end of the stream; kDataLoss if it ends within a message;
  // kInvalidArgument if the bytes are not such a message; kUnavailable if reading fails.
  absl::Status Receive(google::protobuf::Message* message);

  // Whether Receive() would find something, or the end of the stream, without waiting for it.
  bool IsReadable() const;

 private:
  int fd_;
};

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_MESSAGE_CHANNEL_H_
