#include "tools/cli/flags/deploy_flags.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/flags/flag.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeployFlagsTest : public ::testing::Test {
 protected:
  DeployFlagsTest() : file_(testing::TempDir() + "deploy.textproto") { std::filesystem::remove(file_); }
  ~DeployFlagsTest() override {
    absl::SetFlag(&FLAGS_deploy, std::nullopt);
    absl::SetFlag(&FLAGS_store, std::nullopt);
    absl::SetFlag(&FLAGS_data, std::nullopt);
    absl::SetFlag(&FLAGS_devices, std::nullopt);
    absl::SetFlag(&FLAGS_engine, std::nullopt);
    absl::SetFlag(&FLAGS_worker, std::nullopt);
    absl::SetFlag(&FLAGS_jobs, std::nullopt);
    absl::SetFlag(&FLAGS_private, std::nullopt);
  }

  void Give(const std::string& text) const {
    std::ofstream(file_) << text;
    absl::SetFlag(&FLAGS_deploy, file_);
  }

  // The message, with DIR instead of the test's folder.
  std::string Error(const absl::Status& status) const {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    std::string text(status.message());
    const std::string folder = std::filesystem::path(file_).parent_path().string();
    if (const size_t at = text.find(folder); at != std::string::npos) text.replace(at, folder.size(), "DIR");
    return text;
  }

  const std::string file_;
};

TEST_F(DeployFlagsTest, Defaults) {
  const Deployment deployment = *DeploymentFromFlags();
  EXPECT_EQ(deployment.spec.store(), std::filesystem::current_path().string() + "/openset-store");
  EXPECT_EQ(deployment.spec.jobs(), 0);
  EXPECT_EQ(deployment.spec.engine(), DeploySpec::LOCAL);
  EXPECT_EQ(deployment.spec.devices(), "auto");
  EXPECT_EQ(deployment.spec.actions_per_gpu(), 1);
  EXPECT_EQ(deployment.spec.memory_mb(), 0);
  EXPECT_FALSE(deployment.spec.has_worker());
}

