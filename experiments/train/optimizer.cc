#include "experiments/train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "core/logging.h"

namespace openset {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The cosine at `part` of a cycle, 0 to 1.
double Cosine(const CosineRestartsSpec& spec, double part) {
  return spec.floor() + (1 - spec.floor()) * 0.5 * (1 + std::cos(kPi * part));
}

// The epoch's place in its cycle; beyond its end if cycles don't restart.
int InCycle(const CosineRestartsSpec& spec, int epoch) { return spec.restarts() ? epoch % spec.cycle_epochs() : epoch; }

double CosineAtEpoch(const CosineRestartsSpec& spec, int epoch) {
  return Cosine(spec, static_cast<double>(InCycle(spec, epoch)) / spec.cycle_epochs());
}

// On the line from the floor to the cosine at the warm-up's end.
double WarmUp(const CosineRestartsSpec& spec, double epochs) {
  const int warmup = spec.warmup_epochs();
  const double share = warmup == 0 ? 0 : epochs / warmup;
  return spec.floor() + (CosineAtEpoch(spec, warmup) - spec.floor()) * share;
}

double CosineRestarts(const CosineRestartsSpec& spec, const TrainingTime& time) {
  const int epoch = time.epoch, warmup = spec.warmup_epochs();
  const auto steps = static_cast<double>(time.steps_per_epoch);
  switch (spec.stepping()) {
    case CosineRestartsSpec::EPOCH:
      return epoch < warmup ? WarmUp(spec, epoch) : CosineAtEpoch(spec, epoch);
    case CosineRestartsSpec::AFTER_EPOCH:
      return epoch <= warmup ? WarmUp(spec, epoch) : CosineAtEpoch(spec, epoch - 1);
    case CosineRestartsSpec::ITERATION:
    case CosineRestartsSpec::BEFORE_ITERATION: {
      const bool before = spec.stepping() == CosineRestartsSpec::BEFORE_ITERATION;
      const double part_of_epoch = static_cast<double>(time.step + (before ? 1 : 0)) / steps;
      if (epoch < warmup) return WarmUp(spec, epoch + part_of_epoch);
      return Cosine(spec, (InCycle(spec, epoch) + part_of_epoch) / spec.cycle_epochs());
    }
    case CosineRestartsSpec::STEPPING_UNSPECIFIED:
      break;
  }
  LOG(FATAL) << "a schedule without a stepping";
  return 0;
}

}  // namespace

double LearningRateFactor(const ScheduleSpec& spec, const TrainingTime& time) {
  switch (spec.kind_case()) {
    case ScheduleSpec::kConstant:
      return 1;
    case ScheduleSpec::kStep: {
      double factor = 1;
      for (int milestone : spec.step().milestone()) factor *= time.epoch >= milestone ? spec.step().factor() : 1;
      return factor;
    }
    case ScheduleSpec::kCosineRestarts:
      return CosineRestarts(spec.cosine_restarts(), time);
    case ScheduleSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "a schedule without a kind";
  return 0;
}

int FirstAveragedEpoch(const TrainingSpec& training) {
  // Not below a whole number by the rounding of the product.
  return static_cast<int>(std::floor(training.swa().start() * training.epochs() + 1e-9));
}

double LearningRate(const TrainingSpec& training, const TrainingTime& time) {
  const double initial = training.optimizer().learning_rate();
  const int past = training.has_swa() ? time.epoch - FirstAveragedEpoch(training) : 0;
  if (past <= 0) return initial * LearningRateFactor(training.schedule(), time);
  const TrainingTime end = {FirstAveragedEpoch(training), time.steps_per_epoch - 1, time.steps_per_epoch};
  const int anneal = training.swa().anneal_epochs();
  const double part = anneal == 0 ? 1 : std::min(1.0, static_cast<double>(past) / anneal);
  const double f = (1 - std::cos(kPi * part)) / 2;
  return initial * (f * training.swa().factor() + (1 - f) * LearningRateFactor(training.schedule(), end));
}

namespace {

at::Tensor ZerosLike(const at::Tensor& parameter) { return at::zeros_like(parameter.detach()); }

class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, NamedTensors parameters) : Optimizer(spec, std::move(parameters)), spec_(spec) {
    if (spec.sgd().momentum() == 0) return;
    for (const auto& [name, parameter] : parameters_) momentum_.push_back(ZerosLike(parameter));
  }

  void Step(const at::Tensor& learning_rate) override {
    c10::NoGradGuard no_grad;
    std::vector<at::Tensor> parameters, gradients, momentum;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& parameter = parameters_[i].second;
      const at::Tensor gradient = GradientOf(i);
      if (!gradient.defined()) continue;
      parameters.push_back(parameter);
      gradients.push_back(gradient);
      if (!momentum_.empty()) momentum.push_back(momentum_[i]);
    }
    if (parameters.empty()) return;
    at::_fused_sgd_(parameters, gradients, momentum, spec_.weight_decay(), spec_.sgd().momentum(), learning_rate,
                    /*dampening=*/0, spec_.sgd().nesterov(), /*maximize=*/false, /*is_first_step=*/false);
  }

  NamedTensors State() const override {
    NamedTensors state;
    for (size_t i = 0; i < momentum_.size(); ++i) state.emplace_back("momentum." + parameters_[i].first, momentum_[i]);
    AddState(&state);
    return state;
  }

 private:
  const OptimizerSpec spec_;
  std::vector<at::Tensor> momentum_;  // one for each parameter; empty without momentum
};

