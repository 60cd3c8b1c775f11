#include <cmath>
#include <memory>

#include "core/random.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

std::shared_ptr<Head> HeadOf(double scale) {
  CosineHeadSpec spec;
  spec.set_scale(scale);
  auto head = Make(spec, 2, 3);
  const at::NoGradGuard no_grad;
  head->named_parameters()["weight"].copy_(Matrix({{1, 0}, {3, 4}, {0, 0}}));
  return head;
}

TEST(CosineHead, IgnoresLengths) {
  const auto head = HeadOf(8);
  for (const bool training : {false, true}) {
    head->train(training);
    EXPECT_THAT(head->Forward(Matrix({{0, 2}, {5, 0}, {0, 0}}).to(at::kFloat)).logits.detach(),
                TensorNear(Matrix({{0, 8 * 0.8, 0}, {8, 8 * 0.6, 0}, {0, 0, 0}}), 1e-6));
  }
}

// The outputs of Classifier of YutingLi0606/SURE (model/classifier.py, a355ecf) with these weights and cos_temp 3
// (tools/peers/released_head_peer.py).
TEST(CosineHead, IsSures) {
  EXPECT_THAT(
      HeadOf(3)->Forward(Matrix({{1, 2}, {-3, 0.5}}).to(at::kFloat)).logits.detach(),
      TensorNear(Matrix({{1.341640786, 2.951609730, 0.000000000}, {-2.959181771, -1.380951493, 0.000000000}}), 1e-6));
}

TEST(CosineHead, DrawsItsWeights) {
  const auto head = HeadOf(8);
  RandomStream random(0, "init");
  head->Initialise(&random);
  const at::Tensor weight = head->named_parameters()["weight"].detach();
  EXPECT_LE(weight.abs().max().item<double>(), 1 / std::sqrt(2));
  EXPECT_GT(weight.std().item<double>(), 0);
}

}  // namespace
}  // namespace openset
