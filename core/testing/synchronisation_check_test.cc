#include "core/testing/synchronisation_check.h"

#include "core/tensor/torch.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

const at::Tensor kX = at::tensor({1.0, 2.0, 0.0});

TEST(SynchronisingOperators, FindsOperatorsThatDependOnValues) {
  EXPECT_THAT(SynchronisingOperators([] { kX.sum().item<double>(); }), Contains("aten::_local_scalar_dense"));
  EXPECT_THAT(SynchronisingOperators([] { kX.nonzero(); }), Contains("aten::nonzero"));
  EXPECT_THAT(SynchronisingOperators([] { kX.index({kX > 1}); }), Contains("aten::nonzero"));
  EXPECT_THAT(SynchronisingOperators([] { kX.masked_select(kX > 1); }), Contains("aten::masked_select"));
  EXPECT_THAT(SynchronisingOperators([] { kX.equal(kX); }), Contains("aten::equal"));
}

TEST(SynchronisingOperators, FindsNoneInArithmeticAndItsBackward) {
  EXPECT_THAT(SynchronisingOperators([] {
                at::Tensor x = kX.clone().set_requires_grad(true);
                at::where(x > 1, x, 0).clamp_min(0.5).softmax(0).index_select(0, at::tensor({0, 2})).sum().backward();
              }),
              IsEmpty());
}

}  // namespace
}  // namespace openset