TEST_F(DeployFlagsTest, OnlyTheUserCanReadAPrivateStore) {
  const mode_t before = umask(022);
  const std::string folder = testing::TempDir() + "private";
  std::filesystem::remove_all(folder);
  absl::SetFlag(&FLAGS_store, folder);
  absl::SetFlag(&FLAGS_private, true);
  ASSERT_TRUE(StoreFromFlags(StoreUse::kMayMake).ok());
  EXPECT_EQ(umask(022), 077u);
  // A store that others can read is refused, with advice.
  std::filesystem::create_directory(folder);
  const absl::Status open = StoreFromFlags(StoreUse::kMayMake).status();
  EXPECT_EQ(open.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(open.message(),
            "--private: other users can read the store " + folder + "; 'chmod -R go= " + folder + "' makes it private");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  EXPECT_TRUE(StoreFromFlags(StoreUse::kMayMake).ok());
  // Also if the file sets it.
  absl::SetFlag(&FLAGS_private, std::nullopt);
  Give("private: true");
  umask(022);
  EXPECT_TRUE(StoreFromFlags(StoreUse::kRead).ok());
  EXPECT_EQ(umask(before), 077u);
}

TEST_F(DeployFlagsTest, TheFileIsReadAndItsPathsStartAtItsFolder) {
  Give(
      "store: 'results' data_folder: ['d1', '/d2'] jobs: 3 devices: 'cpu' worker: 'bin/../worker' actions_per_gpu: 2 "
      "memory_mb: 4000 memory { train_mb: 1500 }");
  const DeploySpec spec = DeploymentFromFlags()->spec;
  const std::string folder = std::filesystem::path(file_).parent_path().string();
  EXPECT_EQ(spec.store(), folder + "/results");
  EXPECT_EQ(StoreFromFlags(StoreUse::kRead)->folder(), folder + "/results");
  EXPECT_THAT(spec.data_folder(), ElementsAre(folder + "/d1", "/d2"));
  EXPECT_EQ((*DataFoldersFromFlags())[0], folder + "/d1");
  EXPECT_EQ(spec.jobs(), 3);
  EXPECT_EQ(spec.worker(), folder + "/worker");
  EXPECT_EQ(spec.actions_per_gpu(), 2);
  EXPECT_EQ(spec.memory_mb(), 4000);
  EXPECT_EQ(spec.memory().train_mb(), 1500);
  EXPECT_EQ(spec.memory().infer_mb(), 0);
}

TEST_F(DeployFlagsTest, FlagsOverrideTheFileEvenWithTheirDefaults) {
  Give("store: 'results' data_folder: ['d1', 'd2'] jobs: 3 devices: 'cuda:99'");
  absl::SetFlag(&FLAGS_store, "openset-store");
  absl::SetFlag(&FLAGS_data, "/other");
  absl::SetFlag(&FLAGS_jobs, 0);
  absl::SetFlag(&FLAGS_devices, "cpu");
  const DeploySpec spec = DeploymentFromFlags()->spec;
  EXPECT_EQ(spec.store(), std::filesystem::current_path().string() + "/openset-store");
  EXPECT_THAT(spec.data_folder(), ElementsAre("/other"));
  EXPECT_EQ(spec.jobs(), 0);
  EXPECT_TRUE(DevicesFromFlags()->cuda.empty());
}

TEST_F(DeployFlagsTest, ErrorsNameTheFileAndLineOrTheFlag) {
  Give("jobs: 2\n\njob: 1");
  EXPECT_THAT(Error(DeploymentFromFlags().status()), HasSubstr("DIR/deploy.textproto:3:"));
  Give("store: 's'\njobs: -1");
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "DIR/deploy.textproto:2: jobs: must be at least 0 (is -1)");
  Give("\ndevices: 'gpu'");
  EXPECT_EQ(Error(DevicesFromFlags().status()),
            "DIR/deploy.textproto:2: devices: 'gpu' is not auto, cpu or cuda:0,1,...");
  Give("memory_mb: 100");
  EXPECT_EQ(Error(DeploymentFromFlags().status()),
            "DIR/deploy.textproto:1: memory_mb: set actions' memory too: memory { train_mb: ... } or "
            "memory_per_slot_mb: ...");
  Give("\nmemory { infer_mb: 3 }");
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "DIR/deploy.textproto:2: memory: set the total too: memory_mb: ...");
  Give("actions_per_gpu: 0");
  EXPECT_EQ(Error(DeploymentFromFlags().status()),
            "DIR/deploy.textproto:1: actions_per_gpu: must be at least 1 (is 0)");

  Give("devices: 'cpu'");
  absl::SetFlag(&FLAGS_devices, "gpu");
  EXPECT_EQ(Error(DevicesFromFlags().status()), "--devices: 'gpu' is not auto, cpu or cuda:0,1,...");
  absl::SetFlag(&FLAGS_jobs, -1);
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "--jobs: must be at least 0 (is -1)");
  absl::SetFlag(&FLAGS_jobs, 1);
  absl::SetFlag(&FLAGS_engine, "slurmm");
  EXPECT_THAT(Error(DeploymentFromFlags().status()), HasSubstr("--engine: unknown engine 'slurmm'"));
  absl::SetFlag(&FLAGS_engine, "slurm");
  EXPECT_EQ(DeploymentFromFlags()->spec.engine(), DeploySpec::SLURM);
  absl::SetFlag(&FLAGS_engine, std::nullopt);
  absl::SetFlag(&FLAGS_keep_going, false);
  EXPECT_EQ(DeploymentFromFlags()->spec.max_failures(), 1);
  absl::SetFlag(&FLAGS_max_failures, 3);
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "--nokeep_going: can't be combined with --max_failures=3");
  absl::SetFlag(&FLAGS_keep_going, std::nullopt);
  EXPECT_EQ(DeploymentFromFlags()->spec.max_failures(), 3);
  absl::SetFlag(&FLAGS_max_failures, std::nullopt);
  absl::SetFlag(&FLAGS_retries, -1);
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "--retries: must be at least 0 (is -1)");
  absl::SetFlag(&FLAGS_retries, 101);
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "--retries: must be at most 100 (is 101)");
  absl::SetFlag(&FLAGS_retries, std::nullopt);
  absl::SetFlag(&FLAGS_memory_per_slot, -2);
  EXPECT_EQ(Error(DeploymentFromFlags().status()), "--memory_per_slot: must be at least 0 (is -2)");
  absl::SetFlag(&FLAGS_memory_per_slot, std::nullopt);
  absl::SetFlag(&FLAGS_deploy, "/nowhere.textproto");
  EXPECT_TRUE(absl::IsNotFound(StoreFromFlags(StoreUse::kRead).status()));
  EXPECT_THAT(std::string(StoreFromFlags(StoreUse::kRead).status().message()), HasSubstr("/nowhere.textproto"));
}

}  // namespace
}  // namespace openset
