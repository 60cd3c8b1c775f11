#include "eval/scores/input/row_blocks.h"

#include <vector>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(RowBlocks, HandOutEveryRowOnceAndPadWithZeros) {
  constexpr int64_t kRows = 20 * kRowBlock + 3;
  std::vector<float> rows(2 * kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    rows[2 * i] = static_cast<float>(i);
    rows[2 * i + 1] = static_cast<float>(-i);
  }
  for (const auto& for_each : {ForEachRowBlock, ForEachRowBlockInParallel}) {
    std::vector<int> seen(kRows, 0);
    for_each(rows, 2, [&seen](int64_t first, int64_t count, Eigen::MatrixXd* block) {
      ASSERT_EQ(block->rows(), 2);
      ASSERT_EQ(block->cols(), kRowBlock);
      for (int64_t j = 0; j < count; ++j) {
        EXPECT_EQ((*block)(0, j), first + j);
        EXPECT_EQ((*block)(1, j), -(first + j));
        ++seen[first + j];
      }
      EXPECT_TRUE(block->rightCols(kRowBlock - count).isZero(0));
      block->setConstant(7);  // the next one is unaffected
    });
    EXPECT_EQ(seen, std::vector<int>(kRows, 1));
  }
}

TEST(RowBlocks, HasNothingToDoWithoutRows) {
  ForEachRowBlock({}, 3, [](int64_t, int64_t, Eigen::MatrixXd*) { ADD_FAILURE(); });
  ForEachRowBlockInParallel({}, 3, [](int64_t, int64_t, Eigen::MatrixXd*) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace openset
