#include "experiments/infer/stage_predictors.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/infer/inference_members.h"
#include "experiments/infer/make_predictor.h"
#include "models/make_model.h"

namespace openset {
namespace {

at::Tensor Noise(at::IntArrayRef shape) {
  RandomStream random(3, "maps");
  at::Tensor noise = at::empty(shape);
  float* data = noise.mutable_data_ptr<float>();
  for (int64_t i = 0; i < noise.numel(); ++i) data[i] = static_cast<float>(random.Normal());
  return noise;
}

// With images of 12x12, ResNet-20 has maps of 12x12, 6x6 and 3x3, with 16, 32 and 64 channels.
class StagePredictorsTest : public ::testing::Test {
 protected:
  StagePredictorsTest() : image_(Noise({3, 1, 12, 12})) {
    const ModelSpec spec = ParsedWithDefaults<ModelSpec>("resnet_cifar {} head { linear {} }");
    const InputSpec input = ParsedWithDefaults<InputSpec>("size: 12 channels: 1");
    RandomStream random(1, "model");
    model_ = MakeModel(spec, input, 4, &random).value();
    model_->train(false);
  }

  Prediction Predict(const std::string& text) const {
    const c10::NoGradGuard no_grad;
    const InferenceSpec spec = ParsedWithDefaults<InferenceSpec>(text);
    return MakePredictor({spec}, {}, {model_}, 0)->Predict(image_)[0];
  }

  const at::Tensor image_;
  std::shared_ptr<Model> model_;
};

// The sum over the other singular values: linalg.svd of OpenOOD's rankfeat_postprocessor.py and of the authors' code.
TEST(WithoutStrongestDirection, LeavesTheOtherSingularValues) {
  for (const at::Tensor& map : {Noise({2, 3, 4, 5}), Noise({2, 30, 2, 3}), Noise({1, 4, 2, 2})}) {
    const at::Tensor x = map.flatten(2).to(at::kDouble);
    const auto [u, s, vh] = at::linalg_svd(x, /*full_matrices=*/false);
    const at::Tensor rest = at::matmul(u.slice(2, 1) * s.slice(1, 1).unsqueeze(1), vh.slice(1, 1));
    const at::Tensor changed = WithoutStrongestDirection(map);
    EXPECT_THAT(changed, TensorNear(rest.reshape(map.sizes()).to(at::kFloat), 1e-5));
    EXPECT_EQ(changed.scalar_type(), at::kFloat);
  }
}

TEST(WithoutStrongestDirection, LeavesNothingOfOneDirection) {
  const at::Tensor one = at::ones({1, 6, 2, 2}) * at::arange(6).view({1, 6, 1, 1});
  EXPECT_THAT(WithoutStrongestDirection(one), TensorNear(at::zeros({1, 6, 2, 2}), 1e-5));
  EXPECT_THAT(WithoutStrongestDirection(at::zeros({2, 3, 2, 2})), TensorEq(at::zeros({2, 3, 2, 2})));
  EXPECT_THAT(WithoutStrongestDirection(Noise({2, 5, 1, 1})), TensorNear(at::zeros({2, 5, 1, 1}), 1e-5));
}

TEST_F(StagePredictorsTest, RankFeatIsTheMeanOverTwoStages) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> maps;
  const ModelOutput plain = model_->ForwardFrom(0, image_, &maps);
  const at::Tensor last = model_->ForwardFrom(3, WithoutStrongestDirection(maps[2])).logits;
  const at::Tensor before = model_->ForwardFrom(2, WithoutStrongestDirection(maps[1])).logits;
  EXPECT_THAT(Predict("rank_feat { stages: LAST }").output.logits, TensorEq(last));
  EXPECT_THAT(Predict("rank_feat { stages: BEFORE_LAST }").output.logits, TensorEq(before));
  const Prediction both = Predict("rank_feat {}");
  EXPECT_THAT(both.output.logits, TensorNear((last + before) / 2, 1e-6));
  EXPECT_THAT(both.output.logits, Not(TensorNear(plain.logits, 1e-3)));
  EXPECT_THAT(both.output.feature, TensorEq(plain.feature));
  EXPECT_FALSE(both.predicting_logits.defined());
  EXPECT_THAT(Predict("rank_feat { predictions: ORIGINAL }").predicting_logits, TensorEq(plain.logits));
}

TEST_F(StagePredictorsTest, StageMeansAreThoseOfTheMaps) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> maps;
  const ModelOutput plain = model_->ForwardFrom(0, image_, &maps);
  const Prediction prediction = Predict("stage_values {}");
  EXPECT_EQ(prediction.stage_widths, (std::vector<int64_t>{16, 32, 64}));
  EXPECT_THAT(prediction.stage_values.slice(1, 0, 16), TensorEq(maps[0].mean({2, 3})));
  EXPECT_THAT(prediction.stage_values.slice(1, 16, 48), TensorEq(maps[1].mean({2, 3})));
  EXPECT_THAT(prediction.stage_values.slice(1, 48), TensorEq(plain.feature));
  EXPECT_THAT(prediction.output.logits, TensorEq(plain.logits));
}

