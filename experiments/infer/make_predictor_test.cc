#include "experiments/infer/make_predictor.h"

#include <algorithm>
#include <cmath>

#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/make_model.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

class MakePredictorTest : public ::testing::Test {
 protected:
  MakePredictorTest() : image_(at::linspace(-1, 1, 4 * 28 * 28).view({4, 1, 28, 28})) {
    input_.set_channels(1);
    input_.add_std(0.5);
  }

  // A small network with dropout 1/2 and 3 classes.
  static std::shared_ptr<Model> MakeNetwork(uint64_t seed) {
    RandomStream random(seed, "predictor_test");
    return MakeModel(ModelSpecOf("osrci_cnn {} head { linear {} }"), InputSpecOf("size: 28 channels: 1"), 3, &random)
        .value();
  }

  at::Tensor Predict(const InferenceSpec& spec, std::vector<std::shared_ptr<Model>> models, uint64_t seed = 0) {
    const c10::NoGradGuard no_grad;
    InferenceSpec filled = spec;
    FillDefaults(&filled);
    return MakePredictor({filled}, input_, std::move(models), seed)->Predict(image_)[0].output.logits;
  }

  InferenceSpec McDropout(int passes, AverageOver average = PROBABILITIES) {
    InferenceSpec spec;
    spec.mutable_mc_dropout()->set_passes(passes);
    spec.mutable_mc_dropout()->set_average(average);
    return spec;
  }

  InferenceSpec Ensemble(int members, AverageOver average = PROBABILITIES) {
    InferenceSpec spec;
    spec.mutable_ensemble()->set_members(members);
    spec.mutable_ensemble()->set_average(average);
    return spec;
  }

  InferenceSpec Plain() {
    InferenceSpec spec;
    spec.mutable_plain();
    return spec;
  }

  InferenceSpec Perturbation(double epsilon, bool divide_by_std) {
    InferenceSpec spec;
    spec.mutable_input_perturbation()->set_temperature(10);
    spec.mutable_input_perturbation()->set_epsilon(epsilon);
    spec.mutable_input_perturbation()->set_divide_by_std(divide_by_std);
    return spec;
  }

  const at::Tensor image_;
  InputSpec input_;
};

TEST_F(MakePredictorTest, PlainIsTheModelInEvaluationMode) {
  const auto model = MakeNetwork(1);
  const at::Tensor logits = Predict(Plain(), {model});
  EXPECT_THAT(Predict(Plain(), {model}), TensorEq(logits));
  const c10::NoGradGuard no_grad;
  EXPECT_TRUE(MakePredictor({Plain()}, input_, {model}, 0)->Predict(image_)[0].output.feature.defined());
}

TEST_F(MakePredictorTest, AnEnsembleOfOneIsItsMember) {
  const auto model = MakeNetwork(1);
  const at::Tensor logits = Predict(Plain(), {model});
  EXPECT_THAT(Predict(Ensemble(1, LOGITS), {model}), TensorNear(logits, 1e-6));
  EXPECT_THAT(at::softmax(Predict(Ensemble(1), {model}), 1), TensorNear(at::softmax(logits, 1), 1e-6));
}

TEST_F(MakePredictorTest, AnEnsembleAveragesProbabilitiesOrLogits) {
  const std::vector<std::shared_ptr<Model>> models = {MakeNetwork(1), MakeNetwork(2), MakeNetwork(3)};
  at::Tensor probability = at::zeros({4, 3}), logits = at::zeros({4, 3});
  for (const auto& model : models) {
    const at::Tensor member = Predict(Plain(), {model});
    probability += at::softmax(member, 1) / 3;
    logits += member / 3;
  }
  EXPECT_THAT(at::exp(Predict(Ensemble(3), models)), TensorNear(probability, 1e-6));
  EXPECT_THAT(Predict(Ensemble(3, LOGITS), models), TensorNear(logits, 1e-6));
}

