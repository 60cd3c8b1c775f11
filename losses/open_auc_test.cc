#include <cmath>
#include <string>
#include <tuple>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

double Loss(const std::string& spec, const LossScene& scene) { return Value("open_auc { " + spec + "}", scene); }

// Unknown scores -2, -1, -3 of the known samples, of which the last is classified wrongly, and -1, -0.5 of the open
// ones. t = r_j - r_i:
//            open 0   open 1
//   known 0    1        1.5
//   known 1    0        0.5
//   known 2    2        2.5     (wrong)
LossScene ThreeAndTwo() {
  LossScene scene = SceneOf(Matrix({{2, 0}, {0, 1}, {3, 1}}), {0, 1, 1});
  scene.open = OpenSetOf(Matrix({{1, 0}, {0, 0.5}}), {1, 0});
  return scene;
}

TEST(OpenAuc, AllPairs) {
  const double kept = 0 + 0.25 + 1 + 0.25;
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL", ThreeAndTwo()), kept / 4);
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL mean: ALL_PAIRS", ThreeAndTwo()), kept / 6);
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL include_misclassified: true", ThreeAndTwo()), (kept + 1 + 2.25) / 6);
}

TEST(OpenAuc, PairsOfTheSameSlot) {
  LossScene scene = ThreeAndTwo();  // open 0 with known 1, open 1 with known 0
  EXPECT_DOUBLE_EQ(Loss("", scene), (1 + 0.25) / 2);
  scene.open.slot = at::tensor({1, 2}, at::kLong);  // open 1 with the wrong one
  EXPECT_DOUBLE_EQ(Loss("", scene), 1);
  EXPECT_DOUBLE_EQ(Loss("mean: ALL_PAIRS", scene), 1.0 / 2);
  EXPECT_DOUBLE_EQ(Loss("include_misclassified: true", scene), (1 + 2.25) / 2);
}

TEST(OpenAuc, DroppedOpenSamplesMakeNoPairs) {
  LossScene scene = ThreeAndTwo();
  scene.open.weight = at::tensor({1.0, 0.0});
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL", scene), (0 + 1) / 2.0);
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL mean: ALL_PAIRS", scene), (0 + 1) / 3.0);
  EXPECT_DOUBLE_EQ(Loss("", scene), 1);
}

TEST(OpenAuc, Surrogates) {
  // The pairs of the kept known samples have t = 1, 1.5, 0, 0.5.
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL surrogate: HINGE", ThreeAndTwo()), (0 + 0 + 1 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL surrogate: SQUARED_HINGE", ThreeAndTwo()), (0 + 0 + 1 + 0.25) / 4);
  double logistic = 0;
  for (const double t : {1.0, 1.5, 0.0, 0.5}) logistic += std::log(1 + std::exp(-t)) / 4;
  EXPECT_NEAR(Loss("pairs: ALL surrogate: LOGISTIC", ThreeAndTwo()), logistic, 1e-15);
}

TEST(OpenAuc, ScoreOfDefinition1) {
  // Largest probabilities 3/4 and 2/3, so scores 1/4 (known) and 1/3 (open).
  LossScene scene = SceneOf(Matrix({{std::log(3), 0}}), {0});
  scene.open = OpenSetOf(Matrix({{0, std::log(2)}}), {0});
  const double t = 1.0 / 3 - 1.0 / 4;
  EXPECT_NEAR(Loss("unknown_score: MIN_MISCLASSIFICATION", scene), (1 - t) * (1 - t), 1e-15);
}

// Known (3, 4) of class 1, open (0, 2): 4/5 and 1 of the lengths 5 and 2; 1/2 and 1 above the means 7/2 and 1.
TEST(OpenAuc, ScoresWithoutTheLogitsLengthOrLevel) {
  LossScene scene = SceneOf(Matrix({{3, 4}}), {1});
  scene.open = OpenSetOf(Matrix({{0, 2}}), {0});
  const auto square = [](double t) { return (1 - t) * (1 - t); };
  EXPECT_NEAR(Loss("unknown_score: NEGATIVE_MAX_NORMALISED_LOGIT", scene), square(-1 + 0.8), 1e-12);
  EXPECT_NEAR(Loss("unknown_score: NEGATIVE_MAX_CENTRED_LOGIT", scene), square(-1 + 0.5), 1e-12);
}

// openauc_paper: 1 / (N_k N_u) sum_ij [known i right] (1 - (r_j - r_i))^2 over all pairs, r = 1 - max probability.
// Known: 1/4 and 1/3 (right), 1/5 (wrong); open: 1/2 and 1/3.
TEST(OpenAuc, ThePapersText) {
  LossScene scene = SceneOf(Matrix({{std::log(3), 0}, {0, std::log(2)}, {std::log(4), 0}}), {0, 1, 1});
  scene.open = OpenSetOf(Matrix({{0, 0}, {std::log(2), 0}}), {0, 1});
  double sum = 0;
  for (const double known : {1.0 / 4, 1.0 / 3}) {
    for (const double open : {1.0 / 2, 1.0 / 3}) sum += (1 - open + known) * (1 - open + known);
  }
  EXPECT_NEAR(Loss("pairs: ALL mean: ALL_PAIRS unknown_score: MIN_MISCLASSIFICATION", scene), sum / 6, 1e-15);
}

