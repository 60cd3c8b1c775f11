#include "experiments/engine/retry.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Retry, OnlyTemporaryFailures) {
  EXPECT_TRUE(MayPass(absl::UnavailableError("its worker was killed")));
  EXPECT_TRUE(MayPass(absl::DeadlineExceededError("it hung")));
  EXPECT_TRUE(MayPass(absl::ResourceExhaustedError("CUDA out of memory")));
  EXPECT_FALSE(MayPass(absl::AbortedError("the training diverged")));
  EXPECT_FALSE(MayPass(absl::InvalidArgumentError("a bad spec")));
  EXPECT_FALSE(MayPass(absl::InternalError("no kernel")));
  EXPECT_FALSE(MayPass(absl::DataLossError("damaged")));
}

TEST(Retry, EachWaitIsFourTimesTheLastUpToAnHour) {
  const RetryPolicy policy;
  EXPECT_EQ(WaitBeforeRetry(policy, 1), absl::Seconds(1));
  EXPECT_EQ(WaitBeforeRetry(policy, 2), absl::Seconds(4));
  EXPECT_EQ(WaitBeforeRetry(policy, 3), absl::Seconds(16));
  EXPECT_EQ(WaitBeforeRetry(policy, 90), absl::Hours(1));
}

}  // namespace
}  // namespace openset
