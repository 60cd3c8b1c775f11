#include "experiments/worker/action_log.h"

#include <unistd.h>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/action.proto.h"

namespace openset {
namespace {

void Write(const std::string& text) {
  ASSERT_EQ(write(STDERR_FILENO, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(ActionLogPath, IsOfTrainingsAndInferences) {
  WorkRequest request;
  request.set_store("/store");
  request.set_key("ab12");
  EXPECT_EQ(ActionLogPath(request), "");
  request.mutable_action()->mutable_evaluate();
  EXPECT_EQ(ActionLogPath(request), "");
  request.mutable_action()->mutable_infer();
  EXPECT_EQ(ActionLogPath(request), "/store/logs/ab12.log");
  request.mutable_action()->mutable_train();
  EXPECT_EQ(ActionLogPath(request), "/store/logs/ab12.log");
}

TEST(ActionLog, AppendsTheOutputOfEachAttempt) {
  const std::string folder = ::testing::TempDir();
  const std::string around = JoinPath(folder, "around.log"), path = JoinPath(folder, "action.log");
  {
    const ActionLog outer(around);
    Write("before\n");
    for (const char* attempt : {"first\n", "second\n"}) {
      const ActionLog log(path);
      Write(attempt);
    }
    Write("between\n");
    {
      const ActionLog own("");
      Write("own\n");
    }
    Write("after\n");
  }
  EXPECT_EQ(ReadFile(path).value(), "first\nsecond\n");
  EXPECT_EQ(ReadFile(around).value(), "before\nbetween\nown\nafter\n");
}

TEST(ActionLog, EmptyLogsAreRemoved) {
  const std::string path = JoinPath(::testing::TempDir(), "empty.log");
  { const ActionLog log(path); }
  EXPECT_FALSE(FileExists(path));
}

TEST(ActionLog, KeepsStandardErrorIfItCannotBeWritten) {
  const std::string around = JoinPath(::testing::TempDir(), "kept.log");
  {
    const ActionLog outer(around);
    const ActionLog log(JoinPath(::testing::TempDir(), "no/such/folder.log"));
    Write("kept\n");
  }
  EXPECT_EQ(ReadFile(around).value(), "kept\n");
}

}  // namespace
}  // namespace openset