// matmul, sum(dim=2) and the signed root of the authors' G_p(), which tools/peers/released_head_peer.py runs, and of
// OpenOOD's and pytorch-ood's gram.
TEST(GramRowSums, AreRootsOfRowSumsOfGramMatrices) {
  const at::Tensor map = Noise({2, 3, 2, 2});
  const at::Tensor values = GramRowSums(map, 3);
  EXPECT_EQ(values.sizes(), at::IntArrayRef({2, 9}));
  for (const int power : {1, 2, 3}) {
    const at::Tensor f = map.flatten(2).pow(power);
    const at::Tensor sums = f.matmul(f.transpose(1, 2)).sum(2);
    EXPECT_THAT(values.slice(1, 3 * (power - 1), 3 * power),
                TensorNear(sums.sign() * sums.abs().pow(1.0 / power), 1e-5));
  }
  // Two channels of one position, 1 and -2: rows 1 - 2 and -2 + 4 of the first power, 1 + 4 and 4 + 16 of the second.
  const at::Tensor two = at::stack({at::ones({1, 1}), at::full({1, 1}, -2)}).unsqueeze(0);
  EXPECT_THAT(GramRowSums(two, 2)[0][0].unsqueeze(0), TensorNear(at::full({1}, -1), 1e-6));
  EXPECT_NEAR(GramRowSums(two, 2)[0][3].item<float>(), std::sqrt(20.0), 1e-5);
}

TEST_F(StagePredictorsTest, GramValuesAreThoseOfEachStage) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> maps;
  model_->ForwardFrom(0, image_, &maps);
  const Prediction prediction = Predict("stage_values { value: GRAM powers: 2 }");
  EXPECT_EQ(prediction.stage_widths, (std::vector<int64_t>{32, 64, 128}));
  EXPECT_THAT(prediction.stage_values.slice(1, 32, 96), TensorEq(GramRowSums(maps[1], 2)));
}

// Compares gradients of a map's channels with finite differences, and the last stage's with nac's formula, W^T
// (softmax(z) - 1/K).
TEST_F(StagePredictorsTest, StatesAreActivationsTimesGradients) {
  const Prediction prediction = Predict("stage_values { value: STATE }");
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> maps;
  const ModelOutput plain = model_->ForwardFrom(0, image_, &maps);
  EXPECT_EQ(prediction.stage_widths, (std::vector<int64_t>{16, 32, 64}));
  EXPECT_THAT(prediction.output.logits, TensorNear(plain.logits, 1e-5));
  EXPECT_FALSE(prediction.stage_values.requires_grad());
  model_->to(at::kDouble);
  const auto loss = [this](int stage, const at::Tensor& map) {
    return -at::log_softmax(model_->ForwardFrom(stage, map).logits, 1).mean(1);
  };
  for (const int stage : {1, 2}) {
    const at::Tensor map = maps[stage - 1].to(at::kDouble);
    const int64_t first = stage == 1 ? 0 : 16;
    for (const int64_t c : {0, 7, 15}) {
      SCOPED_TRACE(c);
      const double step = 1e-6;
      const auto moved = [&](double by) {
        at::Tensor changed = map.clone();
        changed.select(1, c).add_(by);
        return loss(stage, changed);
      };
      const at::Tensor slope = (moved(step) - moved(-step)) / (2 * step);  // of all positions together
      EXPECT_THAT(prediction.stage_values.select(1, first + c),
                  TensorNear((map.select(1, c).sum({1, 2}) * slope).to(at::kFloat), 2e-4));
    }
  }
  const at::Tensor feature = plain.feature.to(at::kDouble);
  const at::Tensor difference = at::softmax(plain.logits.to(at::kDouble), 1) - 0.25;
  for (const auto& parameter : model_->named_parameters()) {
    if (parameter.key() != "head.weight") continue;
    EXPECT_THAT(prediction.stage_values.slice(1, 48),
                TensorNear((feature * difference.matmul(parameter.value())).to(at::kFloat), 1e-5));
  }
}

}  // namespace
}  // namespace openset
