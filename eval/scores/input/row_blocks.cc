#include "eval/scores/input/row_blocks.h"

#include <algorithm>

#include "core/in_parallel.h"

namespace openset {
namespace {

constexpr int64_t kBlocksATurn = 4;

// Eigen splits long sums by the cache sizes. With a fixed size, all machines add in the same order.
const bool cache_sizes_set = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);
  return true;
}();

// Copies block `index` to `block`.
void Work(absl::Span<const float> rows, int64_t dim, int64_t index, const RowBlockWork& work, Eigen::MatrixXd* block) {
  const int64_t first = index * kRowBlock;
  const int64_t count = std::min(kRowBlock, static_cast<int64_t>(rows.size()) / dim - first);
  block->setZero(dim, kRowBlock);
  block->leftCols(count) = Eigen::Map<const Eigen::MatrixXf>(rows.data() + first * dim, dim, count).cast<double>();
  work(first, count, block);
}

int64_t NumBlocks(absl::Span<const float> rows, int64_t dim) {
  return (static_cast<int64_t>(rows.size()) / dim + kRowBlock - 1) / kRowBlock;
}

}  // namespace

void ForEachRowBlock(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work) {
  Eigen::MatrixXd block;
  for (int64_t i = 0; i < NumBlocks(rows, dim); ++i) Work(rows, dim, i, work, &block);
}

void ForEachRowBlockInParallel(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work) {
  InParallelRanges(NumBlocks(rows, dim), kBlocksATurn, [&](int64_t begin, int64_t end) {
    Eigen::MatrixXd block;
    for (int64_t i = begin; i < end; ++i) Work(rows, dim, i, work, &block);
  });
}

void NormaliseColumns(Eigen::MatrixXd* columns) {
  for (int64_t j = 0; j < columns->cols(); ++j) {
    if (const double norm = Eigen::VectorXd(columns->col(j)).norm(); norm > 0) columns->col(j) /= norm;
  }
}

}  // namespace openset
