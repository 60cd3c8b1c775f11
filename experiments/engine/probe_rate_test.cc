#include "experiments/engine/probe_rate.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// See experiments/testing/fake_worker.cc: it reports 100 images per second at once, except for these seeds.
constexpr int kErrorSeed = 103;
constexpr int kHangSeed = 104;
constexpr int kCrashSeed = 101;

class ProbeRateTest : public ::testing::Test {
 protected:
  ProbeRateTest() : folder_(absl::StrCat(testing::TempDir(), "/probe")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
    options_.trainer = {*RunfilesFolder() + "/openset/experiments/testing/fake_worker"};
    options_.capacity.cpu_threads = 2;
  }

  absl::StatusOr<double> Rate(int seed, int at_once, absl::Duration limit = absl::Minutes(1)) {
    TrainAction action;
    action.set_seed(seed);
    return ProbeRate(action, at_once, -1, options_, limit);
  }

  std::string folder_;
  LocalEngineOptions options_;
};

TEST_F(ProbeRateTest, IsTheSmallestRateOfTheWorkers) {
  EXPECT_THAT(Rate(0, 1), IsOkAndHolds(100));
  EXPECT_THAT(Rate(0, 2), IsOkAndHolds(100));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// Predictable names would let others plant links to files elsewhere.
TEST_F(ProbeRateTest, DoesNotWriteThroughLinksOfOthers) {
  const std::string target = absl::StrCat(testing::TempDir(), "/target");
  std::filesystem::create_directories(target);
  const std::string guess = TemporaryName(JoinPath(folder_, "openset-probe"));
  const size_t dot = guess.rfind('.');
  for (int n = 0; n < 50; ++n) {
    std::filesystem::create_directory_symlink(target, absl::StrCat(guess.substr(0, dot + 1), n));
  }
  EXPECT_THAT(Rate(0, 1), IsOkAndHolds(100));
  EXPECT_TRUE(std::filesystem::is_empty(target));
}

TEST_F(ProbeRateTest, FailsAsItsWorkerDoes) {
  EXPECT_THAT(Rate(kErrorSeed, 2), StatusIs(absl::StatusCode::kAborted, HasSubstr("diverged")));
  EXPECT_THAT(Rate(kCrashSeed, 1), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("its worker")));
  EXPECT_THAT(Rate(kHangSeed, 1, absl::Milliseconds(300)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("no answer within 300ms")));
  options_.trainer = {"/nowhere/worker"};
  EXPECT_THAT(Rate(0, 1), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace openset
