#include "models/networks/tokens.h"

#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(LayerNorm, HasMeanZeroAndVarianceOne) {
  const LayerNorm norm(2, /*epsilon=*/3);
  // Variance 1 of (1, 3) and 4 of (-2, 2).
  const at::NoGradGuard no_grad;
  EXPECT_THAT(norm.Forward(Matrix({{1, 3}, {-2, 2}}).to(at::kFloat)),
              TensorNear(Matrix({{-0.5, 0.5}, {-2 / std::sqrt(7), 2 / std::sqrt(7)}}), 1e-6));
}

TEST(Dense, WorksOnTheLastDimension) {
  Dense dense(2, 1);
  const at::NoGradGuard no_grad;
  dense.weight.copy_(Matrix({{2, -1}}));
  dense.bias.fill_(10);
  EXPECT_THAT(dense.Forward(at::ones({3, 4, 2})), TensorEq(at::full({3, 4, 1}, 11.0)));
}

// Two heads of one channel; both tokens attend to the second one with ratios exp(1) and exp(2).
TEST(Attention, WeighsTheValuesOfEachHead) {
  // q, k and v of the tokens, each of two heads.
  const at::Tensor qkv = Matrix({{1, 1, 0, 0, 10, 100}, {1, 1, 1, 2, 20, 200}}).unsqueeze(0);
  const double first = 1 / (1 + std::exp(-1)), second = 1 / (1 + std::exp(-2));
  const at::Tensor row = at::tensor({10 + 10 * first, 100 + 100 * second}, at::kDouble);
  EXPECT_THAT(Attention(qkv, 2), TensorNear(at::stack({row, row}).unsqueeze(0), 1e-12));
  // A bias that takes the second token away.
  const at::Tensor bias = at::tensor({0, -1000}, at::kDouble).view({1, 1, 1, 2});
  EXPECT_THAT(Attention(qkv, 2, bias), TensorNear(Matrix({{10, 100}, {10, 100}}).unsqueeze(0), 1e-12));
}

}  // namespace
}  // namespace openset
