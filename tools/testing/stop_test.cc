// Stops a run in each way that a user has: finished work stays, no process remains, and the same command continues.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Some seconds of work on one core.
const std::string kSpec = absl::StrCat("seed: [0, 1, 2]", kShortStudy);

TEST(Stop, EveryWayEndsCleanlyAndResumes) {
  const OpensetProgram undisturbed("undisturbed"), stopped("stopped");
  for (const OpensetProgram* program : {&undisturbed, &stopped}) program->Write("study.textproto", kSpec);
  ASSERT_EQ(undisturbed.Run({"run", "study.textproto"}).exit_code, 0);
  const std::vector<std::pair<const char*, std::vector<int>>> ways = {
      {"Ctrl-C", {SIGINT}}, {"Ctrl-C twice", {SIGINT, SIGINT}}, {"SIGTERM", {SIGTERM}},
      {"SIGHUP", {SIGHUP}}, {"a closed terminal", {}},
  };
  for (const auto& [what, signals] : ways) {
    SCOPED_TRACE(what);
    const bool on_terminal = signals.empty();
    int terminal = -1;
    const pid_t pid = on_terminal ? stopped.StartOnTerminal({"run", "study.textproto", "--jobs=1"}, &terminal)
                                  : stopped.Start({"run", "study.textproto", "--jobs=1"});
    std::vector<pid_t> workers;
    for (int waits = 0; waits < 3000 && workers.empty(); ++waits) {
      usleep(10000);
      workers = ChildrenOf(pid);
    }
    ASSERT_FALSE(workers.empty());
    for (const int signal : signals) kill(pid, signal);
    if (on_terminal) close(terminal);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    for (const pid_t worker : workers) EXPECT_TRUE(kill(worker, 0) != 0 && errno == ESRCH) << worker;
    if (!on_terminal) {
      EXPECT_THAT(stopped.Read("err.txt"), HasSubstr("the same command continues from here"));
    }
    const std::vector<std::string> claims = *ListFolder(stopped.store() + "/running");
    EXPECT_THAT(claims, IsEmpty());
  }
  ASSERT_EQ(stopped.Run({"run", "study.textproto"}).exit_code, 0) << stopped.Read("err.txt");
  EXPECT_EQ(stopped.Records(), undisturbed.Records());
}

}  // namespace
}  // namespace openset
