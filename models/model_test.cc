#include "models/model.h"

#include "core/tensor/torch_runtime.h"
#include "core/testing/tensor_matchers.h"
#include "gtest/gtest.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

// Returns the pixels of an image, from a product, which autocast computes in BF16.
class Pixels : public Backbone {
 public:
  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    const at::Tensor flat = image.flatten(1);
    return at::mm(flat, at::eye(flat.size(1)));
  }
  int64_t feature_dim() const override { return 2; }
  void Initialise(RandomStream* /*random*/) override {}
};

class Bf16Scope {
 public:
  Bf16Scope() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Bf16Scope() { at::autocast::set_autocast_enabled(at::kCPU, false); }
};

// x = (100, 100) and P = (100.5, 100): D = 0.5^2 / 2 = 0.125. |x|^2 - 2 x.P + |P|^2 = 20000 - 40100 + 20100.25, where
// BF16 has eight bits.
TEST(Model, HeadsComputeInFullPrecisionUnderAutocast) {
  const auto head = Make(PrototypeHeadSpec(), 2, 1);
  {
    const at::NoGradGuard no_grad;
    head->named_parameters()["point"].copy_(Matrix({{100.5, 100}}));
  }
  Model model(std::make_shared<Pixels>(), head);
  const at::Tensor image = at::full({1, 1, 1, 2}, 100.0f);
  for (const bool autocast : {false, true}) {
    std::unique_ptr<Bf16Scope> scope = autocast ? std::make_unique<Bf16Scope>() : nullptr;
    const ModelOutput output = model.Forward(image);
    EXPECT_EQ(output.feature.scalar_type(), at::kFloat);
    EXPECT_THAT(output.distance, TensorNear(Matrix({{0.125}}), 1e-2));
    EXPECT_THAT(output.logits, TensorNear(Matrix({{-0.125}}), 1e-2));
    EXPECT_THAT(model.ForwardHead(output.feature.to(at::kBFloat16)).distance, TensorNear(Matrix({{0.125}}), 1e-2));
    // The scope is over.
    EXPECT_EQ(at::mm(image.view({2, 1}), image.view({1, 2})).scalar_type(), autocast ? at::kBFloat16 : at::kFloat);
  }
}

}  // namespace
}  // namespace openset
