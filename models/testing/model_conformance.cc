#include "models/testing/model_conformance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/proto/traits.h"
#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/checkpoint.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/make_model.h"
#include "models/networks/dropout.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

constexpr int kNumClasses = 3;

InputSpec InputOf(int size) { return InputSpecOf(absl::StrCat("size: ", size)); }

std::shared_ptr<Model> ModelOf(const std::string& spec, int size, uint64_t seed) {
  RandomStream random(seed, "model");
  auto model = MakeModel(ModelSpecOf(spec), InputOf(size), kNumClasses, &random);
  CHECK(model.ok()) << model.status();
  (*model)->SetGenerator(MakeGenerator(at::kCPU, 1));
  return *model;
}

std::shared_ptr<Model> FullModel(const ModelCase& model_case, uint64_t seed = 1) {
  return ModelOf(model_case.spec, model_case.size, seed);
}

// A scalar that depends on all outputs, with fixed weights.
at::Tensor SumOfOutputs(const ModelOutput& output) {
  RandomStream random(7, "weights");
  at::Tensor sum = at::zeros({}, output.logits.options());
  for (const at::Tensor& part : {output.logits, output.feature}) {
    const at::Tensor weights = at::empty_like(part).detach();
    DrawNormal(0, 1, &random, weights);
    sum = sum + (part * weights).sum();
  }
  return sum;
}

bool StatesAreEqual(const TensorMap& a, const TensorMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    if (b.count(name) == 0 || !at::equal(tensor, b.at(name))) return false;
  }
  return true;
}

TEST_P(ModelConformance, OutputsHaveTheStatedShapes) {
  ModelSpec spec = ModelSpecOf(GetParam().spec);
  const InputSpec input = InputOf(GetParam().size);
  for (const int extra : {0, 1}) {
    spec.mutable_head()->set_extra_outputs(extra);
    RandomStream random(1, "model");
    const auto model = MakeModel(spec, input, kNumClasses, &random);
    ASSERT_THAT(model, IsOk());
    (*model)->SetGenerator(MakeGenerator(at::kCPU, 1));
    EXPECT_TRUE((*model)->is_training());
    for (const int64_t batch : {2, 5}) {
      const ModelOutput output = (*model)->Forward(NoiseImages(batch, input, 1));
      EXPECT_EQ(output.feature.sizes(), at::IntArrayRef({batch, (*model)->feature_dim()}));
      EXPECT_EQ(output.logits.sizes(), at::IntArrayRef({batch, kNumClasses + extra}));
      EXPECT_THAT((*model)->ForwardHead(output.feature).logits, TensorEq(output.logits));
    }
    (*model)->eval();
    EXPECT_EQ((*model)->Forward(NoiseImages(1, input, 1)).logits.sizes(), at::IntArrayRef({1, kNumClasses + extra}));
  }
}

TEST_P(ModelConformance, NamesSayBackboneOrHead) {
  for (const auto& [name, tensor] : StateOf(*FullModel(GetParam()))) {
    EXPECT_TRUE(absl::StartsWith(name, "backbone.") || absl::StartsWith(name, "head.")) << name;
  }
}

TEST_P(ModelConformance, TheStreamDecidesTheParameters) {
  const TensorMap state = StateOf(*FullModel(GetParam(), 1));
  EXPECT_TRUE(StatesAreEqual(state, StateOf(*FullModel(GetParam(), 1))));
  const TensorMap other = StateOf(*FullModel(GetParam(), 2));
  for (const auto& [name, tensor] : state) {
    EXPECT_TRUE(tensor.is_contiguous()) << name;
    if (tensor.dim() > 1) {
      EXPECT_FALSE(at::equal(tensor, other.at(name))) << name;
    }
  }
}

TEST_P(ModelConformance, EvaluationTreatsEachImageSeparately) {
  const auto model = FullModel(GetParam());
  model->Forward(NoiseImages(8, InputOf(GetParam().size), 1));  // statistics other than the first ones
  model->eval();
  const TensorMap before = StateOf(*model);
  const at::NoGradGuard no_grad;
  const at::Tensor images = NoiseImages(5, InputOf(GetParam().size), 2);
  const at::Tensor logits = model->Forward(images).logits;
  for (int64_t i = 0; i < images.size(0); ++i) {
    EXPECT_THAT(model->Forward(images.slice(0, i, i + 1)).logits, TensorNear(logits.slice(0, i, i + 1), 1e-5));
  }
  EXPECT_THAT(model->Forward(images).logits, TensorEq(logits));
  EXPECT_TRUE(StatesAreEqual(StateOf(*model), before));
}

