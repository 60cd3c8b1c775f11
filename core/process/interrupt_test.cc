#include "core/process/interrupt.h"

#include <poll.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Interrupt, TurnsSignalsIntoReadability) {
  Interrupt interrupt;
  pollfd waiting = {interrupt.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  EXPECT_EQ(interrupt.Take(), 0);
  kill(getpid(), SIGINT);
  EXPECT_EQ(poll(&waiting, 1, 1000), 1);
  EXPECT_EQ(interrupt.Take(), SIGINT);
  EXPECT_EQ(interrupt.Take(), 0);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(interrupt.Take(), SIGTERM);
}

TEST(Interrupt, LeavesAHangupIgnoredUnderNohup) {
  signal(SIGHUP, SIG_IGN);
  {
    Interrupt interrupt;
    kill(getpid(), SIGHUP);
    EXPECT_EQ(interrupt.Take(), 0);
  }
  signal(SIGHUP, SIG_DFL);
  Interrupt interrupt;
  kill(getpid(), SIGHUP);
  EXPECT_EQ(interrupt.Take(), SIGHUP);
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(interrupt.Take(), SIGUSR1);
}

TEST(Interrupt, SignalsAtTheEndDontChangeTheExitCode) {
  EXPECT_EXIT(
      {
        {
          Interrupt interrupt;
          kill(getpid(), SIGTERM);
          kill(getpid(), SIGUSR1);
        }
        _exit(3);
      },
      testing::ExitedWithCode(3), "");
}

TEST(Interrupt, AnInnerInterruptTakesPendingSignals) {
  Interrupt outer;
  kill(getpid(), SIGUSR1);
  {
    Interrupt inner;
    EXPECT_EQ(inner.Take(), SIGUSR1);
  }
  EXPECT_EQ(outer.Take(), 0);
  kill(getpid(), SIGINT);
  EXPECT_EQ(outer.Take(), SIGINT);
}

TEST(Interrupt, RestoresTheHandlers) {
  { Interrupt interrupt; }
  EXPECT_EXIT({ kill(getpid(), SIGTERM); }, testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace openset
