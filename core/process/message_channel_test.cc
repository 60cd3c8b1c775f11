#include "core/process/message_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>
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

}  // namespace
}  // namespace openset