TEST(OpenAuc, LambdaScales) {
  const LossScene scene = ThreeAndTwo();
  EXPECT_DOUBLE_EQ(Value("lambda: 0.3 open_auc { pairs: ALL }", scene), 0.3 * Loss("pairs: ALL", scene));
  EXPECT_EQ(Value("lambda: 0 open_auc {}", scene), 0);
}

TEST(OpenAuc, EqualLogitsAreWonByTheFirst) {
  // keep is 1 for label 0 only; t = 0.
  LossScene scene = SceneOf(Matrix({{2, 2}, {2, 2}}), {0, 1});
  scene.open = OpenSetOf(Matrix({{2, 0}, {2, 0}}), {0, 1});
  EXPECT_DOUBLE_EQ(Loss("", scene), 1);
  EXPECT_DOUBLE_EQ(Loss("mean: ALL_PAIRS", scene), 1.0 / 2);
}

TEST(OpenAuc, WithoutPairsIsZero) {
  LossScene scene = SceneOf(Matrix({{2, 0}, {0, 1}}), {1, 0});  // both wrong
  scene.open = OpenSetOf(Matrix({{1, 0}, {0, 0.5}}), {0, 1});
  scene.known.logits.set_requires_grad(true);
  scene.open.output.logits.set_requires_grad(true);
  for (const char* pairs : {"SAME_SLOT", "ALL"}) {
    for (const char* surrogate : {"SQUARE", "HINGE"}) {
      for (const char* mean : {"KEPT_PAIRS", "ALL_PAIRS"}) {
        const at::Tensor value =
            MakeTerm(std::string("open_auc { pairs: ") + pairs + " surrogate: " + surrogate + " mean: " + mean + "}")
                ->Compute(scene.Input());
        EXPECT_EQ(value.item<double>(), 0);
        value.backward();
        EXPECT_THAT(scene.known.logits.grad(), TensorNear(at::zeros({2, 2}), 0));
        EXPECT_THAT(scene.open.output.logits.grad(), TensorNear(at::zeros({2, 2}), 0));
      }
    }
  }
}

TEST(OpenAuc, GradientsFlowIntoTheLargestLogitsOfKeptPairsOnly) {
  LossScene scene = ThreeAndTwo();
  scene.open.slot = at::tensor({1, 2}, at::kLong);
  scene.known.logits.set_requires_grad(true);
  scene.open.output.logits.set_requires_grad(true);
  MakeTerm("open_auc {}")->Compute(scene.Input()).backward();
  // One kept pair: (1 - t)^2 with t = max z_1 - max z_open0 = 0, d/dt = -2.
  EXPECT_THAT(scene.known.logits.grad(), TensorNear(Matrix({{0, 0}, {0, -2}, {0, 0}}), 0));
  EXPECT_THAT(scene.open.output.logits.grad(), TensorNear(Matrix({{2, 0}, {0, 0}}), 0));
}

TEST(OpenAuc, OneClass) {
  LossScene scene = SceneOf(Matrix({{1}, {2}}), {0, 0});
  scene.open = OpenSetOf(Matrix({{1}}), {0});
  EXPECT_DOUBLE_EQ(Loss("pairs: ALL", scene), (1 + 0) / 2.0);  // t = 0, 1
}

double SquareByDoubleLoop(const at::Tensor& known, const at::Tensor& keep, const at::Tensor& open,
                          const at::Tensor& weight) {
  double sum = 0, pairs = 0;
  for (int64_t i = 0; i < known.numel(); ++i) {
    for (int64_t j = 0; j < open.numel(); ++j) {
      const double w = keep[i].item<double>() * weight[j].item<double>();
      const double t = open[j].item<double>() - known[i].item<double>();
      sum += w * (1 - t) * (1 - t);
      pairs += w;
    }
  }
  return sum / pairs;
}

TEST(OpenAuc, MomentsAgreeWithTheDoubleLoop) {
  RandomStream random(1, "moments");
  for (int repeat = 0; repeat < 10; ++repeat) {
    const LossScene scene = RandomScene(&random);
    const at::Tensor known = -std::get<0>(scene.known.logits.max(1));
    const at::Tensor open = -std::get<0>(scene.open.output.logits.max(1));
    const at::Tensor keep = scene.known.logits.argmax(1).eq(scene.batch.label);
    EXPECT_NEAR(Loss("pairs: ALL", scene), SquareByDoubleLoop(known, keep, open, scene.open.weight), 1e-12);
  }
}

TEST(OpenAuc, MomentsKeepTheirPrecisionFarFromZero) {
  // Logits around 10,000 in f32, where sums of squares have lost the units: t is in [-1, 3].
  LossScene scene = SceneOf(at::tensor({10000.0, 10001.5, 10002.0}, at::kFloat).unsqueeze(1), {0, 0, 0});
  scene.open = OpenSetOf(at::tensor({9999.0, 10001.0}, at::kFloat).unsqueeze(1));
  const double exact = (0 + 4 + 1.5 * 1.5 + 0.5 * 0.5 + 4 + 0) / 6;  // t = 1, -1, 2.5, 0.5, 3, 1
  EXPECT_FLOAT_EQ(MakeTerm("open_auc { pairs: ALL }")->Compute(scene.Input()).item<float>(), exact);
}

}  // namespace
}  // namespace openset
