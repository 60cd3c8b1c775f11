#include "experiments/train/training_run.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/objective.h"
#include "experiments/train/open_set_source.h"
#include "experiments/train/testing/training_scene.h"
#include "gmock/gmock.h"
#include "models/checkpoint.h"
#include "models/model.pb.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Recomputes a step: the gradient of the cross entropy by LibTorch, SGD with momentum and weight decay by its formula.
TEST(TrainingRun, TwoStepsByHand) {
  const TrainingScene scene;
  const TrainAction action = scene.Action(R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training {
        epochs: 2 batch_size: 12
        optimizer { learning_rate: 0.1 weight_decay: 0.01 sgd { momentum: 0.9 } }
        schedule { step { milestone: 1 factor: 0.5 } }
      })");
  const auto run = MakeRun(action, scene.Context());
  const std::shared_ptr<Model> reference = MakeRun(action, scene.Context())->model();  // the same initial values
  Model& model = *reference;
  const at::Tensor image = scene.TrainingImages(), label = scene.TrainingLabels();  // all are one batch
  std::vector<at::Tensor> momentum;
  for (const at::Tensor& parameter : model.parameters()) momentum.push_back(at::zeros_like(parameter));
  EXPECT_EQ(run->max_steps(), 2);
  EXPECT_FALSE(run->done());
  for (int step = 0; step < 2; ++step) {
    const double rate = step == 0 ? 0.1 : 0.05;
    model.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(model.Forward(image).logits, label);
    loss.backward();
    {
      const c10::NoGradGuard no_grad;
      for (size_t p = 0; p < momentum.size(); ++p) {
        at::Tensor parameter = model.parameters()[p];
        momentum[p] = 0.9 * momentum[p] + parameter.grad() + 0.01 * parameter;
        parameter.sub_(rate * momentum[p]);
      }
    }
    ASSERT_THAT(run->Step(), IsOk());
    EXPECT_TRUE(run->between_epochs());
    EXPECT_EQ(run->steps(), step + 1);
    EXPECT_EQ(run->images_seen(), 12 * (step + 1));
    ASSERT_EQ(run->epochs().size(), step + 1);
    EXPECT_NEAR(run->epochs()[step].loss(), loss.item<double>(), 1e-6);
    EXPECT_NEAR(run->epochs()[step].term(0), loss.item<double>(), 1e-6);
    EXPECT_EQ(run->epochs()[step].learning_rate(), rate);
    const auto parameters = run->model()->named_parameters();
    for (const auto& parameter : model.named_parameters()) {
      EXPECT_THAT(parameters[parameter.key()], TensorNear(parameter.value(), 1e-6)) << parameter.key();
    }
  }
  EXPECT_TRUE(run->done());
}

TEST(TrainingRun, CurvesHoldLambda) {
  const TrainingScene scene;
  const std::string rest = R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      training {
        epochs: 1 batch_size: 4 optimizer { learning_rate: 1e-9 sgd {} } schedule { constant {} }
      })";
  const auto curve = [&](const std::string& terms) {
    const TrainAction action = scene.Action(rest + "open_set { feature_mixup {} } loss {" + terms + "}");
    const auto run = MakeRun(action, scene.Context());
    EXPECT_THAT(run->FinishEpoch(), IsOk());
    return run->epochs()[0];
  };
  const EpochSummary one = curve("term { cross_entropy {} } term { open_auc { include_misclassified: true } }");
  const EpochSummary half =
      curve("term { lambda: 2 cross_entropy {} } term { lambda: 0.5 open_auc { include_misclassified: true } }");
  EXPECT_NEAR(half.term(0), 2 * one.term(0), 1e-5);
  EXPECT_NEAR(half.term(1), 0.5 * one.term(1), 1e-5);
  EXPECT_NEAR(half.loss(), half.term(0) + half.term(1), 1e-5);
}

// Neither run depends on the other's draws or on LibTorch's default generator.
TEST(TrainingRun, RunsInTurnGiveTheBitsOfOneAfterTheOther) {
  const TrainingScene scene;
  TrainAction actions[] = {scene.Action(), scene.Action()};
  actions[1].set_seed(1);
  TensorMap expected[2];
  for (int r = 0; r < 2; ++r) {
    const auto run = MakeRun(actions[r], scene.Context());
    while (!run->done()) ASSERT_THAT(run->Step(), IsOk());
    expected[r] = StateCopy(*run);
  }
  at::manual_seed(5);
  const at::Tensor untouched = at::rand({2});
  at::manual_seed(5);
  const std::unique_ptr<TrainingRun> runs[] = {MakeRun(actions[0], scene.Context()),
                                               MakeRun(actions[1], scene.Context())};
  while (!runs[0]->done() || !runs[1]->done()) {
    for (const auto& run : runs) {
      if (run->done()) continue;
      ASSERT_THAT(run->Step(), IsOk());
    }
  }
  EXPECT_THAT(at::rand({2}), TensorEq(untouched));
  for (int r = 0; r < 2; ++r) ExpectSameState(StateCopy(*runs[r]), expected[r]);
  EXPECT_THAT(expected[0].at("model.head.weight"), Not(TensorEq(expected[1].at("model.head.weight"))));
}

