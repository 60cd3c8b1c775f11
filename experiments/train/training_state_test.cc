#include "experiments/train/training_state.h"

#include <string>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

class TrainingStateTest : public ::testing::Test {
 protected:
  TrainingStateTest() {
    path_ = JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    summary_.add_epoch()->set_loss(0.25);
    saved_ = {{"weight", at::arange(6, at::kFloat).view({2, 3})}, {"steps", at::full({1}, 7, at::kLong)}};
    EXPECT_THAT(SaveTrainingState(saved_, summary_, "key", path_), IsOk());
  }

  static NamedTensors Zeros() {
    return {{"weight", at::zeros({2, 3}, at::kFloat)}, {"steps", at::zeros({1}, at::kLong)}};
  }

  std::string path_;
  TrainSummary summary_;
  NamedTensors saved_;
};

TEST_F(TrainingStateTest, ComesBackAsItWas) {
  const NamedTensors tensors = Zeros();
  const absl::StatusOr<TrainSummary> summary = LoadTrainingState(path_, "key", tensors);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->SerializeAsString(), summary_.SerializeAsString());
  for (size_t i = 0; i < tensors.size(); ++i) EXPECT_TRUE(at::equal(tensors[i].second, saved_[i].second));
}

TEST_F(TrainingStateTest, OfAnotherTrainingIsRefused) {
  const NamedTensors tensors = Zeros();
  EXPECT_THAT(LoadTrainingState(path_, "other", tensors),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another training")));
  EXPECT_EQ(tensors[0].second.sum().item<float>(), 0);
}

TEST_F(TrainingStateTest, OtherTensorsAreRefusedAndNoneIsChanged) {
  NamedTensors other_shape = Zeros();
  other_shape[1].second = at::zeros({2}, at::kLong);
  EXPECT_THAT(LoadTrainingState(path_, "key", other_shape),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'steps'")));
  EXPECT_EQ(other_shape[0].second.sum().item<float>(), 0);
  EXPECT_THAT(LoadTrainingState(path_, "key", {{"weight", at::zeros({2, 3})}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("holds other tensors")));
}

TEST_F(TrainingStateTest, ATruncatedFileIsRefused) {
  const std::string bytes = ReadFile(path_).value();
  for (size_t size : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_THAT(WriteFileAtomically(path_, bytes.substr(0, size)), IsOk());
    EXPECT_FALSE(LoadTrainingState(path_, "key", Zeros()).ok()) << size;
  }
}

TEST_F(TrainingStateTest, AFlippedBitIsRefusedAndNothingIsChanged) {
  const std::string bytes = ReadFile(path_).value();
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    ASSERT_THAT(WriteFileAtomically(path_, damaged), IsOk());
    const NamedTensors tensors = Zeros();
    const absl::StatusOr<TrainSummary> summary = LoadTrainingState(path_, "key", tensors);
    // A flip that changes no tensor and no word of the summary is none: white space of the header.
    if (summary.ok()) {
      EXPECT_EQ(summary->SerializeAsString(), summary_.SerializeAsString()) << at;
      for (size_t i = 0; i < tensors.size(); ++i) EXPECT_TRUE(::at::equal(tensors[i].second, saved_[i].second)) << at;
    } else {
      EXPECT_EQ(tensors[0].second.sum().item<float>(), 0) << at;
    }
  }
}

TEST_F(TrainingStateTest, NoFileIsNotFound) {
  EXPECT_THAT(LoadTrainingState(path_ + ".none", "key", Zeros()), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace openset
