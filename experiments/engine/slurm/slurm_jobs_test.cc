

#include "experiments/engine/slurm/slurm_jobs.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
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

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kName[] = "openset-study-0123-abcdef-0000";

// Files that other users may have put into slurm/ of a store.
class SlurmJobsTest : public ::testing::Test {
 protected:
  SlurmJobsTest()
      : store_(JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name())),
        base_(absl::StrCat(store_.folder(), "/slurm/", kName)) {
    fs::remove_all(store_.folder());
    fs::create_directories(store_.folder() + "/slurm");
  }

  static SlurmArray Sound() {
    SlurmArray array;
    array.set_name(kName);
    array.set_experiment("study");
    array.set_program(std::string(64, 'a'));
    array.set_launch(std::string(64, 'b'));
    array.set_pilots(2);
    array.mutable_seat()->set_cpus(1);
    return array;
  }

  void Put(const SlurmArray& array, const std::string& job) const {
    ASSERT_THAT(WriteFileAtomically(base_ + ".rec", EncodeRecord(array)), IsOk());
    ASSERT_THAT(WriteFileAtomically(base_ + ".job", job), IsOk());
  }

  const Store store_;
  const std::string base_;
};

TEST_F(SlurmJobsTest, FindsArraysThatSubmitArrayWrote) {
  Put(Sound(), "1234\n");
  ASSERT_THAT(ArraysInStore(store_, "study"), SizeIs(1));
  EXPECT_EQ(ArraysInStore(store_, "study")[0].job, "1234");
  EXPECT_THAT(ArraysInStore(store_, "other"), IsEmpty());
  EXPECT_THAT(*ProgramsInUse(store_), ElementsAre(std::string(64, 'a')));
}

TEST_F(SlurmJobsTest, SkipsArraysThatItCannotHaveWritten) {
  const std::vector<std::function<void(SlurmArray*)>> forgeries = {
      [](SlurmArray* array) { array->set_name("openset-study-0123-abcdef-0001"); },
      [](SlurmArray* array) { array->clear_name(); },
      [](SlurmArray* array) { array->set_launch("../../../etc/passwd"); },
      [](SlurmArray* array) { array->clear_launch(); },
      [](SlurmArray* array) { array->set_pilots(0); },
      [](SlurmArray* array) { array->set_pilots(2000000000); },
      [](SlurmArray* array) { array->mutable_seat()->set_cpus(-1); },
      [](SlurmArray* array) { array->mutable_seat()->set_memory_mb(-1); },
      [](SlurmArray* array) { array->set_program("../../bin"); }};
  for (size_t f = 0; f < forgeries.size(); ++f) {
    SlurmArray array = Sound();
    forgeries[f](&array);
    Put(array, "1\n");
    EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty()) << f;
    EXPECT_THAT(*ProgramsInUse(store_), IsEmpty()) << f;
  }
  // A user's own job, which 'openset cancel' would end.
  SlurmArray array = Sound();
  array.set_name("my-simulation");
  ASSERT_THAT(WriteFileAtomically(store_.folder() + "/slurm/my-simulation.rec", EncodeRecord(array)), IsOk());
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
}

TEST_F(SlurmJobsTest, JobsMustBeNumbers) {
  for (const std::string& job : {std::string("--me"), std::string("12;rm"), std::string("1 2"), std::string("1\n2"),
                                 std::string("-1"), std::string(200, '1'), std::string("1_3")}) {
    Put(Sound(), job);
    ASSERT_THAT(ArraysInStore(store_, "study"), SizeIs(1)) << job;
    EXPECT_EQ(ArraysInStore(store_, "study")[0].job, "") << job;
  }
}

TEST_F(SlurmJobsTest, SkipsEntriesThatAreNotFiles) {
  ASSERT_EQ(mkfifo((base_ + ".rec").c_str(), 0666), 0);
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
  fs::remove(base_ + ".rec");
  Put(Sound(), "");
  fs::remove(base_ + ".job");
  ASSERT_EQ(mkfifo((base_ + ".job").c_str(), 0666), 0);
  EXPECT_EQ(ArraysInStore(store_, "study")[0].job, "");
  fs::resize_file(base_ + ".rec", int64_t{1} << 40);
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
}

TEST_F(SlurmJobsTest, ALaunchIsWhatWasWritten) {
  SlurmLaunch launch;
  launch.add_record(std::string(64, 'c'));
  const absl::StatusOr<std::string> sha256 = WriteLaunch(store_, launch);
  ASSERT_THAT(sha256, IsOk());
  EXPECT_EQ(LoadLaunch(store_, *sha256)->record_size(), 1);
  launch.add_record("../../../etc/passwd");
  const absl::StatusOr<std::string> unsound = WriteLaunch(store_, launch);
  ASSERT_THAT(unsound, IsOk());
  EXPECT_TRUE(absl::IsDataLoss(LoadLaunch(store_, *unsound).status()));
  fs::copy_file(absl::StrCat(store_.folder(), "/slurm/launch-", *unsound, ".rec"),
                absl::StrCat(store_.folder(), "/slurm/launch-", *sha256, ".rec"), fs::copy_options::overwrite_existing);
  EXPECT_TRUE(absl::IsDataLoss(LoadLaunch(store_, *sha256).status()));
  EXPECT_TRUE(absl::IsNotFound(LoadLaunch(store_, std::string(64, 'd')).status()));
}

TEST(TaskScript, PilotsRunOnTheirSeat) {
  SubmitOptions options;
  SlurmSeat seat;
  seat.set_gpu(true);
  seat.set_cpus(6);
  const std::string script = TaskScript(options, seat, "/array.rec");
  for (const char* word : {"'--jobs=6'", "'--devices=cuda:0'", "'--slurm_task=/array.rec'", "'--only='", "'--redo='"}) {
    EXPECT_THAT(script, HasSubstr(word));
  }
  EXPECT_THAT(SbatchOptions(options, seat, 3, kName, "/logs"),
              testing::IsSupersetOf({"--cpus-per-task=6", "--gres=gpu:1", "--array=0-2"}));
  seat.set_gpu(false);
  EXPECT_THAT(TaskScript(options, seat, "/array.rec"), HasSubstr("'--devices=cpu'"));
}

}  // namespace
}  // namespace openset
