#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

// u(C) = sigmoid(-C): 1/3 for the known sample, whose C is log 2 and cross entropy log 2, and 4/5 for the open one at
// margin log 4, whose C is 0.
class EnergyConstraintTerm : public ::testing::Test {
 protected:
  EnergyConstraintTerm()
      : term_(MakeTerm("energy_constraint { margin: " + std::to_string(std::log(4)) +
                       " false_alarm: 0.1 cross_entropy_limit: 0.5 multiplier_rate: 2 penalty_growth: 3 }")) {
    for (const auto& [name, parameter] : term_->Parameters()) {
      parameter.set_data(at::full({1}, name == "slope" ? -1 : 0, at::kDouble));
    }
    scene_ = SceneOf(Matrix({{0, 0}}), {0});
    scene_.open = OpenSetOf(Matrix({{-std::log(2), -std::log(2)}}));
  }

  double Step(int64_t epoch) {
    scene_.epoch = epoch;
    return term_->Compute(scene_.Input()).item<double>();
  }
  at::Tensor State(const std::string& name) {
    for (const auto& [key, tensor] : term_->State()) {
      if (key == name) return tensor;
    }
    return {};
  }

  const std::unique_ptr<LossTerm> term_;
  LossScene scene_;
};

TEST_F(EnergyConstraintTerm, PenalisesViolatedConstraints) {
  // The reference is the cross entropy of this step.
  const double alarm = 1.0 / 3 - 0.1, entropy = std::log(2) / 2;
  EXPECT_NEAR(Step(0), 1 - 0.8 + (alarm * alarm + entropy * entropy) / 2, 1e-6);
  scene_.open.weight = at::zeros({1}, at::kDouble);
  EXPECT_NEAR(Step(0), (alarm * alarm + entropy * entropy) / 2, 1e-6);
}

TEST_F(EnergyConstraintTerm, MultipliersAndWeightsFollowTheMeansOfAnEpoch) {
  Step(0);
  EXPECT_EQ(State("sums")[2].item<double>(), 0) << "before the end of the step";
  for (int step = 0; step < 2; ++step) {
    Step(0);
    term_->EndStep();
    EXPECT_THAT(State("weight"), TensorEq(at::ones({2}, at::kDouble)));
  }
  // The cross entropy falls to log(4/3), below half of the reference, log 2, and u becomes 1/5.
  scene_.known.logits = Matrix({{std::log(3), 0}});
  const double alarm = 1.0 / 3 - 0.1, entropy = std::log(2) / 2;
  const double l1 = 2 * alarm, l2 = 2 * entropy, g1 = 0.1, g2 = std::log(4.0 / 3) - entropy;
  ASSERT_GT(3 * g2 + l2, 0);
  EXPECT_NEAR(Step(1), 1 - 0.8 + l1 * g1 + 1.5 * g1 * g1 + l2 * g2 + 1.5 * g2 * g2, 1e-6);
  term_->EndStep();
  EXPECT_THAT(State("multiplier"), TensorNear(at::tensor({l1, l2}, at::kDouble), 1e-9));
  EXPECT_THAT(State("weight"), TensorEq(at::full({2}, 3, at::kDouble)));
  EXPECT_NEAR(State("reference").item<double>(), std::log(2), 1e-9);
  // Both are changed again, by the mean of the one step; the weight of a constraint that is not violated stays.
  Step(2);
  term_->EndStep();
  EXPECT_THAT(State("multiplier"), TensorNear(at::tensor({l1 + 2 * g1, l2 + 2 * g2}, at::kDouble), 1e-9));
  EXPECT_THAT(State("weight"), TensorEq(at::tensor({9, 3}, at::kDouble)));
}

// A constraint that is far from violated costs -l^2 / (2 w), and its multiplier moves by rate * l / w.
TEST_F(EnergyConstraintTerm, AConstraintThatIsKeptLosesItsMultiplier) {
  State("multiplier").copy_(at::tensor({0.1, 0.4}, at::kDouble));
  State("weight").fill_(2);
  State("reference").fill_(10);
  State("sums").copy_(at::tensor({0.05, 0.5, 1.0}, at::kDouble));
  scene_.known.logits = Matrix({{60, 0}});  // u = 0, cross entropy 0
  scene_.open.weight = at::zeros({1}, at::kDouble);
  // l_1 + 2 * -0.05 = 0 is at the edge: 0.1 + 2 * -0.05. Then l_1 = 0 and l_2 = 0.4 - 2 * 0.4 / 2.
  EXPECT_NEAR(Step(1), 0, 1e-9);
  term_->EndStep();
  EXPECT_THAT(State("multiplier"), TensorNear(at::zeros({2}, at::kDouble), 1e-9));
  State("multiplier").fill_(0.1);
  EXPECT_NEAR(Step(1), -2 * 0.01 / 4, 1e-9);
}

// Three epochs of two steps by the authors' train.py, with a reference of 0.5 and two multipliers.
TEST(EnergyConstraint, IsTheReleasedStep) {
  const auto term = MakeTerm(
      "energy_constraint { margin: -1 false_alarm: 0.25 cross_entropy_limit: 2 multiplier_rate: 0.5 penalty_growth: "
      "1.5 }");
  for (const auto& [name, parameter] : term->Parameters()) {
    parameter.set_data(at::full({1}, name == "slope" ? -0.75 : 2.25, at::kDouble));
  }
  std::map<std::string, at::Tensor> state;
  for (const auto& [name, tensor] : term->State()) state[name] = tensor;
  state["reference"].fill_(0.5);
  int64_t epoch = 0;
  at::Tensor multiplier = at::zeros({2}, at::kDouble), weight = at::ones({2}, at::kDouble);
  const nlohmann::json epochs = ReadGolden("released_losses.json")["scone"];
  ASSERT_EQ(epochs.size(), 3);
  for (const nlohmann::json& golden : epochs) {
    for (const nlohmann::json& step : golden["steps"]) {
      const at::Tensor logits = TensorOf(step["logits"]).requires_grad_(true),
                       wild = TensorOf(step["wild"]).requires_grad_(true);
      LossScene scene = SceneOf(logits, step["label"].get<std::vector<int64_t>>());
      scene.open = OpenSetOf(wild);
      scene.epoch = epoch;
      const at::Tensor value = term->Compute(scene.Input());
      EXPECT_THAT(value.detach(), TensorNear(TensorOf(step["value"]), 1e-12));
      value.backward();
      EXPECT_THAT(logits.grad(), TensorNear(TensorOf(step["gradient"]), 1e-12));
      EXPECT_THAT(wild.grad(), TensorNear(TensorOf(step["wild_gradient"]), 1e-12));
      term->EndStep();
      EXPECT_THAT(state["multiplier"], TensorNear(multiplier, 1e-12));
      EXPECT_THAT(state["weight"], TensorNear(weight, 1e-12));
    }
    multiplier = TensorOf(golden["multiplier"]);
    weight = TensorOf(golden["weight"]);
    ++epoch;
  }
}

}  // namespace
}  // namespace openset
