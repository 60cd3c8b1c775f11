#include "tools/cli/flags/run_config.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/bundle.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

class RunConfigTest : public ::testing::Test {
 protected:
  RunConfigTest() : file_(testing::TempDir() + "deploy.textproto") { std::filesystem::remove(file_); }

  // Writes the --deploy file of the next configurations.
  void Give(const std::string& text) const { std::ofstream(file_) << text; }

  // From flags, by their names.
  absl::StatusOr<RunConfig> Make(std::map<std::string, std::string> flags = {}) const {
    if (FileExists(file_)) flags.emplace("deploy", file_);
    RunConfig config;
    for (const auto& [name, text] : flags) {
      std::string error;
      EXPECT_TRUE(FindFlag(name).parse(text, &config, &error)) << name << ": " << error;
      config.given.insert(name);
    }
    OPENSET_RETURN_IF_ERROR(Deploy(&config));
    return config;
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

TEST_F(RunConfigTest, Defaults) {
  const RunConfig config = *Make();
  const DeploySpec& spec = config.deployment;
  EXPECT_EQ(spec.store(), std::filesystem::current_path().string() + "/openset-store");
  EXPECT_EQ(spec.jobs(), 0);
  EXPECT_EQ(spec.engine(), DeploySpec::LOCAL);
  EXPECT_EQ(spec.devices(), "auto");
  EXPECT_EQ(spec.actions_per_gpu(), 1);
  EXPECT_EQ(spec.memory_mb(), 0);
  EXPECT_FALSE(spec.has_worker());
}

TEST_F(RunConfigTest, OnlyTheUserCanReadAPrivateStore) {
  const mode_t before = umask(022);
  const std::string folder = testing::TempDir() + "private";
  std::filesystem::remove_all(folder);
  const RunConfig config = *Make({{"store", folder}, {"private", "true"}});
  ASSERT_TRUE(OpenStore(config, StoreUse::kMayMake).ok());
  EXPECT_EQ(umask(022), 077u);
  // A store that others can read is refused, with advice.
  std::filesystem::create_directory(folder);
  const absl::Status open = OpenStore(config, StoreUse::kMayMake).status();
  EXPECT_EQ(open.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(open.message(),
            "--private: other users can read the store " + folder + "; 'chmod -R go= " + folder + "' makes it private");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  EXPECT_TRUE(OpenStore(config, StoreUse::kMayMake).ok());
  // Also if the file sets it.
  Give("private: true");
  umask(022);
  EXPECT_TRUE(OpenStore(*Make({{"store", folder}}), StoreUse::kRead).ok());
  EXPECT_EQ(umask(before), 077u);
}

TEST_F(RunConfigTest, ABundleIsAStoreThatNobodyChanges) {
  const std::string folder = testing::TempDir() + "pets", path = folder + "/pets.zip";
  std::filesystem::remove_all(folder);
  const Store store(folder + "/store");
  const TrialRecord record = TestRecord(TestKey("abcd"), "m", 0, 0.5);
  ASSERT_TRUE(store.CommitRecord(record).ok());
  ASSERT_TRUE(WriteBundle(store, {record.trial_id()}, path).ok());
  RunConfig config;
  for (const std::string& argument : {path, folder, folder + "/"}) {
    config = *Make();
    EXPECT_TRUE(UseBundle(argument, &config).value()) << argument;
    EXPECT_TRUE(UseBundle(argument, &config).value()) << argument;  // again
    EXPECT_EQ(config.deployment.store(), path);
  }
  EXPECT_FALSE(UseBundle("pets", &config).value());
  EXPECT_EQ(BundleOf(store.folder()), "");
  std::filesystem::create_directories(folder + "/none");
  std::ofstream(folder + "/none.md") << "no bundle";
  std::filesystem::create_directories(folder + "/cats");
  std::filesystem::copy(path, folder + "/cats/pets.zip");
  std::filesystem::create_directories(folder + "/two");
  for (const char* name : {"/two/a.zip", "/two/b.zip", "/pets.bundle"}) std::filesystem::copy(path, folder + name);
  // A renamed file is a bundle by its last line, a renamed folder has one.
  std::ofstream(folder + "/cats/other.zip") << "no bundle";
  EXPECT_EQ(BundleOf(folder + "/pets.bundle"), folder + "/pets.bundle");
  EXPECT_EQ(BundleOf(folder + "/cats"), folder + "/cats/pets.zip");
  EXPECT_EQ(BundleOf(folder + "/cats/"), folder + "/cats/pets.zip");
  const std::pair<std::string, std::string> wrong[] = {
      {store.folder(), "is a store: give it by --store="},
      {folder + "/none/", "is a folder without a bundle none.zip"},
      {folder + "/two", "is a folder without a bundle two.zip: it has b.zip: name that file, or give the folder"},
      {folder + "/none.md", "is not a bundle (BUNDLE.zip)"},
      {folder + "/gone", "no such file"},
  };
  for (const auto& [argument, message] : wrong) {
    RunConfig other = *Make();
    EXPECT_THAT(UseBundle(argument, &other).status().message(), HasSubstr(argument + ": " + message));
  }
  for (const char* other : {"auroc>0.9", "tag~a/b", "studies/missing.textproto"}) {
    RunConfig unchanged = *Make();
    EXPECT_FALSE(UseBundle(other, &unchanged).value()) << other;
  }
  for (const StoreUse use : {StoreUse::kRecords, StoreUse::kRead}) {
    EXPECT_THAT(AllRecordIds(OpenStore(config, use).value()), ElementsAre(record.trial_id()));
    EXPECT_THAT(AllRecordIds(OpenStore(*Make({{"store", path}}), use).value()), ElementsAre(record.trial_id()));
  }
  for (const StoreUse use : {StoreUse::kChange, StoreUse::kMayMake}) {
    EXPECT_EQ(OpenStore(config, use).status(), BundleIsReadOnly(path));
  }
  config = *Make({{"store", "other"}});
  EXPECT_THAT(UseBundle(path, &config).status().message(), HasSubstr("--store: " + path));
}

TEST_F(RunConfigTest, TheFileIsReadAndItsPathsStartAtItsFolder) {
  Give(
      "store: 'results' data_folder: ['d1', '/d2'] jobs: 3 devices: 'cpu' worker: 'bin/../worker' actions_per_gpu: 2 "
      "memory_mb: 4000 memory { train_mb: 1500 }");
  const RunConfig config = *Make();
  const DeploySpec& spec = config.deployment;
  const std::string folder = std::filesystem::path(file_).parent_path().string();
  EXPECT_EQ(spec.store(), folder + "/results");
  EXPECT_EQ(OpenStore(config, StoreUse::kRead)->folder(), folder + "/results");
  EXPECT_THAT(spec.data_folder(), ElementsAre(folder + "/d1", "/d2"));
  EXPECT_EQ(config.data_folders[0], folder + "/d1");
  EXPECT_EQ(spec.jobs(), 3);
  EXPECT_EQ(spec.worker(), folder + "/worker");
  EXPECT_EQ(spec.actions_per_gpu(), 2);
  EXPECT_EQ(spec.memory_mb(), 4000);
  EXPECT_EQ(spec.memory().train_mb(), 1500);
  EXPECT_EQ(spec.memory().infer_mb(), 0);
}

TEST_F(RunConfigTest, FlagsOverrideTheFileEvenWithTheirDefaults) {
  Give("store: 'results' data_folder: ['d1', 'd2'] jobs: 3 devices: 'cuda:99'");
  const RunConfig config = *Make({{"store", "openset-store"}, {"data", "/other"}, {"jobs", "0"}, {"devices", "cpu"}});
  const DeploySpec& spec = config.deployment;
  EXPECT_EQ(spec.store(), std::filesystem::current_path().string() + "/openset-store");
  EXPECT_THAT(spec.data_folder(), ElementsAre("/other"));
  EXPECT_EQ(spec.jobs(), 0);
  EXPECT_TRUE(FindDevices(config)->cuda.empty());
}

TEST_F(RunConfigTest, ErrorsNameTheFileAndLineOrTheFlag) {
  Give("jobs: 2\n\njob: 1");
  EXPECT_THAT(Error(Make().status()), HasSubstr("DIR/deploy.textproto:3:"));
  Give("store: 's'\njobs: -1");
  EXPECT_EQ(Error(Make().status()), "DIR/deploy.textproto:2: jobs: must be at least 0 (is -1)");
  Give("\ndevices: 'gpu'");
  EXPECT_EQ(Error(FindDevices(*Make()).status()),
            "DIR/deploy.textproto:2: devices: 'gpu' is not auto, cpu or cuda:0,1,...");
  Give("memory_mb: 100");
  EXPECT_EQ(Error(Make().status()),
            "DIR/deploy.textproto:1: memory_mb: set actions' memory too: memory { train_mb: ... } or "
            "memory_per_slot_mb: ...");
  Give("\nmemory { infer_mb: 3 }");
  EXPECT_EQ(Error(Make().status()), "DIR/deploy.textproto:2: memory: set the total too: memory_mb: ...");
  Give("actions_per_gpu: 0");
  EXPECT_EQ(Error(Make().status()), "DIR/deploy.textproto:1: actions_per_gpu: must be at least 1 (is 0)");

  Give("devices: 'cpu'");
  EXPECT_EQ(Error(FindDevices(*Make({{"devices", "gpu"}})).status()),
            "--devices: 'gpu' is not auto, cpu or cuda:0,1,...");
  const auto error = [this](const std::map<std::string, std::string>& flags) { return Error(Make(flags).status()); };
  EXPECT_EQ(error({{"jobs", "-1"}}), "--jobs: must be at least 0 (is -1)");
  EXPECT_THAT(error({{"engine", "slurmm"}}), HasSubstr("--engine: unknown engine 'slurmm'"));
  EXPECT_EQ(Make({{"engine", "slurm"}})->deployment.engine(), DeploySpec::SLURM);
  EXPECT_EQ(Make({{"keep_going", "false"}})->deployment.max_failures(), 1);
  EXPECT_EQ(error({{"keep_going", "false"}, {"max_failures", "3"}}),
            "--nokeep_going: can't be combined with --max_failures=3");
  EXPECT_EQ(Make({{"max_failures", "3"}})->deployment.max_failures(), 3);
  EXPECT_EQ(error({{"retries", "-1"}}), "--retries: must be at least 0 (is -1)");
  EXPECT_EQ(error({{"retries", "101"}}), "--retries: must be at most 100 (is 101)");
  EXPECT_EQ(error({{"memory_per_slot", "-2"}}), "--memory_per_slot: must be at least 0 (is -2)");
  const absl::Status missing = Make({{"deploy", "/nowhere.textproto"}}).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nowhere.textproto"));
}

}  // namespace
}  // namespace openset
