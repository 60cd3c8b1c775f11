#include "experiments/train/objective.h"

#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/open_set_members.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// A feature for each image: its mean. Counts its passes and the images in the last one.
class MeanBackbone : public Backbone {
 public:
  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    ++passes;
    images = image.size(0);
    return image.mean({1, 2, 3}).unsqueeze(1);
  }
  int64_t feature_dim() const override { return 1; }
  void Initialise(RandomStream* /*random*/) override {}

  int passes = 0;
  int64_t images = 0;
};

// Logits (w x, 0) with w = 1.
class OneWeight : public Head {
 public:
  OneWeight() : weight(register_parameter("weight", at::ones({1}))) {}
  ModelOutput Forward(const at::Tensor& feature) override {
    return {feature, at::cat({feature * weight, at::zeros_like(feature)}, 1), {}, {}};
  }
  void Initialise(RandomStream* /*random*/) override {}

  at::Tensor weight;
};

at::Tensor Images(const std::vector<float>& values) {
  return at::tensor(values).view({static_cast<int64_t>(values.size()), 1, 1, 1});
}

at::Tensor Scalar(double value) { return at::scalar_tensor(value, at::kDouble); }

// One open sample: an image of value 2.
class OneImage : public OpenSetSource {
 public:
  OpenSet Make(const Context& context) override {
    OpenSet open{context.extra, {}, at::ones({1})};
    objective = context.objective(open).item<double>();
    return open;
  }
  std::vector<std::pair<std::string, at::Tensor>> State() const override { return {{"count", at::ones({1})}}; }

  bool ReplacesBatch() const override { return replaces_batch; }

  bool replaces_batch = false;
  double objective = 0;  // of the open samples, as a source that learns sees it
};

class ObjectiveTest : public ::testing::Test {
 protected:
  static TrainAction ActionOf(const std::string& terms) {
    return ParsedWithDefaults<TrainAction>("data { class_id: [7, 3] } training { epochs: 4 } loss { " + terms + "}");
  }

  Objective Make(bool with_source) {
    source_ = with_source ? std::make_shared<OneImage>() : nullptr;
    return Objective(action_, at::kCPU, /*num_samples=*/5, model_, source_);
  }

  // The batch with open images of these values.
  static Batch WithOpen(Batch batch, const std::vector<float>& values = {2}) {
    batch.open = OpenSetDraws{{}, {}, Images(values)};
    return batch;
  }

  TrainAction action_;
  const std::shared_ptr<MeanBackbone> backbone_ = std::make_shared<MeanBackbone>();
  const std::shared_ptr<OneWeight> head_ = std::make_shared<OneWeight>();
  const std::shared_ptr<Model> model_ = std::make_shared<Model>(backbone_, head_);
  std::shared_ptr<OneImage> source_;
  // Two samples of class 0, with logits (1, 0) and (-1, 0): the first is classified correctly.
  const Batch batch_{Images({1, -1}), at::zeros({2}, at::kLong), at::tensor(std::vector<int64_t>{3, 1}, at::kLong)};
};

// Cross entropy: (log(1 + e^-1) + log(1 + e)) / 2 = (0.3132617 + 1.3132617) / 2.
constexpr double kCrossEntropy = 0.8132617;
// Outlier exposure of logits (2, 0): log(e^2 + 1) - 1.
constexpr double kOutlierExposure = 1.1269280;

TEST_F(ObjectiveTest, IsTheWeightedSumOfItsTerms) {
  action_ = ActionOf("term { lambda: 2 cross_entropy {} } term { lambda: 0.5 outlier_exposure {} }");
  Objective objective = Make(true);
  objective.StartEpoch(0);
  const Objective::Step step = objective.Compute(WithOpen(batch_));
  EXPECT_THAT(step.objective, TensorNear(Scalar(2 * kCrossEntropy + 0.5 * kOutlierExposure), 1e-6));
  ASSERT_EQ(step.term.size(), 2);
  EXPECT_THAT(step.term[0], TensorNear(Scalar(2 * kCrossEntropy), 1e-6));
  EXPECT_THAT(step.term[1], TensorNear(Scalar(0.5 * kOutlierExposure), 1e-6));
  for (const at::Tensor& term : step.term) {
    EXPECT_EQ(term.scalar_type(), at::kFloat);
    EXPECT_FALSE(term.requires_grad());
  }
  // Known and open images pass together, once.
  EXPECT_EQ(backbone_->passes, 1);
  EXPECT_EQ(backbone_->images, 3);
  EXPECT_NEAR(source_->objective, 0.5 * kOutlierExposure, 1e-6);
}

