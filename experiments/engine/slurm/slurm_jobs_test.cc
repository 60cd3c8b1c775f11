#include "experiments/engine/slurm/slurm_jobs.h"

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "experiments/action/action.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kName[] = "openset-study-0123-abcdef-0000";

// What others may have put into slurm/ of a store.
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
    array.add_task()->add_key(std::string(64, 'b'));
    return array;
  }

  void Put(const SlurmArray& array, const std::string& job) const {
    ASSERT_THAT(WriteFileAtomically(base_ + ".rec", EncodeRecord(array)), IsOk());
    ASSERT_THAT(WriteFileAtomically(base_ + ".job", job), IsOk());
  }

  const Store store_;
  const std::string base_;
};

TEST_F(SlurmJobsTest, WhatSubmitArrayWritesIsFound) {
  Put(Sound(), "1234\n");
  ASSERT_THAT(ArraysInStore(store_, "study"), SizeIs(1));
  EXPECT_EQ(ArraysInStore(store_, "study")[0].job, "1234");
  EXPECT_THAT(ArraysInStore(store_, "other"), IsEmpty());
  EXPECT_THAT(ProgramsInUse(store_), ElementsAre(std::string(64, 'a')));
}

TEST_F(SlurmJobsTest, ArraysThatItCannotHaveWrittenAreLeftOut) {
  const std::vector<std::function<void(SlurmArray*)>> forgeries = {
      [](SlurmArray* array) { array->set_name("openset-study-0123-abcdef-0001"); },
      [](SlurmArray* array) { array->clear_name(); },
      [](SlurmArray* array) { array->mutable_task(0)->set_key(0, "../../../etc/passwd"); },
      [](SlurmArray* array) { array->mutable_task(0)->add_key(""); },
      [](SlurmArray* array) { array->set_program("../../bin"); }};
  for (size_t f = 0; f < forgeries.size(); ++f) {
    SlurmArray array = Sound();
    forgeries[f](&array);
    Put(array, "1\n");
    EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty()) << f;
    EXPECT_THAT(ProgramsInUse(store_), IsEmpty()) << f;
  }
  // Somebody's own job, that 'openset cancel' would end.
  SlurmArray array = Sound();
  array.set_name("my-simulation");
  ASSERT_THAT(WriteFileAtomically(store_.folder() + "/slurm/my-simulation.rec", EncodeRecord(array)), IsOk());
  EXPECT_THAT(ArraysInStore(store_, "study"), IsEmpty());
}

TEST_F(SlurmJobsTest, OnlyANumberIsAJob) {
  for (const std::string& job : {std::string("--me"), std::string("12;rm"), std::string("1 2"), std::string("1\n2"),
                                 std::string("-1"), std::string(200, '1'), std::string("1_3")}) {
    Put(Sound(), job);
    ASSERT_THAT(ArraysInStore(store_, "study"), SizeIs(1)) << job;
    EXPECT_EQ(ArraysInStore(store_, "study")[0].job, "") << job;
  }
}

TEST_F(SlurmJobsTest, WhatIsNoFileIsLeftOut) {
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

// Besides the thread that starts the GPU's operations others make batches, compute gradients and decode images.
TEST(SbatchOptions, AJobOnAGpuHasFourCpusOrMore) {
  SubmitOptions options;
  const auto cpus_of = [&](int gpu_shares, int cpu_threads) {
    PlannedArray array;
    array.tasks = {{ActionId{0}}};
    array.demand.gpu_shares = gpu_shares;
    array.demand.cpu_threads = cpu_threads;
    std::string cpus;
    for (const std::string& word : SbatchOptions(options, array, kName, "/logs", {})) {
      if (absl::StartsWith(word, "--cpus-per-task=")) cpus = word.substr(word.find('=') + 1);
    }
    EXPECT_THAT(TaskScript(options, array, "/array.rec"), HasSubstr(absl::StrCat("'--jobs=", cpus, "'")));
    return cpus;
  };
  EXPECT_EQ(cpus_of(0, 0), "1");
  EXPECT_EQ(cpus_of(0, 3), "3");
  EXPECT_EQ(cpus_of(1, 0), "4");
  EXPECT_EQ(cpus_of(1, 6), "6");
  options.slurm.set_cpus_per_gpu_job(12);
  EXPECT_EQ(cpus_of(1, 0), "12");
  EXPECT_EQ(cpus_of(0, 0), "1");
}

}  // namespace
}  // namespace openset