// Computed from the members' probabilities: the entropy of their mean, their own entropies, and their votes.
TEST_F(MakePredictorTest, StoresTheDisagreementOfMembers) {
  const std::vector<std::shared_ptr<Model>> models = {MakeNetwork(1), MakeNetwork(2), MakeNetwork(3)};
  for (const AverageOver average : {PROBABILITIES, LOGITS}) {
    const c10::NoGradGuard no_grad;
    InferenceSpec spec = Ensemble(3, average);
    FillDefaults(&spec);
    EXPECT_FALSE(MakePredictor({spec}, input_, models, 0)->Predict(image_)[0].member_uncertainty.defined());
    spec.mutable_ensemble()->set_member_uncertainty(true);
    const Prediction prediction = MakePredictor({spec}, input_, models, 0)->Predict(image_)[0];
    EXPECT_THAT(prediction.output.logits, TensorEq(Predict(Ensemble(3, average), models)));
    const at::Tensor kept = prediction.member_uncertainty;
    ASSERT_EQ(kept.sizes(), at::IntArrayRef({4, 3}));
    ASSERT_EQ(kept.scalar_type(), at::kFloat);
    for (int row = 0; row < 4; ++row) {
      double mean[3] = {0, 0, 0};
      double expected_entropy = 0, entropy = 0;
      int votes[3] = {0, 0, 0};
      for (const auto& model : models) {
        const at::Tensor p = at::softmax(Predict(Plain(), {model})[row].to(at::kDouble), 0);
        for (int c = 0; c < 3; ++c) {
          const double value = p[c].item<double>();
          mean[c] += value / 3;
          expected_entropy -= value * std::log(value) / 3;
        }
        ++votes[p.argmax().item<int64_t>()];
      }
      for (const double value : mean) entropy -= value * std::log(value);
      EXPECT_NEAR(kept[row][0].item<double>(), entropy - expected_entropy, 1e-6);
      EXPECT_NEAR(kept[row][1].item<double>(), expected_entropy, 1e-6);
      EXPECT_NEAR(kept[row][2].item<double>(), 1 - *std::max_element(votes, votes + 3) / 3.0, 1e-6);
    }
  }
}

// Equal passes don't disagree.
TEST_F(MakePredictorTest, MembersThatAgreeHaveNoMutualInformation) {
  const c10::NoGradGuard no_grad;
  InferenceSpec spec = Ensemble(2);
  FillDefaults(&spec);
  spec.mutable_ensemble()->set_member_uncertainty(true);
  const auto model = MakeNetwork(1);
  const at::Tensor kept = MakePredictor({spec}, input_, {model, model}, 0)->Predict(image_)[0].member_uncertainty;
  EXPECT_THAT(kept.select(1, 0), TensorNear(at::zeros({4}), 1e-7));
  EXPECT_THAT(kept.select(1, 2), TensorEq(at::zeros({4})));
  const at::Tensor p = at::softmax(Predict(Plain(), {model}), 1);
  EXPECT_THAT(kept.select(1, 1), TensorNear(-(p * p.log()).sum(1), 1e-6));
}

TEST_F(MakePredictorTest, DropoutPassesKeepTheirDisagreement) {
  const c10::NoGradGuard no_grad;
  InferenceSpec spec = McDropout(20);
  FillDefaults(&spec);
  spec.mutable_mc_dropout()->set_member_uncertainty(true);
  const Prediction prediction = MakePredictor({spec}, input_, {MakeNetwork(1)}, 7)->Predict(image_)[0];
  EXPECT_THAT(prediction.output.logits, TensorEq(Predict(McDropout(20), {MakeNetwork(1)}, 7)));
  // The mean's entropy is the sum of both parts.
  const at::Tensor p = prediction.output.logits.exp();
  EXPECT_THAT(prediction.member_uncertainty.select(1, 0) + prediction.member_uncertainty.select(1, 1),
              TensorNear(-(p * p.log()).sum(1), 1e-5));
  EXPECT_GT(prediction.member_uncertainty.select(1, 0).min().item<double>(), 0);
}

TEST_F(MakePredictorTest, DropoutPassesDifferAndRepeatWithTheSeed) {
  const auto model = MakeNetwork(1);
  const at::Tensor one = Predict(McDropout(1), {model}, 7);
  EXPECT_THAT(Predict(McDropout(1), {model}, 7), TensorEq(one));
  EXPECT_THAT(Predict(McDropout(1), {model}, 8), Not(TensorEq(one)));
  EXPECT_THAT(Predict(Plain(), {model}), Not(TensorEq(one)));
}

// The mean probability of M passes has an error of at most 0.5 / sqrt(M) (one standard deviation of a value in [0, 1]).
// Two means of 400 differ by more than 0.2 = 5.6 standard deviations once in 5e7 for each of the 12 values.
TEST_F(MakePredictorTest, TheMeanOverPassesConverges) {
  const auto model = MakeNetwork(1);
  const at::Tensor a = at::exp(Predict(McDropout(400), {model}, 1));
  const at::Tensor b = at::exp(Predict(McDropout(400), {model}, 2));
  EXPECT_THAT(a, TensorNear(b, 0.2));
  EXPECT_THAT(a.sum(1), TensorNear(at::ones({4}), 1e-5));
}