// With s the logistic function, the gradients are (-s(-1) + s(1)) / 2 = 0.2310586 for the cross entropy and 2 s(2) - 1
// = 0.7615942 for outlier exposure.
TEST_F(ObjectiveTest, GradientsFlowThroughAllTerms) {
  action_ = ActionOf("term { lambda: 2 cross_entropy {} } term { lambda: 0.5 outlier_exposure {} }");
  Make(true).Compute(WithOpen(batch_)).objective.backward();
  EXPECT_THAT(head_->weight.grad(), TensorNear(at::tensor({2 * 0.2310586 + 0.5 * 0.7615942}), 1e-6));
}

TEST_F(ObjectiveTest, LeavesOutTermsOfTheOpenSetWithoutOne) {
  action_ = ActionOf("term { cross_entropy {} } term { outlier_exposure {} }");
  for (const bool with_source : {true, false}) {
    Objective objective = Make(with_source);
    const Objective::Step step = objective.Compute(batch_);
    EXPECT_THAT(step.objective, TensorNear(Scalar(kCrossEntropy), 1e-6));
    EXPECT_THAT(step.term[1], TensorEq(at::zeros({})));
    EXPECT_EQ(backbone_->images, 2);
  }
}

TEST_F(ObjectiveTest, ASourceCanReplaceTheBatch) {
  action_ = ActionOf("term { cross_entropy {} }");
  Objective objective = Make(true);
  source_->replaces_batch = true;
  EXPECT_THAT(objective.Compute(WithOpen(batch_, {1, 1})).objective, TensorNear(Scalar(0.3132617), 1e-6));
  EXPECT_EQ(backbone_->images, 2);
}

// The batch's logits (0, 0), p = (1/2, 1/2), and its view's (log 3, 0), p = (3/4, 1/4), with the mean (5/8, 3/8):
// KL 0.0322692 and 0.0353748.
TEST_F(ObjectiveTest, ViewsPassWithTheBatch) {
  action_ = ActionOf("term { cross_entropy {} } term { lambda: 12 jsd_consistency { extra_views: 1 } }");
  Batch batch{Images({0}), at::zeros({1}, at::kLong), at::zeros({1}, at::kLong)};
  batch.view = {Images({1.0986123f})};
  const Objective::Step step = Make(true).Compute(WithOpen(batch));
  EXPECT_EQ(backbone_->passes, 1);
  EXPECT_EQ(backbone_->images, 3);  // and one open image, which no term reads
  EXPECT_THAT(step.term[0], TensorNear(Scalar(0.6931472), 1e-6));
  EXPECT_THAT(step.term[1], TensorNear(Scalar(12 * (0.0322692 + 0.0353748) / 2), 1e-5));
}

TEST_F(ObjectiveTest, CountsTheHitsOfEachSampleForTermsThatNeedThem) {
  action_ = ActionOf("term { cross_entropy {} } term { crl_ranking {} }");
  Objective objective = Make(false);
  const Objective::Step step = objective.Compute(batch_);
  EXPECT_THAT(step.hit, TensorEq(at::tensor(std::vector<int64_t>{1, 0}, at::kLong).to(at::kBool)));
  objective.EndStep(batch_, step.hit);
  objective.EndStep(batch_, step.hit);
  objective.SetCompleteEpochs(2);
  const auto state = objective.State();
  ASSERT_EQ(state.size(), 1);
  EXPECT_EQ(state[0].first, "history.correct");
  EXPECT_THAT(state[0].second, TensorEq(at::tensor(std::vector<int64_t>{0, 0, 0, 2, 0}, at::kLong)));
  // Shares 1 and 0 of the samples, whose confidences are equal: max(0, -1 * 0 + 1) for each.
  EXPECT_THAT(objective.Compute(batch_).term[1], TensorNear(Scalar(1.0), 1e-6));
}