TEST(TrainingRun, StopsAtMaxSteps) {
  const TrainingScene scene;
  TrainAction action = scene.Action();
  const auto whole = MakeRun(action, scene.Context());
  const int64_t all = whole->max_steps();
  ASSERT_GT(all, 5);
  action.mutable_training()->set_max_steps(5);
  const auto run = MakeRun(action, scene.Context());
  EXPECT_EQ(run->max_steps(), 5);
  while (!run->done()) ASSERT_THAT(run->Step(), IsOk());
  EXPECT_EQ(run->steps(), 5);
  EXPECT_TRUE(run->between_epochs());
}

TEST(TrainingRun, AScheduleThatStepsEachIterationReachesTheFloorWithTheLastStep) {
  const TrainingScene scene;
  const TrainAction action = scene.Action(R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      loss { term { cross_entropy {} } }
      training {
        epochs: 1 batch_size: 6
        optimizer { learning_rate: 0.1 sgd {} }
        schedule { cosine_restarts { cycle_epochs: 1 stepping: BEFORE_ITERATION } }
      })");
  const auto run = MakeRun(action, scene.Context());
  ASSERT_EQ(run->max_steps(), 2);
  const at::Tensor initial = run->model()->named_parameters()["head.weight"].detach().clone();
  ASSERT_THAT(run->Step(), IsOk());
  const at::Tensor first = run->model()->named_parameters()["head.weight"].detach().clone();
  EXPECT_THAT(first, Not(TensorEq(initial)));
  ASSERT_THAT(run->Step(), IsOk());  // at rate 0
  EXPECT_THAT(run->model()->named_parameters()["head.weight"], TensorEq(first));
  EXPECT_DOUBLE_EQ(run->epochs()[0].learning_rate(), 0.05);  // cos of half a cycle is 0
}

TEST(TrainingRun, DivergenceIsAnError) {
  const TrainingScene scene;
  TrainAction action = scene.Action();
  action.mutable_training()->mutable_optimizer()->set_learning_rate(1e30);
  const auto run = MakeRun(action, scene.Context());
  absl::Status status;
  while (status.ok() && !run->done()) status = run->FinishEpoch();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, HasSubstr("diverged")));
}

// Memorises noise images. Guessing has a loss of log 3 = 1.1.
TEST(TrainingRun, LearnsInBfloat16WithF32Losses) {
  const TrainingScene scene;
  TrainAction action = scene.Action(R"(
      model { osrci_cnn { dropout: 0 } head { linear {} } }
      open_set { feature_mixup {} }
      loss { term { cross_entropy {} } term { lambda: 0.1 open_auc {} } }
      training {
        epochs: 20 batch_size: 12
        optimizer { learning_rate: 0.01 adam {} } schedule { constant {} }
      })");
  action.mutable_execution()->set_precision(ExecutionSpec::BF16);
  const auto run = MakeRun(action, scene.Context());
  while (!run->done()) ASSERT_THAT(run->FinishEpoch(), IsOk());
  EXPECT_LT(run->epochs().back().term(0), 0.5 * run->epochs().front().term(0));
  for (const auto& [name, tensor] : run->State()) {
    EXPECT_TRUE(!tensor.is_floating_point() || tensor.scalar_type() == at::kFloat) << name;
  }
  // The values of terms are f32, also those on the open set.
  auto source = MakeOpenSetSource(action, scene.Context(), run->model()->feature_dim());
  ASSERT_THAT(source, IsOk());
  const std::shared_ptr<OpenSetSource> shared = *std::move(source);
  Objective objective(action, at::kCPU, 12, run->model(), shared);
  RandomStream random(0, "open_set");
  Batch batch{scene.TrainingImages(), scene.TrainingLabels(), at::arange(12)};
  ASSERT_THAT(DrawOpenSet(shared.get(), &random, &batch), IsOk());
  EXPECT_EQ(objective.Compute(batch).objective.scalar_type(), at::kFloat);
  // bfloat16 keeps 8 bits: the first loss is near that in f32, and not the same.
  action.mutable_execution()->set_precision(ExecutionSpec::FP32);
  const auto exact = MakeRun(action, scene.Context());
  ASSERT_THAT(exact->FinishEpoch(), IsOk());
  EXPECT_NEAR(run->epochs()[0].term(0), exact->epochs()[0].term(0), 0.05);
  EXPECT_NE(run->epochs()[0].term(0), exact->epochs()[0].term(0));
}

}  // namespace
}  // namespace openset
