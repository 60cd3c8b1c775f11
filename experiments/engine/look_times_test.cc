#include "experiments/engine/look_times.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr absl::Duration kStart = absl::Hours(5);

TEST(LookTimes, ASignOfLifeIsDueAtOnceAndThenRegularly) {
  LookTimes times;
  EXPECT_TRUE(times.TakeSign(kStart, absl::Seconds(2)));
  EXPECT_FALSE(times.TakeSign(kStart + absl::Seconds(1), absl::Seconds(2)));
  EXPECT_TRUE(times.TakeSign(kStart + absl::Seconds(2), absl::Seconds(2)));
  EXPECT_FALSE(times.TakeSign(kStart + absl::Seconds(3), absl::Seconds(2)));
}

TEST(LookTimes, LooksTakeATwentiethOfTheTime) {
  LookTimes times;
  EXPECT_TRUE(times.IsLookDue(kStart, absl::Seconds(1)));
  times.Looked(kStart, kStart + absl::Milliseconds(10));
  EXPECT_FALSE(times.IsLookDue(kStart + absl::Milliseconds(900), absl::Seconds(1)));
  EXPECT_TRUE(times.IsLookDue(kStart + absl::Seconds(1), absl::Seconds(1)));
  times.Looked(kStart, kStart + absl::Seconds(3));
  EXPECT_FALSE(times.IsLookDue(kStart + absl::Seconds(59), absl::Seconds(1)));
  EXPECT_TRUE(times.IsLookDue(kStart + absl::Seconds(60), absl::Seconds(1)));
}

TEST(Patience, EndsAfterATimeWithoutWork) {
  Patience patience(absl::Seconds(60));
  EXPECT_FALSE(patience.IsOver(kStart, false));  // counts from here
  EXPECT_FALSE(patience.IsOver(kStart + absl::Seconds(59), false));
  EXPECT_FALSE(patience.IsOver(kStart + absl::Seconds(70), true));
  EXPECT_FALSE(patience.IsOver(kStart + absl::Seconds(129), false));
  EXPECT_TRUE(patience.IsOver(kStart + absl::Seconds(130), false));
}

TEST(Patience, MayBeEndless) {
  Patience patience(std::nullopt);
  EXPECT_TRUE(patience.is_endless());
  EXPECT_FALSE(patience.IsOver(kStart, false));
  EXPECT_FALSE(patience.IsOver(kStart + absl::Hours(1000), false));
}

}  // namespace
}  // namespace openset
