#include "models/testing/golden_outputs.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "models/make_model.h"

namespace openset {
namespace {

constexpr int kNumClasses = 3;
constexpr int64_t kEvalBatch = 2;
constexpr int64_t kTrainBatch = 4;

TensorMap GoldenState(const Model& model) {
  TensorMap state = StateOf(model);
  FillWithSines(&state);
  return state;
}

// The sums of the elements, of the elements times Sines, and of their absolute values.
at::Tensor Summary(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).flatten();
  return at::stack({flat.sum(), flat.dot(Sines(flat.sizes(), 0)), flat.abs().sum()});
}

void ExpectOutputs(Model* model, int size, at::ScalarType type, double tolerance, const TensorMap& golden) {
  model->to(type);
  ASSERT_THAT(SetState(GoldenState(*model), model), IsOk());
  const auto images = [&](int64_t count) {
    return Sines({count, 3, size, size}, 0).to(type).contiguous(at::MemoryFormat::ChannelsLast);
  };

  TensorMap actual;
  model->eval();
  ModelOutput output = model->Forward(images(kEvalBatch));
  actual["eval.feature"] = output.feature;
  actual["eval.logits"] = output.logits;
  model->train();
  output = model->Forward(images(kTrainBatch));
  const at::Tensor loss = at::cross_entropy_loss(output.logits, at::arange(kTrainBatch) % kNumClasses);
  loss.backward();
  actual["train.logits"] = output.logits;
  actual["train.loss"] = loss;
  for (const auto& parameter : model->named_parameters()) {
    actual["gradient." + parameter.key()] = Summary(parameter.value().grad());
  }
  for (const auto& buffer : model->named_buffers()) actual["after." + buffer.key()] = Summary(buffer.value());

  EXPECT_EQ(actual.size(), golden.size());
  for (const auto& [name, expected] : golden) {
    ASSERT_EQ(actual.count(name), 1) << name;
    ASSERT_EQ(actual[name].sizes(), expected.sizes()) << name;
    const double scale = std::max(1.0, expected.abs().max().item<double>());
    EXPECT_LE((actual[name].detach().to(at::kDouble) - expected).abs().max().item<double>(), tolerance * scale) << name;
  }
}

}  // namespace

at::Tensor Sines(at::IntArrayRef shape, int phase) {
  at::Tensor sines = at::empty(shape, at::kDouble);
  double* element = sines.data_ptr<double>();
  for (int64_t i = 0; i < sines.numel(); ++i) element[i] = std::sin(0.01 * static_cast<double>(i * i) + phase);
  return sines;
}

void FillWithSines(TensorMap* state) {
  int number = 0;
  for (auto& [name, tensor] : *state) {
    const at::Tensor sines = Sines(tensor.sizes(), number++);
    if (absl::EndsWith(name, "num_batches_tracked")) {
      tensor.zero_();
    } else if (tensor.dim() > 1) {
      tensor.copy_(1.5 * std::sqrt(static_cast<double>(tensor.size(0)) / tensor.numel()) * sines);
    } else if (absl::EndsWith(name, "weight") || absl::EndsWith(name, "running_var")) {
      tensor.copy_(1 + 0.5 * sines);
    } else {
      tensor.copy_(0.1 * sines);
    }
  }
}

void ExpectGoldenOutputs(const ModelSpec& spec, const InputSpec& input, const std::string& path, double f32_tolerance) {
  const auto golden = LoadTensors(path);
  ASSERT_THAT(golden, IsOk());
  RandomStream random(1, "overwritten");
  const auto model = MakeModel(spec, input, kNumClasses, &random);
  ASSERT_THAT(model, IsOk());
  ExpectOutputs(model->get(), input.size(), at::kDouble, 1e-9, *golden);
  for (at::Tensor& parameter : (*model)->parameters()) parameter.mutable_grad().reset();
  ExpectOutputs(model->get(), input.size(), at::kFloat, f32_tolerance, *golden);
}

}  // namespace openset
