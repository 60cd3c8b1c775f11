#include "eval/scores/features/row_blocks.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace openset {
namespace {

// Eigen cuts long sums by the size of the caches; with a stated size all machines add in the same order.
const bool cache_sizes_set = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);
  return true;
}();

void Run(absl::Span<const float> rows, int64_t dim, int64_t threads, const RowBlockWork& work) {
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / dim;
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    Eigen::MatrixXd block;
    for (int64_t first = next.fetch_add(kRowBlock); first < num_rows; first = next.fetch_add(kRowBlock)) {
      const int64_t count = std::min(kRowBlock, num_rows - first);
      block.setZero(dim, kRowBlock);
      block.leftCols(count) = Eigen::Map<const Eigen::MatrixXf>(rows.data() + first * dim, dim, count).cast<double>();
      work(first, count, &block);
    }
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

}  // namespace

void ForEachRowBlock(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work) { Run(rows, dim, 1, work); }

void ForEachRowBlockInParallel(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work) {
  const int64_t blocks = (static_cast<int64_t>(rows.size()) / dim + kRowBlock - 1) / kRowBlock;
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  Run(rows, dim, std::min(cores, blocks / 4 + 1), work);
}

void NormaliseColumns(Eigen::MatrixXd* columns) {
  for (int64_t j = 0; j < columns->cols(); ++j) {
    if (const double norm = Eigen::VectorXd(columns->col(j)).norm(); norm > 0) columns->col(j) /= norm;
  }
}

}  // namespace openset