TEST_F(MakePredictorTest, NoPerturbationIsPlain) {
  const auto model = MakeNetwork(1);
  EXPECT_THAT(Predict(Perturbation(0, true), {model}), TensorEq(Predict(Plain(), {model})));
}

// The perturbed image makes the predicted class likelier, and the step in normalised units is epsilon / std.
TEST_F(MakePredictorTest, PerturbationRaisesThePredictedProbability) {
  const auto model = MakeNetwork(1);
  const at::Tensor plain = Predict(Plain(), {model});
  const at::Tensor perturbed = Predict(Perturbation(1e-3, true), {model});
  const at::Tensor chosen = plain.argmax(1, /*keepdim=*/true);
  const at::Tensor gain =
      at::softmax(perturbed / 10, 1).gather(1, chosen) - at::softmax(plain / 10, 1).gather(1, chosen);
  EXPECT_TRUE(gain.gt(0).all().item<bool>());
  EXPECT_THAT(Predict(Perturbation(2e-3, false), {model}), TensorNear(perturbed, 1e-6));
  for (const at::Tensor& parameter : model->parameters()) EXPECT_FALSE(parameter.grad().defined());
}

// Counts passes; its features are the mean of the image.
class CountingBackbone : public Backbone {
 public:
  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    ++forward;
    const at::Tensor mean = image.mean({1, 2, 3}).unsqueeze(1);
    if (mean.requires_grad()) {
      mean.register_hook([this](const at::Tensor& /*gradient*/) { ++backward; });
    }
    return mean;
  }
  int64_t feature_dim() const override { return 1; }
  void Initialise(RandomStream* /*random*/) override {}

  int forward = 0;
  int backward = 0;
};

class TwoLogits : public Head {
 public:
  ModelOutput Forward(const at::Tensor& feature) override {
    return {feature, at::cat({feature, -2 * feature}, 1), {}, {}};
  }
  void Initialise(RandomStream* /*random*/) override {}
};

TEST_F(MakePredictorTest, AGridOfPerturbationsSharesItsPasses) {
  const auto backbone = std::make_shared<CountingBackbone>();
  const auto model = std::make_shared<Model>(backbone, std::make_shared<TwoLogits>());
  std::vector<InferenceSpec> grid;
  for (const double temperature : {1, 10, 100, 1000}) {
    for (const double epsilon : {0.0, 0.0005, 0.001, 0.0014, 0.002, 0.0024, 0.005, 0.01, 0.05, 0.1, 0.2}) {
      InferenceSpec& spec = grid.emplace_back(Perturbation(epsilon, true));
      spec.mutable_input_perturbation()->set_temperature(temperature);
    }
  }
  const c10::NoGradGuard no_grad;
  const std::vector<Prediction> predictions = MakePredictor(grid, input_, {model}, 0)->Predict(image_);
  EXPECT_EQ(backbone->forward, 41);
  EXPECT_EQ(backbone->backward, 4);
  ASSERT_EQ(predictions.size(), 44);
  // Each prediction is the same as from its inference alone.
  for (const size_t i : {0, 1, 10, 11, 43}) {
    EXPECT_THAT(Predict(grid[i], {model}), TensorEq(predictions[i].output.logits)) << i;
  }
}

// The means of the two images are 0.5 and -0.5.
TEST_F(MakePredictorTest, TheClassCanBeThatOfTheOriginalImage) {
  const auto model = std::make_shared<Model>(std::make_shared<CountingBackbone>(), std::make_shared<TwoLogits>());
  const at::Tensor image = at::cat({at::full({1, 1, 2, 2}, 0.5), at::full({1, 1, 2, 2}, -0.5)});
  std::vector<InferenceSpec> specs = {Perturbation(1e-3, false), Perturbation(1e-3, false)};
  specs[1].mutable_input_perturbation()->set_predictions(InputPerturbationSpec::ORIGINAL);
  const c10::NoGradGuard no_grad;
  const std::vector<Prediction> predictions = MakePredictor(specs, input_, {model}, 0)->Predict(image);
  EXPECT_FALSE(predictions[0].predicting_logits.defined());
  EXPECT_THAT(predictions[1].predicting_logits, TensorNear(Matrix({{0.5, -1}, {-0.5, 1}}), 1e-6));
  EXPECT_THAT(predictions[1].output.logits, TensorEq(predictions[0].output.logits));
}

