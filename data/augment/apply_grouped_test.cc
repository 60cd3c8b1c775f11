#include "data/augment/apply_grouped.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

// [B, 1, 1, 1].
at::Tensor Pixels(const std::vector<int>& values) {
  return at::tensor(values).to(at::kByte).view({static_cast<int64_t>(values.size()), 1, 1, 1});
}

TEST(ApplyGrouped, RunsEachOperationOnceOnTheImagesThatGetIt) {
  std::vector<std::pair<int, std::vector<int64_t>>> calls;
  const at::Tensor result = ApplyGrouped(Pixels({10, 20, 30, 40, 50}), {2, -1, 0, 2, 0}, 3,
                                         [&](int op, const at::Tensor& members, const std::vector<int64_t>& places) {
                                           EXPECT_EQ(members.size(0), places.size());
                                           calls.emplace_back(op, places);
                                           return members + (op + 1);
                                         });
  EXPECT_TRUE(at::equal(result, Pixels({13, 20, 31, 43, 51})));
  EXPECT_THAT(
      calls, ElementsAre(std::make_pair(0, std::vector<int64_t>{2, 4}), std::make_pair(2, std::vector<int64_t>{0, 3})));
}

TEST(ApplyGrouped, NoImages) {
  const auto never = [](int, const at::Tensor& members, const std::vector<int64_t>&) {
    ADD_FAILURE();
    return members;
  };
  EXPECT_EQ(ApplyGrouped(at::empty({0, 3, 4, 5}, at::kByte), {}, 3, never).sizes(), at::IntArrayRef({0, 3, 4, 5}));
}

TEST(ApplyGroupedDeathTest, WantsAnOperationForEachImage) {
  const auto same = [](int, const at::Tensor& members, const std::vector<int64_t>&) { return members; };
  EXPECT_DEATH(ApplyGrouped(Pixels({1, 2}), {0}, 3, same), "one operation per image");
  EXPECT_DEATH(ApplyGrouped(Pixels({1, 2}), {0, 3}, 3, same), "no operation 3");
}

}  // namespace
}  // namespace openset
