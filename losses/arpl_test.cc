#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(Arpl, StartsWithRadiusZero) {
  EXPECT_NEAR(Value("arpl {}", DistanceScene()), (1 + 1 + 5 + 1) / 2.0, 1e-7);
  EXPECT_NEAR(Value("arpl { margin: 0 }", DistanceScene()), (1 + 5) / 2.0, 1e-7);
}

TEST(Arpl, DistancesWithinTheRadiusCostNothing) {
  const auto term = MakeTerm("arpl {}");
  ASSERT_EQ(term->Parameters().size(), 1);
  const at::Tensor radius = term->Parameters()[0].second;
  EXPECT_THAT(radius, TensorEq(at::zeros({1})));
  EXPECT_TRUE(radius.is_leaf() && radius.requires_grad());

  radius.set_data(at::full({1}, 4.0));
  const at::Tensor value = term->Compute(DistanceScene().Input());
  EXPECT_DOUBLE_EQ(value.item<double>(), (0 + (5 - 4 + 1)) / 2.0);
  value.backward();
  EXPECT_THAT(radius.grad(), TensorNear(at::tensor({-0.5}), 0));  // of the second sample alone
}

}  // namespace
}  // namespace openset
