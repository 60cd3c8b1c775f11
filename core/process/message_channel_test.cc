#include "core/process/message_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::openset::testing::Root;

class MessageChannelTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fd_), 0); }
  void TearDown() override {
    for (int fd : fd_) close(fd);
  }
  void CloseFirst() {
    close(fd_[0]);
    fd_[0] = -1;
  }
  void Raw(const std::string& bytes) { ASSERT_EQ(write(fd_[0], bytes.data(), bytes.size()), bytes.size()); }

  int fd_[2];
};

TEST_F(MessageChannelTest, CarriesMessagesInOrder) {
  MessageChannel a(fd_[0]), b(fd_[1]);
  Root big;
  big.set_name(std::string(3 << 20, 'x'));  // more than a socket buffer holds
  std::thread sender([&] {
    EXPECT_TRUE(a.Send(big).ok());
    EXPECT_TRUE(a.Send(Root()).ok());
  });
  Root received;
  EXPECT_TRUE(b.Receive(&received).ok());
  EXPECT_EQ(received.name(), big.name());
  EXPECT_TRUE(b.Receive(&received).ok());
  EXPECT_EQ(received.ByteSizeLong(), 0);
  sender.join();
}

TEST_F(MessageChannelTest, TellsTheEndFromATornMessage) {
  MessageChannel b(fd_[1]);
  Root received;
  Raw(std::string("\x05\0\0\0ab", 6));
  CloseFirst();
  EXPECT_EQ(b.Receive(&received).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(b.Receive(&received).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(b.Send(received).code(), absl::StatusCode::kUnavailable);
}

TEST_F(MessageChannelTest, RefusesGarbage) {
  MessageChannel b(fd_[1]);
  Root received;
  Raw(std::string("\x02\0\0\0\xff\xff", 6));
  EXPECT_EQ(b.Receive(&received).code(), absl::StatusCode::kInvalidArgument);
  Raw("\xff\xff\xff\xff");
  EXPECT_EQ(b.Receive(&received).code(), absl::StatusCode::kInvalidArgument);
}

// One byte at a time, in both directions.
TEST_F(MessageChannelTest, APolledSideNeverWaits) {
  PolledChannel a(fd_[1]);
  Root message, received;
  EXPECT_EQ(*a.Take(&received), false);
  EXPECT_EQ(a.Move(), 0);
  message.set_name("abc");
  const std::string body = message.SerializeAsString();
  const std::string bytes = std::string({static_cast<char>(body.size()), 0, 0, 0}) + body;
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(*a.Take(&received), false);
    Raw(bytes.substr(i, 1));
    EXPECT_TRUE(a.IsReadable());
    EXPECT_EQ(a.Move(), 1);
    EXPECT_FALSE(a.IsReadable());
    EXPECT_TRUE(a.IsReceiving());
  }
  EXPECT_EQ(*a.Take(&received), true);
  EXPECT_FALSE(a.IsReceiving());
  EXPECT_EQ(received.name(), "abc");
}

TEST_F(MessageChannelTest, APolledSideSendsWhatTheOtherReads) {
  PolledChannel a(fd_[0]);
  Root big, received;
  big.set_name(std::string(3 << 20, 'x'));
  EXPECT_TRUE(a.Send(big).ok());
  EXPECT_TRUE(a.Send(Root()).ok());
  EXPECT_TRUE(a.IsSending());
  EXPECT_NE(a.Events() & POLLOUT, 0);
  std::thread reader([&] {
    MessageChannel b(fd_[1]);
    EXPECT_TRUE(b.Receive(&received).ok());
    EXPECT_EQ(received.name(), big.name());
    EXPECT_TRUE(b.Receive(&received).ok());
    EXPECT_EQ(received.ByteSizeLong(), 0);
  });
  while (a.IsSending()) {
    pollfd waiting = {fd_[0], a.Events(), 0};
    poll(&waiting, 1, -1);
    EXPECT_GT(a.Move(), 0);
  }
  EXPECT_EQ(a.Events() & POLLOUT, 0);
  reader.join();
}

TEST_F(MessageChannelTest, APolledSideTakesAllMessagesBeforeTheEnd) {
  PolledChannel b(fd_[1]);
  Root received;
  Raw(std::string("\0\0\0\0\0\0\0\0\x05\0\0\0ab", 14));
  CloseFirst();
  EXPECT_EQ(b.Move(), 14);
  EXPECT_EQ(*b.Take(&received), true);
  EXPECT_EQ(*b.Take(&received), true);
  EXPECT_EQ(*b.Take(&received), false);
  EXPECT_EQ(b.Move(), 0);
  EXPECT_EQ(b.Take(&received).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(b.Send(received).code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(b.IsSending());
}

TEST_F(MessageChannelTest, APolledSideTellsTheEndAndRefusesGarbage) {
  {
    PolledChannel b(fd_[1]);
    Root received;
    Raw(std::string("\x02\0\0\0\xff\xff", 6));
    b.Move();
    EXPECT_EQ(b.Take(&received).status().code(), absl::StatusCode::kInvalidArgument);
    Raw("\xff\xff\xff\xff");
    b.Move();
    EXPECT_EQ(b.Take(&received).status().code(), absl::StatusCode::kInvalidArgument);
  }
  CloseFirst();
  PolledChannel b(fd_[1]);
  Root received;
  b.Move();
  EXPECT_EQ(b.Take(&received).status().code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace openset
