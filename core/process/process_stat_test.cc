#include "core/process/process_stat.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ProcessStat, IsParsedAfterAnyName) {
  const auto stat = ParseProcessStat(
      "4242 (a) Z 9 (b) S 17 4200 4200 34816 4242 4194304 1 0 0 0 120 30 0 0 20 0 1 0 987654 8192 1 "
      "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->group, 4200);
  EXPECT_EQ(stat->cpu_ticks, 120 + 30);
  EXPECT_EQ(stat->start_ticks, 987654);
  EXPECT_FALSE(stat->has_ended());
}

TEST(ProcessStat, RefusesOtherText) {
  for (const char* text : {"", "4242 (name)", "4242 (name) S 17 4200", "no process"}) {
    EXPECT_FALSE(ParseProcessStat(text).has_value()) << text;
  }
}

TEST(ProcessStat, CountsTheBytesThatAProcessReads) {
  const int64_t before = BytesReadBy(getpid());
  std::ifstream("/proc/version").get();
  EXPECT_GT(BytesReadBy(getpid()), before);
  EXPECT_EQ(BytesReadBy(0), 0);
}

TEST(ProcessStat, AZombieHasEndedAndDisappearsAfterWait) {
  EXPECT_EQ(StatOf(getpid())->group, getpgrp());
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  ASSERT_TRUE(StatOf(child).has_value());
  EXPECT_FALSE(StatOf(child)->has_ended());
  EXPECT_EQ(StatOf(child)->group, getpgrp());
  EXPECT_GE(StatOf(child)->start_ticks, StatOf(getpid())->start_ticks);
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(StatOf(child)->has_ended());
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(StatOf(child).has_value());
}

}  // namespace
}  // namespace openset
