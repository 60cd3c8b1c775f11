#include "experiments/engine/slurm/slurm_client.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(SlurmClient, ReadsTheQueue) {
  // Output of squeue of Slurm 22.05; a job that is not an array has the index N/A.
  const auto queue = ParseQueue("12|0|RUNNING\n12|1|PENDING\n  13|7|COMPLETING\n14|N/A|RUNNING\n");
  ASSERT_TRUE(queue.ok()) << queue.status();
  EXPECT_EQ(queue->size(), 3);
  EXPECT_EQ(queue->at({"12", 0}), "RUNNING");
  EXPECT_EQ(queue->at({"12", 1}), "PENDING");
  EXPECT_EQ(queue->at({"13", 7}), "COMPLETING");
  EXPECT_TRUE(ParseQueue("")->empty());
  EXPECT_TRUE(absl::IsUnavailable(ParseQueue("slurm_load_jobs error").status()));
}

// These errors must not count as failures of an action.
TEST(SlurmClient, ErrorsAreOneLine) {
  const std::string folder = ::testing::TempDir() + "/bin";
  std::filesystem::create_directories(folder);
  const auto install = [&](const std::string& name, const std::string& script) {
    std::ofstream(folder + "/" + name) << "#!/bin/sh\n" << script << " >&2\nexit 1\n";
    std::filesystem::permissions(folder + "/" + name, std::filesystem::perms::owner_all);
  };
  install("squeue", "printf 'error: Unable to\\nfatal: contact slurm controller\\n'");
  install("sbatch", "echo error: invalid partition");
  setenv("PATH", folder.c_str(), 1);
  EXPECT_EQ(SlurmClient().Queue().status(),
            absl::UnavailableError("squeue exited with 1: error: Unable to fatal: contact slurm controller"));
  EXPECT_EQ(SlurmClient().Submit({}, "script").status(),
            absl::FailedPreconditionError("sbatch exited with 1: error: invalid partition"));
  EXPECT_TRUE(absl::IsNotFound(SlurmClient().Cancel({"1"})));  // no scancel
}

TEST(SlurmClient, ReadsTheAccounts) {
  const auto ended =
      ParseAccounts("12_0|COMPLETED\n12_0.batch|COMPLETED\n12_1|CANCELLED by 0\n12_[2-9]|PENDING\n15|FAILED\n");
  EXPECT_EQ(ended.size(), 2);
  EXPECT_EQ(ended.at({"12", 0}), "COMPLETED");
  EXPECT_EQ(ended.at({"12", 1}), "CANCELLED");
}

}  // namespace
}  // namespace openset