TEST_P(ModelConformance, FoldedBatchNormsComputeTheSame) {
  const auto model = FullModel(GetParam());
  const at::Tensor images = NoiseImages(4, InputOf(GetParam().size), 1);
  model->Forward(images);  // statistics other than the first ones
  model->eval();
  const at::NoGradGuard no_grad;
  const TensorMap before = StateOf(*model);
  const at::Tensor logits = model->Forward(images).logits;
  SetFolding(*model, true);
  const double scale = logits.abs().max().item<float>();
  EXPECT_THAT(model->Forward(images).logits / scale, TensorNear(logits / scale, 1e-4));
  EXPECT_TRUE(StatesAreEqual(StateOf(*model), before));
  SetFolding(*model, false);
  EXPECT_THAT(model->Forward(images).logits, TensorEq(logits));
}

TEST_P(ModelConformance, DoesNotDependOnTheMemoryLayout) {
  const auto model = FullModel(GetParam());
  model->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor images = NoiseImages(3, InputOf(GetParam().size), 2);
  EXPECT_THAT(model->Forward(images.contiguous()).logits, TensorNear(model->Forward(images).logits, 1e-5));
}

TEST_P(ModelConformance, GreyImagesOfOneChannel) {
  InputSpec input = InputOf(GetParam().size);
  input.set_channels(1);
  RandomStream random(1, "model");
  const auto model = MakeModel(ModelSpecOf(GetParam().spec), input, kNumClasses, &random);
  ASSERT_THAT(model, IsOk());
  (*model)->SetGenerator(MakeGenerator(at::kCPU, 1));
  EXPECT_EQ((*model)->Forward(NoiseImages(2, input, 1)).logits.sizes(), at::IntArrayRef({2, kNumClasses}));
}

// Forward() from each stage on gives the output for the image; a changed map gives another output.
TEST_P(ModelConformance, GoesOnFromBehindEachStage) {
  const auto model = FullModel(GetParam());
  EXPECT_EQ(model->num_stages(), TraitsOf(ModelSpecOf(GetParam().spec)).stages());
  if (model->num_stages() == 0) GTEST_SKIP() << "it shows no stages";
  model->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor images = NoiseImages(3, InputOf(GetParam().size), 2);
  const ModelOutput whole = model->Forward(images);
  std::vector<at::Tensor> maps;
  EXPECT_THAT(model->ForwardFrom(0, images, &maps).logits, TensorEq(whole.logits));
  ASSERT_EQ(maps.size(), model->num_stages());
  for (int s = 0; s < model->num_stages(); ++s) {
    SCOPED_TRACE(s);
    EXPECT_EQ(maps[s].dim(), 4);
    const at::Tensor kept = maps[s].clone();
    std::vector<at::Tensor> later;
    EXPECT_THAT(model->ForwardFrom(s + 1, maps[s], &later).logits, TensorEq(whole.logits));
    EXPECT_EQ(later.size(), model->num_stages() - s - 1);
    EXPECT_THAT(maps[s], TensorEq(kept)) << "a map belongs to who asked for it";
    EXPECT_FALSE(at::equal(model->ForwardFrom(s + 1, maps[s] * 2).logits, whole.logits));
  }
}

// As Monte-Carlo dropout needs it: batch norm stays in evaluation mode.
TEST_P(ModelConformance, DropoutCanBeSwitchedOnAlone) {
  const auto model = FullModel(GetParam());
  model->eval();
  bool has_dropout = false;
  for (const auto& [path, module] : model->named_modules()) {
    if (dynamic_cast<Dropout*>(module) == nullptr) continue;
    module->train();
    has_dropout = true;
  }
  const TensorMap before = StateOf(*model);
  const at::Tensor images = NoiseImages(4, InputOf(GetParam().size), 2);
  const at::Tensor first = model->Forward(images).logits;
  EXPECT_EQ(at::equal(model->Forward(images).logits, first), !has_dropout);
  EXPECT_TRUE(StatesAreEqual(StateOf(*model), before));
}

// Also with dropout.
TEST_P(ModelConformance, TrainingStepsRepeatBitForBit) {
  std::vector<at::Tensor> gradients[2];
  for (auto& run : gradients) {
    const auto model = FullModel(GetParam());
    model->SetGenerator(MakeGenerator(at::kCPU, 5));
    SumOfOutputs(model->Forward(NoiseImages(4, InputOf(GetParam().size), 3))).backward();
    for (const at::Tensor& parameter : model->parameters()) run.push_back(parameter.grad());
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) EXPECT_THAT(gradients[0][i], TensorEq(gradients[1][i])) << i;
}

