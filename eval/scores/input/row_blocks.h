// Rows of features in blocks, for matrix products.
#ifndef OPENSET_EVAL_SCORES_INPUT_ROW_BLOCKS_H_
#define OPENSET_EVAL_SCORES_INPUT_ROW_BLOCKS_H_

#include <cstdint>
#include <functional>

#include "Eigen/Core"
#include "absl/types/span.h"

namespace openset {

// The number of samples in a block. All blocks have this size, because the order of a sum depends on the sizes of the
// matrices: a sample thus gets the same bits regardless of the other samples. (To sum a column, use an expression or
// a copy, because the order of col(j).sum() depends on the alignment of its memory.)
inline constexpr int64_t kRowBlock = 128;

// Samples first .. first + count - 1: column j of `block` [D, kRowBlock] is row first + j; columns from `count` on are
// 0.
using RowBlockWork = std::function<void(int64_t first, int64_t count, Eigen::MatrixXd* block)>;

// Divides `rows` [N * dim] into blocks and passes them to `work` in order. `work` may change its block.
// Precondition: rows.size() is a multiple of dim >= 1.
void ForEachRowBlock(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work);

// The same, in several threads (core/in_parallel.h) and in any order.
void ForEachRowBlockInParallel(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work);

// Scales each column to length 1; zeros stay zeros. The bits of a column do not depend on the others.
void NormaliseColumns(Eigen::MatrixXd* columns);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_INPUT_ROW_BLOCKS_H_