// Its price starts at 0.1; -log(1/2) of the even logits is above the budget.
TEST_F(ObjectiveTest, StateIncludesWhatTermsLearn) {
  action_ = ActionOf("term { confidence_branch {} }");
  Objective objective = Make(false);
  const Batch batch{Images({0}), at::zeros({1}, at::kLong), at::zeros({1}, at::kLong)};
  const Objective::Step step = objective.Compute(batch);
  objective.EndStep(batch, step.hit);
  ASSERT_THAT(objective.Parameters(), testing::IsEmpty());
  EXPECT_EQ(objective.State()[0].first, "loss.0.weight");
  EXPECT_NEAR(objective.State()[0].second.item<double>(), 0.1 / 0.99, 1e-12);
}

TEST_F(ObjectiveTest, ATermBeginsWithItsEpoch) {
  action_ = ActionOf("term { cross_entropy {} } term { lambda: 2 cross_entropy {} from_epoch: 3 }");
  Objective objective = Make(false);
  for (const int epoch : {0, 2, 3, 4}) {
    objective.StartEpoch(epoch);
    const Objective::Step step = objective.Compute(batch_);
    const double plain = step.term[0].item<double>();
    EXPECT_NEAR(step.term[1].item<double>(), epoch < 3 ? 0 : 2 * plain, 1e-6);
    EXPECT_NEAR(step.objective.item<double>(), epoch < 3 ? plain : 3 * plain, 1e-6);
  }
}

TEST_F(ObjectiveTest, StateIncludesTermsAndSource) {
  action_ = ActionOf("term { cross_entropy {} } term { rpl {} }");
  Objective objective = Make(true);
  std::vector<std::string> parameters, state;
  for (const auto& [name, tensor] : objective.Parameters()) parameters.push_back(name);
  for (const auto& [name, tensor] : objective.State()) state.push_back(name);
  EXPECT_THAT(parameters, ElementsAre("loss.1.radius"));
  EXPECT_THAT(state, UnorderedElementsAre("loss.1.radius", "open_set.count"));
}

// Cross entropy, the OpenAUC term and feature mixup together, against tools/peers/make_open_auc_golden.py.

TEST(OpenAucObjective, AgreesWithAnIndependentImplementationInItsThreeForms) {
  const nlohmann::json golden = ReadGolden("open_auc.json");
  for (const nlohmann::json& form : golden["cases"]) {
    SCOPED_TRACE(form["name"].get<std::string>());
    const at::Tensor feature = TensorOf(golden["feature"]).set_requires_grad(true);
    const at::Tensor weight = TensorOf(golden["weight"]).set_requires_grad(true);
    const auto head = [&](const at::Tensor& x) { return ModelOutput{x, x.matmul(weight.t()), {}, {}}; };
    Batch batch{{}, at::tensor(golden["label"].get<std::vector<int64_t>>(), at::kLong), {}};
    const ModelOutput known = head(feature);

    RandomStream random(1, "golden");
    const auto source = *Make(ParsedWithDefaults<FeatureMixupSpec>(form["feature_mixup"].get<std::string>()), {});
    ASSERT_THAT(DrawOpenSet(source.get(), &random, &batch), IsOk());
    const OpenSet open = source->Make({batch, known, {}, nullptr, head, nullptr});

    const LossInput input{batch, known, &open};
    const at::Tensor cross_entropy =
        MakeTerm("cross_entropy {" + form["cross_entropy"].get<std::string>() + "}")->Compute(input);
    const at::Tensor open_auc = MakeTerm(form["open_auc"].get<std::string>())->Compute(input);
    (cross_entropy + open_auc).backward();
    const nlohmann::json& expected = form["expected"];
    EXPECT_THAT(cross_entropy, TensorNear(TensorOf(expected["cross_entropy"]), 1e-14));
    EXPECT_THAT(open_auc, TensorNear(TensorOf(expected["open_auc"]), 1e-14));
    EXPECT_THAT(feature.grad(), TensorNear(TensorOf(expected["grad_feature"]), 1e-14));
    EXPECT_THAT(weight.grad(), TensorNear(TensorOf(expected["grad_weight"]), 1e-14));
  }
}

}  // namespace
}  // namespace openset
