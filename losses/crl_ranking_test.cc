#include <cmath>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// Three samples with confidences 1/2, 3/4, 2/3 of two classes, right in 2, 0 and 1 of 2 complete epochs of 4. The pairs
// (0, 1), (1, 2), (2, 0) have k_i - k_j = -1/4, 1/12, 1/6.
LossScene ThreeSamples() {
  LossScene scene = SceneOf(Matrix({{0, 0}, {std::log(3), 0}, {0, std::log(2)}}), {0, 0, 0});
  scene.batch.sample = at::tensor({3, 1, 0}, at::kLong);
  scene.history.correct = at::tensor({1, 0, 2, 2}, at::kLong);
  scene.history.epochs = 2;
  scene.epochs = 4;
  return scene;
}

TEST(CrlRanking, OrdersConfidencesByCorrectness) {
  // c = 1, 0, 1/2: pair 0 is ordered wrongly, pair 1 too, pair 2 too.
  const double first = 0.25 + 1;
  const double second = 1.0 / 12 + 0.5;
  const double third = 1.0 / 6 + 0.5;
  EXPECT_NEAR(Value("crl_ranking {}", ThreeSamples()), (first + second + third) / 3, 1e-15);
  EXPECT_NEAR(Value("lambda: 0.5 crl_ranking {}", ThreeSamples()), (first + second + third) / 6, 1e-15);
}

TEST(CrlRanking, OrderedPairsCostTheirDistanceFromTheMargin) {
  LossScene scene = ThreeSamples();
  scene.history.correct = at::tensor({1, 2, 0, 0}, at::kLong);  // c = 0, 1, 1/2
  const double first = 1 - 0.25;
  const double second = 0.5 - 1.0 / 12;
  const double third = 0.5 - 1.0 / 6;
  EXPECT_NEAR(Value("crl_ranking {}", scene), (first + second + third) / 3, 1e-15);
}

TEST(CrlRanking, SharesAreOfTheRangeFromTheLeastCountToTheCompleteEpochs) {
  LossScene scene = ThreeSamples();
  scene.history.correct = at::tensor({4, 3, 3, 5}, at::kLong);  // of the batch: 5, 3, 4
  scene.history.epochs = 5;                                     // c = 1, 0, 1/2
  EXPECT_EQ(Value("crl_ranking {}", scene), Value("crl_ranking {}", ThreeSamples()));
}

TEST(CrlRanking, EqualCorrectness) {
  LossScene scene = ThreeSamples();
  scene.history.correct = at::tensor({1, 1, 0, 1}, at::kLong);
  EXPECT_EQ(Value("crl_ranking {}", scene), 0);
  EXPECT_NEAR(Value("crl_ranking { variant: UNIFIED_BENCHMARK }", scene), (1.0 / 4 + 1.0 / 12 + 1.0 / 6) / 3, 1e-15);
}

TEST(CrlRanking, SamplesThatWereAlwaysRightHaveEqualShares) {
  LossScene scene = ThreeSamples();
  scene.history.correct = at::tensor({2, 2, 2, 2}, at::kLong);  // the range is empty
  EXPECT_EQ(Value("crl_ranking {}", scene), 0);
}

TEST(CrlRanking, IsZeroInTheFirstEpoch) {
  LossScene scene = ThreeSamples();
  scene.history.epochs = 0;
  scene.history.correct = at::tensor({0, 0, 1, 0}, at::kLong);  // the third sample was in an earlier batch
  EXPECT_EQ(Value("crl_ranking {}", scene), 0);
}

TEST(CrlRanking, UnifiedBenchmarkDividesByAllEpochs) {
  // c = 2/4, 0, 1/4.
  EXPECT_NEAR(Value("crl_ranking { variant: UNIFIED_BENCHMARK }", ThreeSamples()),
              (0.25 + 0.5 + 1.0 / 12 + 0.25 + 1.0 / 6 + 0.25) / 3, 1e-15);
}

TEST(CrlRanking, UnifiedBenchmarkOnEqualConfidences) {
  // Both pairs of two samples of confidence 1/2, right in 0 and 2 of 4 epochs: t = 1 for both, |c_i - c_j| = 1/2. The
  // gradients in k_0 are -1/2 (pair 0) and 1/2 (pair 1).
  LossScene scene = SceneOf(Matrix({{0, 0}, {0, 0}}), {0, 0});
  scene.batch.sample = at::tensor({0, 1}, at::kLong);
  scene.history.correct = at::tensor({0, 2}, at::kLong);
  scene.epochs = 4;
  scene.known.logits.set_requires_grad(true);
  const at::Tensor value = MakeTerm("crl_ranking { variant: UNIFIED_BENCHMARK }")->Compute(scene.Input());
  EXPECT_DOUBLE_EQ(value.item<double>(), 0.5);
  value.backward();
  EXPECT_THAT(scene.known.logits.grad(), TensorNear(at::zeros({2, 2}), 1e-15));
}

TEST(CrlRanking, DoesNotDependOnWhereTheBatchStarts) {
  LossScene scene = ThreeSamples();
  const double value = Value("crl_ranking {}", scene);
  scene.known.logits = scene.known.logits.roll(1, 0);
  scene.batch.sample = scene.batch.sample.roll(1);
  EXPECT_NEAR(Value("crl_ranking {}", scene), value, 1e-15);
}

TEST(CrlRanking, BatchOfOneIsZero) {
  LossScene scene = ThreeSamples();
  scene.known.logits = scene.known.logits.slice(0, 0, 1);
  scene.batch.sample = scene.batch.sample.slice(0, 0, 1);
  EXPECT_EQ(Value("crl_ranking {}", scene), 0);
  EXPECT_EQ(Value("crl_ranking { variant: UNIFIED_BENCHMARK }", scene), 0);
}

}  // namespace
}  // namespace openset
