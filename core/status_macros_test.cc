#include "core/status_macros.h"

#include <memory>

#include "gtest/gtest.h"

namespace openset {
namespace {

absl::StatusOr<int> Half(int x) {
  if (x % 2 != 0) return absl::InvalidArgumentError("odd");
  return x / 2;
}

absl::StatusOr<int> Quarter(int x) {
  OPENSET_ASSIGN_OR_RETURN(const int half, Half(x));
  OPENSET_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

absl::Status CheckQuarter(int x) {
  OPENSET_RETURN_IF_ERROR(Quarter(x).status());
  return absl::OkStatus();
}

TEST(StatusMacros, PassValuesAndErrors) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("odd"));
  EXPECT_TRUE(CheckQuarter(4).ok());
  EXPECT_EQ(CheckQuarter(3), absl::InvalidArgumentError("odd"));
}

TEST(StatusMacros, MoveOnlyValues) {
  auto make = []() -> absl::StatusOr<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  auto use = [&]() -> absl::StatusOr<int> {
    OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<int> value, make());
    return *value;
  };
  EXPECT_EQ(*use(), 5);
}

TEST(StatusMacros, PutContextBeforeTheMessageIfGiven) {
  int asked = 0;
  const auto line = [&asked] { return ++asked; };
  const auto check = [&](int x) -> absl::Status {
    OPENSET_RETURN_IF_ERROR(CheckQuarter(x), "a.csv:", line());
    return absl::OkStatus();
  };
  const auto quarter = [&](int x) -> absl::StatusOr<int> {
    OPENSET_ASSIGN_OR_RETURN(const int value, Quarter(x), "b.csv:", line());
    return value;
  };
  EXPECT_TRUE(check(4).ok());
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(check(3), absl::InvalidArgumentError("a.csv:1: odd"));
  EXPECT_EQ(quarter(3).status(), absl::InvalidArgumentError("b.csv:2: odd"));
}

TEST(Annotate, KeepsTheCodeAndLeavesOkAlone) {
  EXPECT_EQ(Annotate(absl::NotFoundError("no file"), "reading x"), absl::NotFoundError("reading x: no file"));
  EXPECT_TRUE(Annotate(absl::OkStatus(), "reading x").ok());
}

}  // namespace
}  // namespace openset
