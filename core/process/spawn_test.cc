#include "core/process/spawn.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

ProcessEnd EndOf(const std::string& command, const SpawnOptions& options = {}) {
  const absl::StatusOr<pid_t> child = Spawn({"sh", "-c", command}, options);
  EXPECT_TRUE(child.ok()) << child.status();
  return WaitForEnd(*child);
}

TEST(Spawn, TellsHowAProcessEnded) {
  const ProcessEnd good = EndOf("exit 0");
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.ToStatus("sh"), absl::OkStatus());

  const ProcessEnd failed = EndOf("exit 3");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.signal, 0);
  EXPECT_EQ(failed.Text(), "exited with 3");
  EXPECT_EQ(failed.ToStatus("sh"), absl::AbortedError("sh exited with 3"));
  EXPECT_EQ(failed.ToStatus(), absl::AbortedError("exited with 3"));

  const ProcessEnd killed = EndOf("kill -9 $$");
  EXPECT_FALSE(killed.ok());
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.exit_code, 0);
  EXPECT_FALSE(killed.dumped_core);
  EXPECT_EQ(killed.Text(), "was killed by signal 9 (Killed)");
}

TEST(Spawn, ReportsResourceUsage) { EXPECT_GT(EndOf("exit 0").usage.ru_maxrss, 0); }

TEST(Spawn, PassesDescriptorsAndVariablesButNoInput) {
  SpawnOptions options;
  options.output = memfd_create("out", MFD_CLOEXEC);
  options.error = options.output;
  options.channel = memfd_create("channel", MFD_CLOEXEC);
  options.environment = {{"OPENSET_TEST", "value"}};
  setenv("OPENSET_TEST", "replaced", 1);
  EXPECT_TRUE(EndOf("echo $OPENSET_TEST; echo err >&2; echo to us >&3; cat", options).ok());
  const auto content = [](int file) {
    char text[100] = "";
    EXPECT_GT(pread(file, text, sizeof(text) - 1, 0), 0);
    return std::string(text);
  };
  EXPECT_EQ(content(options.output), "value\nerr\n");
  EXPECT_EQ(content(options.channel), "to us\n");
  close(options.output);
  close(options.channel);
}

TEST(Spawn, MakesItsOwnProcessGroup) {
  SpawnOptions options;
  options.has_own_group = true;
  const absl::StatusOr<pid_t> child = Spawn({"sleep", "1000"}, options);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(getpgid(*child), *child);
  EXPECT_FALSE(WaitForEnd(*child, absl::Milliseconds(1)).has_value());
  EXPECT_EQ(kill(-*child, SIGTERM), 0);
  EXPECT_EQ(WaitForEnd(*child).signal, SIGTERM);
}

TEST(Spawn, NamesAProgramThatCannotStart) {
  EXPECT_EQ(Spawn({"/nowhere/program"}).status(),
            absl::NotFoundError("cannot start /nowhere/program: No such file or directory"));
  EXPECT_EQ(Spawn({"no-such-program"}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace openset
