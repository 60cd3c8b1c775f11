#include "losses/testing/loss_conformance.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/proto/traits.h"
#include "core/testing/synchronisation_check.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

LossScene SceneFor(const LossCase& loss_case) {
  RandomStream random(1, loss_case.spec);
  LossScene scene = RandomScene(&random);
  // The last output is then none of the known classes.
  if (TraitsOf(TermSpec(loss_case.spec)).extra_output()) scene.batch.label.clamp_max_(2);
  return scene;
}

// Makes each output a separate leaf.
LossScene WithGradients(LossScene scene) {
  for (at::Tensor* output : Outputs(&scene)) *output = output->detach().clone().set_requires_grad(true);
  return scene;
}

at::Tensor GradientOf(const at::Tensor& leaf) { return leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf); }

void KeepOpenRows(const at::Tensor& rows, LossScene* scene) {
  ModelOutput& output = scene->open.output;
  for (at::Tensor* tensor : {&output.feature, &output.logits, &output.distance, &scene->open.slot, &scene->open.weight,
                             &scene->open.share, &scene->open.partner}) {
    *tensor = tensor->index_select(0, rows);
  }
}

void PermuteKnown(const at::Tensor& order, LossScene* scene) {
  for (ModelOutput& view : scene->views) {
    for (at::Tensor* tensor : {&view.feature, &view.logits, &view.distance}) *tensor = tensor->index_select(0, order);
  }
  ModelOutput& output = scene->known;
  for (at::Tensor* tensor :
       {&output.feature, &output.logits, &output.distance, &scene->batch.label, &scene->batch.sample}) {
    *tensor = tensor->index_select(0, order);
  }
  // Row i is now where order is i.
  scene->open.slot = order.argsort().index_select(0, scene->open.slot);
}

void ExpectFinite(LossTerm* term, LossScene scene) {
  scene = WithGradients(std::move(scene));
  const at::Tensor value = term->Compute(scene.Input());
  EXPECT_TRUE(value.isfinite().item<bool>()) << value;
  if (!value.requires_grad()) return;
  value.backward();
  for (at::Tensor* output : Outputs(&scene)) {
    const at::Tensor gradient = GradientOf(*output);
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << gradient << "\nat\n" << *output;
  }
}

}  // namespace

void ExpectRightGradients(const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  LossScene scene = SceneFor(loss_case);
  for (const auto& [name, parameter] : term->Parameters()) {
    const auto value_at = [&, &parameter = parameter](double x) {
      parameter.set_data(at::full_like(parameter, x, at::kDouble));
      return term->Compute(scene.Input());
    };
    parameter.mutable_grad() = at::Tensor();  // drops the gradients of earlier parameters
    value_at(0.7).backward();
    const at::Tensor difference = (value_at(0.7 + 1e-5) - value_at(0.7 - 1e-5)) / 2e-5;
    EXPECT_THAT(parameter.grad().sum(), TensorNear(difference, 1e-7)) << "parameter " << name;
    value_at(0.7);
  }
  std::vector<at::Tensor> points;
  for (at::Tensor* output : Outputs(&scene)) points.push_back(*output);
  EXPECT_TRUE(GradientsMatch(
      [&](const std::vector<at::Tensor>& inputs) {
        LossScene at_inputs = scene;
        const std::vector<at::Tensor*> outputs = Outputs(&at_inputs);
        for (size_t i = 0; i < outputs.size(); ++i) *outputs[i] = inputs[i];
        return term->Compute(at_inputs.Input());
      },
      points));
}

void ExpectScalar(const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  const LossScene scene = SceneFor(loss_case);
  EXPECT_EQ(term->Compute(scene.Input()).dim(), 0);
  EXPECT_EQ(term->Compute(scene.Input()).scalar_type(), at::kDouble);
}