class Adam : public Optimizer {
 public:
  Adam(const OptimizerSpec& spec, NamedTensors parameters) : Optimizer(spec, std::move(parameters)), spec_(spec) {
    for (const auto& [name, parameter] : parameters_) {
      mean_.push_back(ZerosLike(parameter));
      square_.push_back(ZerosLike(parameter));
      steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)));
    }
  }

  void Step(const at::Tensor& learning_rate) override {
    c10::NoGradGuard no_grad;
    std::vector<at::Tensor> parameters, gradients, mean, square, steps;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& parameter = parameters_[i].second;
      const at::Tensor gradient = GradientOf(i);
      if (!gradient.defined()) continue;
      parameters.push_back(parameter);
      gradients.push_back(gradient);
      mean.push_back(mean_[i]);
      square.push_back(square_[i]);
      steps.push_back(steps_[i]);
    }
    if (parameters.empty()) return;
    at::_foreach_add_(steps, 1);
    at::_fused_adam_(parameters, gradients, mean, square, /*max_exp_avg_sqs=*/{}, steps, learning_rate,
                     spec_.adam().beta1(), spec_.adam().beta2(), spec_.weight_decay(), spec_.adam().epsilon(),
                     /*amsgrad=*/false, /*maximize=*/false);
  }

  NamedTensors State() const override {
    NamedTensors state;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const std::string& name = parameters_[i].first;
      state.emplace_back("mean." + name, mean_[i]);
      state.emplace_back("square." + name, square_[i]);
      state.emplace_back("steps." + name, steps_[i]);
    }
    AddState(&state);
    return state;
  }

 private:
  const OptimizerSpec spec_;
  std::vector<at::Tensor> mean_;    // of the gradient
  std::vector<at::Tensor> square_;  // mean of the gradient's square
  std::vector<at::Tensor> steps_;   // steps with a gradient
};

}  // namespace

Optimizer::Optimizer(const OptimizerSpec& spec, NamedTensors parameters)
    : parameters_(std::move(parameters)), has_sam_(spec.has_sam()), sam_(spec.sam()) {
  if (spec.missing_gradient() != OptimizerSpec::ZERO) return;
  had_gradient_ = at::zeros({static_cast<int64_t>(parameters_.size())}, at::kBool);
}

at::Tensor Optimizer::GradientOf(size_t i) {
  const at::Tensor& parameter = parameters_[i].second;
  if (!had_gradient_.defined() || parameter.grad().defined()) {
    if (had_gradient_.defined()) had_gradient_.mutable_data_ptr<bool>()[i] = true;
    return parameter.grad();
  }
  return had_gradient_.const_data_ptr<bool>()[i] ? ZerosLike(parameter) : at::Tensor();
}

void Optimizer::AddState(NamedTensors* state) const {
  if (had_gradient_.defined()) state->emplace_back("had_gradient", had_gradient_);
}

void Optimizer::ZeroGradients() {
  for (const auto& [name, parameter] : parameters_) parameter.mutable_grad() = at::Tensor();
}

void Optimizer::Climb() {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    before_.push_back(at::empty_like(parameter.detach()));
    climbed_.push_back(parameter);
    gradients.push_back(parameter.grad());
  }
  if (climbed_.empty()) return;
  at::_foreach_copy_(before_, climbed_);
  std::vector<at::Tensor> lengths =
      at::_foreach_norm(sam_.adaptive() ? at::_foreach_mul(at::_foreach_abs(climbed_), gradients) : gradients);
  const at::Tensor scale = sam_.rho() / (at::stack(lengths).norm() + 1e-12);
  std::vector<at::Tensor> moves =
      sam_.adaptive() ? at::_foreach_mul(at::_foreach_mul(climbed_, climbed_), gradients) : std::move(gradients);
  at::_foreach_add_(climbed_, at::_foreach_mul(moves, scale));
}

void Optimizer::Return() {
  const c10::NoGradGuard no_grad;
  if (!climbed_.empty()) at::_foreach_copy_(climbed_, before_);
  climbed_.clear();
  before_.clear();
}

at::Tensor MakeLearningRate(at::Device device, double value) {
  const at::ScalarType type = device.is_cpu() ? at::kDouble : at::kFloat;
  return at::full({}, value, at::TensorOptions(type).device(device));
}

std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerSpec& spec, Optimizer::NamedTensors parameters) {
  switch (spec.kind_case()) {
    case OptimizerSpec::kSgd:
      return std::make_unique<Sgd>(spec, std::move(parameters));
    case OptimizerSpec::kAdam:
      return std::make_unique<Adam>(spec, std::move(parameters));
    case OptimizerSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "an optimiser without a kind";
  return nullptr;
}

WeightAverage::WeightAverage(NamedTensors weights) : weights_(std::move(weights)), epochs_(at::zeros({}, at::kLong)) {
  for (const auto& [name, weight] : weights_) mean_.push_back(ZerosLike(weight));
}

void WeightAverage::Add() {
  const c10::NoGradGuard no_grad;
  epochs_.add_(1);
  std::vector<at::Tensor> weights;
  for (const auto& [name, weight] : weights_) weights.push_back(weight);
  at::_foreach_lerp_(mean_, weights, 1.0 / static_cast<double>(epochs()));
}

void WeightAverage::SetWeights() const {
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i].second.copy_(mean_[i]);
}

Optimizer::NamedTensors WeightAverage::State() const {
  NamedTensors state = {{"epochs", epochs_}};
  for (size_t i = 0; i < weights_.size(); ++i) state.emplace_back("mean." + weights_[i].first, mean_[i]);
  return state;
}

}  // namespace openset
