#include "losses/parameters.h"

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(DrawParameter, IsALeafDrawnRowByRow) {
  double next = 0;
  const at::Tensor parameter = DrawParameter({2, 3}, at::kCPU, [&next] { return next++; });
  EXPECT_THAT(parameter, TensorEq(at::arange(6, at::kFloat).view({2, 3})));
  EXPECT_TRUE(parameter.is_leaf());
  EXPECT_TRUE(parameter.requires_grad());
}

}  // namespace
}  // namespace openset
