#include "experiments/worker/worker_loop.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "core/in_parallel.h"
#include "core/process/message_channel.h"
#include "core/process/subprocess.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/action.proto.h"

namespace openset {
namespace {

// A process that serves requests: a training ends as its key says, an inference waits until it is asked to stop.
class WorkerLoopTest : public ::testing::Test {
 protected:
  WorkerLoopTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    worker_ = fork();
    if (worker_ == 0) {
      dup2(ends[1], Subprocess::kChannel);
      if (ends[0] != Subprocess::kChannel) close(ends[0]);
      if (ends[1] != Subprocess::kChannel) close(ends[1]);
      _exit(Serve());
    }
    close(ends[1]);
    end_ = ends[0];
  }

  ~WorkerLoopTest() override {
    if (end_ >= 0) close(end_);
    if (worker_ > 0) kill(worker_, SIGKILL), waitpid(worker_, nullptr, 0);
  }

  static int Serve() {
    return ServeWork({&Train, &WaitForStop, nullptr, nullptr},
                     [](const std::exception& error) { return absl::UnavailableError(error.what()); });
  }

  static absl::Status Train(const WorkRequest& request, const ReportProgress& report, const Poll&) {
    if (request.key() == "refused") return absl::NotFoundError("no such data");
    if (request.key() == "memory") throw std::bad_alloc();
    if (request.key() == "device") throw std::runtime_error("the device is lost");
    WorkProgress progress;
    progress.set_fraction(0.5);
    report(progress);
    progress.set_fraction(0.6);
    report(progress);  // too soon after the first
    return absl::OkStatus();
  }

  static absl::Status WaitForStop(const WorkRequest& request, const ReportProgress&, const Poll& poll) {
    while (!poll()) usleep(1000);
    return absl::CancelledError(std::to_string(request.cpu_slots()));
  }

  WorkRequest Ask(const std::string& key) {
    WorkRequest request;
    request.set_key(key);
    request.mutable_action()->mutable_train();
    EXPECT_TRUE(MessageChannel(end_).Send(request).ok());
    return request;
  }

  WorkEvent Next() const {
    WorkEvent event;
    EXPECT_TRUE(MessageChannel(end_).Receive(&event).ok());
    return event;
  }

  // Closes the channel.
  int ExitCode() {
    close(end_);
    end_ = -1;
    int status = 0;
    EXPECT_EQ(waitpid(worker_, &status, 0), worker_);
    worker_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t worker_ = 0;
  int end_ = -1;
};

TEST_F(WorkerLoopTest, ServesUntilTheChannelIsClosed) {
  for (int i = 0; i < 2; ++i) {
    Ask("good");
    EXPECT_EQ(Next().progress().fraction(), 0.5);
    const WorkEvent end = Next();
    ASSERT_TRUE(end.has_outcome());
    EXPECT_EQ(end.outcome().code(), 0);
    EXPECT_FALSE(end.outcome().is_last());
  }
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(WorkerLoopTest, AnErrorEndsOnlyItsAction) {
  Ask("refused");
  const WorkEvent end = Next();
  EXPECT_EQ(end.outcome().code(), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(end.outcome().message(), "no such data");
  EXPECT_FALSE(end.outcome().is_last());
  Ask("good");
  EXPECT_TRUE(Next().has_progress());
}

TEST_F(WorkerLoopTest, RefusesActionsThatItDoesNotKnow) {
  WorkRequest request;
  request.set_key("key");
  request.mutable_action()->mutable_evaluate();
  ASSERT_TRUE(MessageChannel(end_).Send(request).ok());
  EXPECT_EQ(Next().outcome().code(), static_cast<int>(absl::StatusCode::kInternal));
}

TEST_F(WorkerLoopTest, EndsAfterMemoryRanOut) {
  Ask("memory");
  const WorkEvent end = Next();
  EXPECT_EQ(end.outcome().code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_TRUE(end.outcome().is_last());
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(WorkerLoopTest, EndsAfterADeviceFailed) {
  Ask("device");
  const WorkEvent end = Next();
  EXPECT_EQ(end.outcome().code(), static_cast<int>(absl::StatusCode::kUnavailable));
  EXPECT_THAT(end.outcome().message(), HasSubstr("the device is lost"));
  EXPECT_TRUE(end.outcome().is_last());
  EXPECT_EQ(ExitCode(), 0);
}

// Messages about a running action: more CPUs, then the end. Signals are left to the engine.
TEST_F(WorkerLoopTest, MessagesReachTheRunningAction) {
  WorkRequest request;
  request.set_key("key");
  request.set_store("store");
  request.set_cpu_slots(1);
  request.mutable_action()->mutable_infer();
  Ask("good");
  while (!Next().has_outcome()) continue;  // from now on, it ignores signals
  MessageChannel channel(end_);
  WorkRequest late;  // about an action that has ended
  late.mutable_about_running()->set_stop(true);
  ASSERT_TRUE(channel.Send(late).ok());
  ASSERT_TRUE(channel.Send(request).ok());
  for (const int asking : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) kill(worker_, asking);
  WorkRequest more;
  more.mutable_about_running()->set_cpu_slots(4);
  ASSERT_TRUE(channel.Send(more).ok());
  WorkRequest stop;
  stop.mutable_about_running()->set_stop(true);
  ASSERT_TRUE(channel.Send(stop).ok());
  const WorkEvent end = Next();
  EXPECT_EQ(end.outcome().code(), static_cast<int>(absl::StatusCode::kCancelled));
  EXPECT_EQ(end.outcome().message(), "4");
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(WorkerLoopTest, WhatIsNoMessageEndsTheProcess) {
  ASSERT_EQ(write(end_, std::string("\x03\x00\x00\x00\xff\xff\xff", 7).data(), 7), 7);
  EXPECT_EQ(ExitCode(), 1);
}

// The second look after the message comes after the limit was raised.
TEST(ThreadAdjuster, RaisesTheLimitWhenWordComes) {
  const int cpus = NumThreads();
  WorkRequest request;
  request.set_cpu_slots(1);
  absl::Notification asked, raised;
  int looks = 0;  // since it was asked
  const Poll look = [&] {
    if (asked.HasBeenNotified() && ++looks == 1) request.set_cpu_slots(std::numeric_limits<int>::max());
    if (looks == 2) raised.Notify();
    return false;
  };
  {
    const ThreadAdjuster more(request, look);
    EXPECT_EQ(NumThreads(), 1);
    asked.Notify();
    raised.WaitForNotification();
    EXPECT_EQ(NumThreads(), cpus);
  }
  LimitThreads(std::numeric_limits<int>::max());
}

TEST(ThreadAdjuster, IsOneThreadWithoutSlots) {
  const WorkRequest request;
  const Poll look = [] { return false; };
  {
    const ThreadAdjuster more(request, look);
    EXPECT_EQ(NumThreads(), 1);
  }
  LimitThreads(std::numeric_limits<int>::max());
}

}  // namespace
}  // namespace openset