TEST_P(ModelConformance, GradientsReachEveryParameter) {
  const auto model = FullModel(GetParam());
  model->SetGenerator(MakeGenerator(at::kCPU, 5));
  SumOfOutputs(model->Forward(NoiseImages(8, InputOf(GetParam().size), 3))).backward();
  for (const auto& parameter : model->named_parameters()) {
    ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
    const double norm = parameter.value().grad().norm().item<double>();
    EXPECT_TRUE(std::isfinite(norm) && norm > 0) << parameter.key() << ": " << norm;
  }
}

// The derivative along one random direction for each parameter and for the images, in double, against the central
// difference of step 1e-7. The step is so small that almost no ReLU or pooling unit crosses its kink. If it is too
// small for the rounding of a deep network, which differs between processors, a step of 1e-6 decides.
TEST_P(ModelConformance, GradientsAreRight) {
  const auto model = ModelOf(GetParam().narrow_spec, GetParam().narrow_size, 1);
  model->to(at::kDouble);
  at::Tensor images = NoiseImages(4, InputOf(GetParam().narrow_size), 3).to(at::kDouble).set_requires_grad(true);
  SumOfOutputs(model->Forward(images)).backward();

  std::vector<std::pair<std::string, at::Tensor>> inputs = {{"images", images}};
  for (const auto& parameter : model->named_parameters()) inputs.emplace_back(parameter.key(), parameter.value());
  RandomStream random(1, "directions");
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : inputs) {
    at::Tensor direction = at::empty_like(tensor);
    DrawNormal(0, 1, &random, direction);
    direction = direction / direction.norm();
    const double derivative = (tensor.grad() * direction).sum().item<double>();
    const double tolerance = 1e-6 * std::max(1.0, std::abs(derivative));
    const auto difference = [&, &tensor = tensor](double step) {
      tensor.add_(direction, step);
      const double above = SumOfOutputs(model->Forward(images)).item<double>();
      tensor.add_(direction, -2 * step);
      const double below = SumOfOutputs(model->Forward(images)).item<double>();
      tensor.add_(direction, step);
      return (above - below) / (2 * step);
    };
    double found = difference(1e-7);
    if (std::abs(found - derivative) > tolerance) found = difference(1e-6);
    EXPECT_NEAR(found, derivative, tolerance) << name;
  }
}

TEST_P(ModelConformance, CheckpointsRestoreTheModel) {
  const auto model = FullModel(GetParam(), 1);
  const at::Tensor images = NoiseImages(3, InputOf(GetParam().size), 2);
  model->Forward(images);  // statistics other than the first ones
  model->eval();
  const std::string path = JoinPath(::testing::TempDir(), "model.safetensors");
  ASSERT_THAT(SaveTensors(StateOf(*model), {}, path), IsOk());

  const auto other = FullModel(GetParam(), 2);
  other->eval();
  EXPECT_FALSE(at::equal(other->Forward(images).logits, model->Forward(images).logits));
  const auto loaded = LoadTensors(path);
  ASSERT_THAT(loaded, IsOk());
  ASSERT_THAT(SetState(*loaded, other.get()), IsOk());
  EXPECT_TRUE(StatesAreEqual(StateOf(*other), StateOf(*model)));
  EXPECT_THAT(other->Forward(images).logits, TensorEq(model->Forward(images).logits));
}

// Memorises 24 images of noise. The loss of guessing is log 3 = 1.1.
TEST_P(ModelConformance, OverfitsATinySet) {
  const auto model = ModelOf(GetParam().narrow_spec, GetParam().narrow_size, 1);
  const at::Tensor images = NoiseImages(24, InputOf(GetParam().narrow_size), 3);
  const at::Tensor labels = at::arange(24) % kNumClasses;
  double loss = 0;
  int step = 0;
  for (; step < 500; ++step) {
    model->zero_grad();
    const at::Tensor value = at::cross_entropy_loss(model->Forward(images).logits, labels);
    value.backward();
    const at::NoGradGuard no_grad;
    for (const at::Tensor& parameter : model->parameters()) parameter.add_(parameter.grad(), -0.1);
    loss = value.item<double>();
    if (loss < 0.01) break;
  }
  RecordProperty("steps", step);
  EXPECT_LT(loss, 0.01);
}

TEST_P(ModelConformance, WorksInBfloat16) {
  const auto model = FullModel(GetParam());
  const at::Tensor images = NoiseImages(4, InputOf(GetParam().size), 3);
  model->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor logits = model->Forward(images).logits;
  model->to(at::kBFloat16);
  // bfloat16 keeps 8 bits.
  const double tolerance = std::max(0.1, 0.02 * logits.abs().max().item<double>());
  EXPECT_THAT(model->Forward(images.to(at::kBFloat16)).logits, TensorNear(logits, tolerance));
  model->train();
  EXPECT_EQ(model->Forward(images.to(at::kBFloat16)).logits.scalar_type(), at::kBFloat16);
}

}  // namespace

}  // namespace openset