// Its feature and gradient are 0 for means above 0.1.
class DeadBackbone : public CountingBackbone {
 public:
  at::Tensor Forward(const at::Tensor& image, int norm_set) override {
    return at::relu(0.1 - CountingBackbone::Forward(image, norm_set));
  }
};

// (ge(gradient, 0) - 0.5) * 2 of the released codes (ODIN's calData.py, the unified benchmark's utils.py) is 1 where
// the gradient is 0, so that an image of 0.5 becomes one of -0.5. The paper's sign is 0 there, and the image doesn't
// change.
TEST_F(MakePredictorTest, AGradientOfZeroMovesTheImageAsReleased) {
  const auto model = std::make_shared<Model>(std::make_shared<DeadBackbone>(), std::make_shared<TwoLogits>());
  const at::Tensor image = at::full({1, 1, 2, 2}, 0.5);
  std::vector<InferenceSpec> specs = {Perturbation(1, false), Perturbation(1, false)};
  specs[1].mutable_input_perturbation()->set_direction(InputPerturbationSpec::GREATER_EQUAL);
  const c10::NoGradGuard no_grad;
  const std::vector<Prediction> predictions = MakePredictor(specs, input_, {model}, 0)->Predict(image);
  EXPECT_THAT(predictions[0].output.logits, TensorEq(at::zeros({1, 2})));
  EXPECT_THAT(predictions[1].output.logits, TensorNear(Matrix({{0.6, -1.2}}), 1e-6));
}

// Where the gradient is not 0, both directions are the same.
TEST_F(MakePredictorTest, TheDirectionsDifferAtZeroOnly) {
  const auto model = std::make_shared<Model>(std::make_shared<CountingBackbone>(), std::make_shared<TwoLogits>());
  InferenceSpec released = Perturbation(0.01, true);
  released.mutable_input_perturbation()->set_direction(InputPerturbationSpec::GREATER_EQUAL);
  EXPECT_THAT(Predict(released, {model}), TensorEq(Predict(Perturbation(0.01, true), {model})));
}

TEST_F(MakePredictorTest, DropoutDrawsFromThePredictorsGenerator) {
  const c10::NoGradGuard no_grad;
  InferenceSpec spec = McDropout(1);
  FillDefaults(&spec);
  const auto model = MakeNetwork(1);
  const auto passes = [&](Predictor* first, Predictor* between) {
    std::vector<at::Tensor> logits;
    for (int i = 0; i < 3; ++i) {
      logits.push_back(first->Predict(image_)[0].output.logits);
      if (between != nullptr) between->Predict(image_);
    }
    return at::stack(logits);
  };
  at::manual_seed(5);
  const at::Tensor untouched = at::rand({2});
  at::manual_seed(5);
  const at::Tensor alone = passes(MakePredictor({spec}, input_, {model}, 7).get(), nullptr);
  const auto other = MakePredictor({spec}, input_, {model}, 8);
  EXPECT_THAT(passes(MakePredictor({spec}, input_, {model}, 7).get(), other.get()), TensorEq(alone));
  EXPECT_THAT(at::rand({2}), TensorEq(untouched));
}

TEST_F(MakePredictorTest, PlainInferenceAfterDropoutIsPlain) {
  const auto model = MakeNetwork(1);
  const at::Tensor logits = Predict(Plain(), {model});
  Predict(McDropout(2), {model});
  EXPECT_THAT(Predict(Plain(), {model}), TensorEq(logits));
}

// The gradient of the largest logit by finite differences says which pixels move, and where to.
// Folding rounds differently, so that different bits show that the batch norms were folded.
TEST_F(MakePredictorTest, FoldsBatchNormsWhereTheSpecSaysSo) {
  ModelSpec spec;
  spec.mutable_resnet_cifar();
  spec.mutable_head()->mutable_linear();
  FillDefaults(&spec);
  FillDefaults(&input_);
  RandomStream random(1, "predictor_test");
  const std::shared_ptr<Model> model = MakeModel(spec, input_, 3, &random).value();
  model->Forward(image_);  // so that the statistics are not the initial ones
  InferenceSpec folded = Plain();
  folded.mutable_plain()->set_fold_batch_norm(true);
  const at::Tensor plain = Predict(Plain(), {model});
  const at::Tensor other = Predict(folded, {model});
  EXPECT_THAT(other, TensorNear(plain, 1e-4));
  EXPECT_THAT(other, Not(TensorEq(plain)));
  EXPECT_THAT(Predict(Plain(), {model}), TensorEq(plain));
}

}  // namespace
}  // namespace openset
