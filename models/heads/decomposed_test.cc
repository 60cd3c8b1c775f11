#include <cmath>
#include <memory>
#include <utility>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

std::shared_ptr<Head> HeadOf(DecomposedHeadSpec::Similarity similarity) {
  DecomposedHeadSpec spec;
  spec.set_similarity(similarity);
  auto head = Make(spec, 2, 2);
  const at::NoGradGuard no_grad;
  auto parameters = head->named_parameters();
  parameters["h.weight"].copy_(Matrix({{1, 0}, {3, 4}}));
  if (similarity == DecomposedHeadSpec::INNER) parameters["h.bias"].copy_(at::tensor({0.5, -1.0}));
  parameters["g.0.weight"].copy_(Matrix({{1, 0}}));
  parameters["g.0.bias"].zero_();
  return head;
}

const at::Tensor kFeature = Matrix({{0, 2}, {2, 0}}).to(at::kFloat);

TEST(DecomposedHead, HasThreeSimilarities) {
  const at::NoGradGuard no_grad;
  for (const auto& [similarity, expected] : {std::pair{DecomposedHeadSpec::COSINE, Matrix({{0, 0.8}, {1, 0.6}})},
                                             {DecomposedHeadSpec::INNER, Matrix({{0.5, 7}, {2.5, 5}})},
                                             {DecomposedHeadSpec::EUCLIDEAN, Matrix({{-2.5, -6.5}, {-0.5, -8.5}})}}) {
    const auto head = HeadOf(similarity);
    head->eval();
    EXPECT_THAT(head->Forward(kFeature).logits, TensorNear(expected, 2e-4)) << similarity;
  }
}

// The outputs of GodinNet in OpenOOD's networks/godin_net.py (3c35632) with these weights
// (tools/peers/released_head_peer.py).
TEST(DecomposedHead, IsOpenOods) {
  const at::NoGradGuard no_grad;
  const at::Tensor feature = Matrix({{0, 2}, {2, 0}, {1, 1}}).to(at::kFloat);
  struct Case {
    DecomposedHeadSpec::Similarity similarity;
    at::Tensor train, test;
  };
  for (const Case& expected : {
           Case{DecomposedHeadSpec::COSINE,
                Matrix({{0, 3.522366577}, {1.293641302, 0.776246875}, {1.413972172, 1.979719403}}),
                Matrix({{0, 0.799944003}, {0.999850017, 0.599958002}, {0.706986086, 0.989859701}})},
           Case{DecomposedHeadSpec::INNER, Matrix({{2.201633216, 30.822865028}, {3.234588387, 6.469176774}, {3, 12}}),
                Matrix({{0.5, 7}, {2.5, 5}, {1.5, 6}})},
           Case{DecomposedHeadSpec::EUCLIDEAN,
                Matrix({{-11.008166082, -28.621231812}, {-0.646917677, -10.997600517}, {-1, -13}}),
                Matrix({{-2.5, -6.5}, {-0.5, -8.5}, {-0.5, -6.5}})},
       }) {
    const auto head = HeadOf(expected.similarity);
    EXPECT_THAT(head->Forward(feature).logits, TensorNear(expected.train, 3e-5)) << expected.similarity;
    head->eval();
    EXPECT_THAT(head->Forward(feature).logits, TensorNear(expected.test, 1e-6)) << expected.similarity;
  }
}

TEST(DecomposedHead, DividesInTraining) {
  const auto head = HeadOf(DecomposedHeadSpec::EUCLIDEAN);
  // The divisor's inputs 0 and 2 are -1 and 1 after batch norm.
  const double low = 1 / (1 + std::exp(1)), high = 1 / (1 + std::exp(-1));
  EXPECT_THAT(head->Forward(kFeature).logits,
              TensorNear(Matrix({{-2.5 / low, -6.5 / low}, {-0.5 / high, -8.5 / high}}), 1e-3));
}

}  // namespace
}  // namespace openset
