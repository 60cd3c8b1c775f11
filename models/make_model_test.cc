#include "models/make_model.h"

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/checkpoint.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

absl::StatusOr<std::shared_ptr<Model>> Make(const std::string& spec, const std::string& input) {
  RandomStream random(1, "make_model_test");
  return MakeModel(ModelSpecOf(spec), InputSpecOf(input), 5, &random);
}

TEST(MakeModelTest, PutsBackboneAndHeadTogether) {
  ASSERT_OK_AND_ASSIGN(const auto vgg32, Make("vgg32 { width: 2 feature_dim: 3 } head { linear { bias: false } }", ""));
  EXPECT_EQ(vgg32->feature_dim(), 3);
  TensorMap state = StateOf(*vgg32);
  EXPECT_EQ(state["backbone.conv2.weight"].sizes(), at::IntArrayRef({2, 2, 3, 3}));
  EXPECT_EQ(state["head.weight"].sizes(), at::IntArrayRef({5, 3}));
  EXPECT_EQ(state.count("head.bias"), 0);

  ASSERT_OK_AND_ASSIGN(const auto osrci_cnn,
                       Make("osrci_cnn {} head { linear {} extra_outputs: 1 }", "channels: 1 size: 28"));
  state = StateOf(*osrci_cnn);
  EXPECT_EQ(state["backbone.conv1.weight"].sizes(), at::IntArrayRef({10, 1, 5, 5}));
  EXPECT_EQ(state["head.weight"].sizes(), at::IntArrayRef({6, 64}));
  EXPECT_EQ(state["head.bias"].sizes(), at::IntArrayRef({6}));
}

TEST(MakeModelTest, ImagesMayBeTooSmall) {
  EXPECT_THAT(Make("osrci_cnn {} head { linear {} }", "size: 8"),
              IsInvalidArgument("osrci_cnn needs images of at least 16x16"));
}

TEST(MakeModelTest, LeavesTheDefaultGeneratorAlone) {
  at::manual_seed(3);
  const at::Tensor expected = at::rand({4});
  at::manual_seed(3);
  ASSERT_THAT(Make("osrci_cnn {} head { linear {} }", ""), IsOk());
  EXPECT_THAT(at::rand({4}), TensorEq(expected));
}

}  // namespace
}  // namespace openset
