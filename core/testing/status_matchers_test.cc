#include "core/testing/status_matchers.h"

#include <memory>

#include "gtest/gtest-spi.h"

namespace openset {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointee;
using ::testing::StringMatchResultListener;

const absl::Status kMissing = absl::NotFoundError("no file 'a.txt'");

template <typename Matcher, typename Value>
std::string Explanation(const Matcher& matcher, const Value& value) {
  StringMatchResultListener listener;
  ::testing::ExplainMatchResult(matcher, value, &listener);
  return listener.str();
}

TEST(IsOk, TellsOkFromErrors) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(3), IsOk());
  EXPECT_THAT(kMissing, Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(kMissing), Not(IsOk()));
  EXPECT_THAT(Explanation(IsOk(), kMissing), HasSubstr("NOT_FOUND: no file 'a.txt'"));
}

TEST(IsOkAndHolds, MatchesTheValue) {
  const absl::StatusOr<int> three = 3;
  EXPECT_THAT(three, IsOkAndHolds(3));
  EXPECT_THAT(three, IsOkAndHolds(Gt(2)));
  EXPECT_THAT(three, Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<int>(kMissing), Not(IsOkAndHolds(3)));
  EXPECT_THAT(Explanation(IsOkAndHolds(3), absl::StatusOr<int>(kMissing)), HasSubstr("NOT_FOUND"));
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(5)), IsOkAndHolds(Pointee(5)));
}

void AssignTo(int* to, absl::StatusOr<int> value) {
  ASSERT_OK_AND_ASSIGN(*to, std::move(value));
  ++*to;
}

TEST(AssertOkAndAssign, AssignsTheValueOrReturns) {
  int value = 0;
  AssignTo(&value, 3);
  EXPECT_EQ(value, 4);
  EXPECT_FATAL_FAILURE(
      {
        int other = 0;
        AssignTo(&other, kMissing);
      },
      "NOT_FOUND: no file 'a.txt'");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<int> moved, absl::StatusOr<std::unique_ptr<int>>(new int(5)));
  EXPECT_EQ(*moved, 5);
}

TEST(StatusIs, MatchesCodeAndMessage) {
  EXPECT_THAT(kMissing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(kMissing, Not(StatusIs(absl::StatusCode::kDataLoss)));
  EXPECT_THAT(absl::StatusOr<int>(kMissing), StatusIs(absl::StatusCode::kNotFound, HasSubstr("a.txt")));
  EXPECT_THAT(kMissing, Not(StatusIs(absl::StatusCode::kNotFound, HasSubstr("b.txt"))));
  EXPECT_THAT(kMissing, Not(StatusIs(absl::StatusCode::kDataLoss, HasSubstr("a.txt"))));
  EXPECT_THAT(absl::OkStatus(), Not(StatusIs(absl::StatusCode::kNotFound)));
  EXPECT_THAT(Explanation(StatusIs(absl::StatusCode::kDataLoss), kMissing), HasSubstr("no file 'a.txt'"));
}

}  // namespace
}  // namespace openset
