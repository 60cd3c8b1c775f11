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

  std::string path_;
  TrainSummary summary_;
  NamedTensors saved_;
};

TEST_F(TrainingStateTest, RoundTrips) {
  const absl::StatusOr<SavedTraining> saved = LoadTrainingState(path_, "key");
  ASSERT_THAT(saved, IsOk());
  EXPECT_EQ(saved->summary.SerializeAsString(), summary_.SerializeAsString());
  ASSERT_EQ(saved->tensors.size(), saved_.size());
  for (const auto& [name, tensor] : saved_) EXPECT_TRUE(at::equal(saved->tensors.at(name), tensor)) << name;
}

TEST_F(TrainingStateTest, OfAnotherTrainingIsRefused) {
  EXPECT_THAT(LoadTrainingState(path_, "other"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another training")));
}

TEST_F(TrainingStateTest, OtherTensorsAreNamed) {
  const TensorMap saved = LoadTrainingState(path_, "key")->tensors;
  NamedTensors like = {{"weight", at::zeros({2, 3})}, {"steps", at::zeros({1}, at::kLong)}};
  EXPECT_THAT(CheckTensors(saved, like), IsOk());
  EXPECT_THAT(CheckTensors(saved, {like[0]}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("holds other tensors")));
  for (const at::Tensor& other : {at::zeros({2}, at::kLong), at::zeros({1})}) {  // of another shape, of another dtype
    like[1].second = other;
    EXPECT_THAT(CheckTensors(saved, like), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'steps'")));
  }
  like[1] = {"step", at::zeros({1}, at::kLong)};
  EXPECT_THAT(CheckTensors(saved, like), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'step'")));
}

TEST_F(TrainingStateTest, ATruncatedFileIsRefused) {
  const std::string bytes = ReadFile(path_).value();
  for (size_t size : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_THAT(WriteFileAtomically(path_, bytes.substr(0, size)), IsOk());
    EXPECT_FALSE(LoadTrainingState(path_, "key").ok()) << size;
  }
}

TEST_F(TrainingStateTest, AFlippedBitIsRefused) {
  const std::string bytes = ReadFile(path_).value();
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    ASSERT_THAT(WriteFileAtomically(path_, damaged), IsOk());
    const absl::StatusOr<SavedTraining> saved = LoadTrainingState(path_, "key");
    refused += !saved.ok();
    if (!saved.ok()) continue;
    // An unnoticed flip changes neither a tensor nor the summary: it is in the header's white space.
    EXPECT_EQ(saved->summary.SerializeAsString(), summary_.SerializeAsString()) << at;
    EXPECT_THAT(CheckTensors(saved->tensors, saved_), IsOk());
    for (const auto& [name, tensor] : saved_) EXPECT_TRUE(::at::equal(saved->tensors.at(name), tensor)) << at;
  }
  EXPECT_GT(refused, bytes.size() / 2);
}

TEST_F(TrainingStateTest, AMissingFileIsNotFound) {
  EXPECT_THAT(LoadTrainingState(path_ + ".none", "key"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace openset
