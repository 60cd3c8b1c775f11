#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(Rpl, StartsWithRadiusZero) { EXPECT_NEAR(Value("rpl {}", DistanceScene()), (1 + 25) / 2.0, 1e-7); }

TEST(Rpl, LearnsItsRadius) {
  const auto term = MakeTerm("rpl {}");
  const auto parameters = term->Parameters();
  ASSERT_EQ(parameters.size(), 1);
  EXPECT_EQ(parameters[0].first, "radius");
  const at::Tensor radius = parameters[0].second;
  EXPECT_THAT(radius, TensorEq(at::zeros({1})));
  EXPECT_TRUE(radius.is_leaf() && radius.requires_grad());

  radius.set_data(at::full({1}, 2.0));
  const at::Tensor value = term->Compute(DistanceScene().Input());
  EXPECT_DOUBLE_EQ(value.item<double>(), (1 + 9) / 2.0);  // distances 1 and 5
  value.backward();
  EXPECT_THAT(radius.grad(), TensorNear(at::tensor({-2 * (-1 + 3) / 2.0}), 0));
}

}  // namespace
}  // namespace openset
