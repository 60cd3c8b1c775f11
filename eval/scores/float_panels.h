// Fast dot products in float with many vectors, to find candidates among them.
#ifndef OPENSET_EVAL_SCORES_FLOAT_PANELS_H_
#define OPENSET_EVAL_SCORES_FLOAT_PANELS_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"

namespace openset {

// N vectors of D floats, stored in panels of 16 so that one pass over a query computes 16 products. The order of the D
// terms of a sum, and whether multiplications are fused, differ between CPUs. Use a product only to bound the exact
// one, with the error of a sum in any order, and never as a result.
class FloatPanels {
 public:
  static constexpr int64_t kWidth = 16;   // vectors in a panel
  static constexpr int64_t kQueries = 4;  // queries at a time

  FloatPanels() = default;
  // `columns` [D, N]. Vectors after the last one, in the last panel, are 0.
  explicit FloatPanels(const Eigen::MatrixXf& columns);

  int64_t num_panels() const { return num_panels_; }

  // products[kWidth * j + i] = <vector i of the panel, queries.col(j)>, and is_above[j] is whether one of the 16
  // products of query j is at least bounds[j]. Both arrays have room for all queries.
  // Preconditions: queries [D, a multiple of kQueries]; 0 <= panel < num_panels().
  void Multiply(int64_t panel, const Eigen::MatrixXf& queries, const float* bounds, float* products,
                bool* is_above) const;

 private:
  int64_t dim_ = 0;
  int64_t num_panels_ = 0;
  std::vector<float> values_;  // panel by panel: [D, kWidth], row by row
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FLOAT_PANELS_H_