void ExpectPermutationInvariance(const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  LossScene scene = SceneFor(loss_case);
  const at::Tensor value = term->Compute(scene.Input());
  PermuteKnown(at::tensor({3, 0, 5, 1, 4, 2}, at::kLong), &scene);
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(value, 1e-12)) << "in another order of known samples";
  KeepOpenRows(at::tensor({2, 4, 0, 3, 1}, at::kLong), &scene);
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(value, 1e-12)) << "in another order of open samples";
}

void ExpectFiniteAtExtremes(const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  const LossScene scene = Transformed(SceneFor(loss_case), [](const at::Tensor& tensor) {
    return tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  });
  const std::function<at::Tensor(const at::Tensor&)> kExtremes[] = {
      [](const at::Tensor& x) { return 1000 * x.sign(); },
      [](const at::Tensor& x) { return -1000 * x.sign(); },
      [](const at::Tensor& x) { return 1000 * x.round().sign(); },
      [](const at::Tensor& x) { return at::full_like(x, 1000); },
      [](const at::Tensor& x) { return at::full_like(x, -1000); },
      [](const at::Tensor& x) { return at::zeros_like(x); },
  };
  for (const auto& extreme : kExtremes) {
    LossScene changed = scene;
    for (at::Tensor* tensor : Outputs(&changed)) *tensor = extreme(*tensor);
    for (ModelOutput* output : {&changed.known, &changed.open.output}) output->distance = output->distance.abs();
    ExpectFinite(term.get(), changed);
  }
}

void ExpectDroppedSamplesDontCount(const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  const LossScene scene = SceneFor(loss_case);
  LossScene without = scene;  // row 4 has weight 0
  KeepOpenRows(at::arange(4), &without);
  EXPECT_THAT(term->Compute(scene.Input()), TensorNear(term->Compute(without.Input()), 1e-12));

  LossScene none = WithGradients(scene);
  none.open.weight = at::zeros_like(scene.open.weight);
  const at::Tensor value = term->Compute(none.Input());
  if (value.requires_grad()) value.backward();
  EXPECT_THAT(GradientOf(none.open.output.logits), TensorNear(at::zeros({5, 4}), 0));
  EXPECT_THAT(GradientOf(none.open.output.distance), TensorNear(at::zeros({5, 4}), 0));
  if (loss_case.zero_without_open) {
    EXPECT_THAT(value, TensorNear(at::scalar_tensor(0), 0));
    EXPECT_THAT(GradientOf(none.known.logits), TensorNear(at::zeros({6, 4}), 0));
  }
  KeepOpenRows(at::arange(0), &none);
  EXPECT_THAT(term->Compute(none.Input()), TensorNear(value, 1e-12)) << "with 0 rows";
}

void ExpectNoSynchronisation(const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  const LossScene scene = WithGradients(SceneFor(loss_case));
  EXPECT_THAT(SynchronisingOperators([&] { term->Compute(scene.Input()).backward(); }), ::testing::IsEmpty());
}

void ExpectSameOn(at::Device device, const LossCase& loss_case) {
  const std::unique_ptr<LossTerm> term = MakeTerm(loss_case.spec);
  const std::unique_ptr<LossTerm> term_there = MakeTerm(loss_case.spec, device);
  LossScene here = WithGradients(SceneFor(loss_case));
  LossScene there = WithGradients(Transformed(here, [&](const at::Tensor& tensor) { return tensor.to(device); }));
  const at::Tensor value = term->Compute(here.Input());
  const at::Tensor value_there = term_there->Compute(there.Input());
  EXPECT_EQ(value_there.device(), device);
  EXPECT_THAT(value_there, TensorNear(value, 1e-9));
  value.backward();
  value_there.backward();
  for (size_t i = 0; i < Outputs(&here).size(); ++i) {
    EXPECT_THAT(GradientOf(*Outputs(&there)[i]), TensorNear(GradientOf(*Outputs(&here)[i]), 1e-9));
  }
}

}  // namespace openset
