#include "experiments/infer/make_predictor.h"

#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "experiments/infer/stage_predictors.h"
#include "models/layers/layers.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

class PlainPredictor : public Predictor {
 public:
  explicit PlainPredictor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override { return {{model_->Forward(image), {}, {}}}; }

 private:
  const std::shared_ptr<Model> model_;
};

// The disagreement of passes, updated pass by pass.
class Disagreement {
 public:
  // f32 [B, K].
  void Add(const at::Tensor& logits) {
    const at::Tensor log_p = at::log_softmax(logits.to(at::kDouble), 1);
    const at::Tensor p = log_p.exp();
    const at::Tensor entropy = EntropyOf(p, log_p);
    const at::Tensor vote = at::one_hot(logits.argmax(1), logits.size(1));
    mean_ = passes_ == 0 ? p : mean_ + p;
    entropy_ = passes_ == 0 ? entropy : entropy_ + entropy;
    votes_ = passes_ == 0 ? vote : votes_ + vote;
    ++passes_;
  }

  // f32 [B, 3].
  at::Tensor Values() const {
    const double count = passes_;
    const at::Tensor p = mean_ / count;
    const at::Tensor expected = entropy_ / count;
    const at::Tensor mutual = (EntropyOf(p, p.log()) - expected).clamp_min(0);
    const at::Tensor ratio = 1 - std::get<0>(votes_.max(1)).to(at::kDouble) / count;
    return at::stack({mutual, expected, ratio}, 1).to(at::kFloat);
  }

 private:
  // -sum p log p, 0 log 0 = 0.
  static at::Tensor EntropyOf(const at::Tensor& p, const at::Tensor& log_p) {
    return -at::where(p > 0, p * log_p, at::zeros_like(p)).sum(1);
  }

  int passes_ = 0;
  at::Tensor mean_, entropy_, votes_;  // sums over the passes
};

// The mean of `passes` passes through each model.
class MeanPredictor : public Predictor {
 public:
  // Dropout, if it is on, draws from `generator`.
  MeanPredictor(std::vector<std::shared_ptr<Model>> models, int passes, AverageOver average, bool member_uncertainty,
                std::optional<at::Generator> generator = std::nullopt)
      : models_(std::move(models)),
        passes_(passes),
        average_(average),
        member_uncertainty_(member_uncertainty),
        generator_(std::move(generator)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    at::Tensor sum;  // of logits; or of probabilities, then its logarithm
    Disagreement disagreement;
    for (const std::shared_ptr<Model>& model : models_) {
      if (generator_.has_value()) model->SetGenerator(*generator_);
      for (int pass = 0; pass < passes_; ++pass) {
        const at::Tensor logits = model->Forward(image).logits.to(at::kFloat);
        const at::Tensor value = average_ == LOGITS ? logits : at::log_softmax(logits, 1);
        if (member_uncertainty_) disagreement.Add(logits);
        sum = !sum.defined() ? value : average_ == LOGITS ? sum + value : at::logaddexp(sum, value);
      }
    }
    const double count = static_cast<double>(models_.size()) * passes_;
    return {{{{}, average_ == LOGITS ? sum / count : sum - std::log(count), {}, {}},
             {},
             {},
             member_uncertainty_ ? disagreement.Values() : at::Tensor()}};
  }

 private:
  const std::vector<std::shared_ptr<Model>> models_;
  const int passes_;
  const AverageOver average_;
  const bool member_uncertainty_;
  const std::optional<at::Generator> generator_;
};

class PerturbingPredictor : public Predictor {
 public:
  PerturbingPredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input, std::shared_ptr<Model> model)
      : input_(input), model_(std::move(model)) {
    for (const InferenceSpec& spec : specs) {
      specs_.push_back(spec.input_perturbation());
      if (specs_.back().epsilon() != 0) gradients_.try_emplace(specs_.back().temperature());
    }
  }

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    const ModelOutput plain = PlainPass(image);
    std::vector<Prediction> predictions;
    for (const InputPerturbationSpec& spec : specs_) {
      Prediction& prediction = predictions.emplace_back(Prediction{plain, {}, {}});
      if (spec.epsilon() == 0) continue;
      prediction.output = model_->Forward(image - StepOf(spec).to(image.device()) * DirectionOf(spec));
      if (spec.predictions() == InputPerturbationSpec::ORIGINAL) prediction.predicting_logits = plain.logits;
    }
    return predictions;
  }

 private:
  // The model's output for the image; sets the gradients.
  ModelOutput PlainPass(const at::Tensor& image) {
    if (gradients_.empty()) return model_->Forward(image);
    const c10::AutoGradMode with_gradients(true);
    at::Tensor variable = image.detach().clone().requires_grad_(true);
    const ModelOutput output = model_->Forward(variable);
    const at::Tensor logits = output.logits.to(at::kFloat);
    const at::Tensor predicted = logits.argmax(1);
    for (auto& [temperature, gradient] : gradients_) {
      variable.mutable_grad().reset();
      at::cross_entropy_loss(logits / temperature, predicted, {}, at::Reduction::Sum)
          .backward({}, /*retain_graph=*/temperature != gradients_.rbegin()->first, false, {{variable}});
      gradient = variable.grad().clone();
    }
    return output.Detached();
  }

  // [B, C, H, W], of -1, 0 and 1.
  at::Tensor DirectionOf(const InputPerturbationSpec& spec) const {
    const at::Tensor& gradient = gradients_.at(spec.temperature());
    switch (spec.direction()) {
      case InputPerturbationSpec::GREATER_EQUAL:
        return gradient.ge(0).to(gradient.scalar_type()).mul_(2).sub_(1);
      case InputPerturbationSpec::SIGN:
      case InputPerturbationSpec::DIRECTION_UNSPECIFIED:
        break;
    }
    return gradient.sign();
  }

  // [1, C, 1, 1]
  at::Tensor StepOf(const InputPerturbationSpec& spec) const {
    at::Tensor step = at::full({1, input_.channels(), 1, 1}, spec.epsilon());
    if (!spec.divide_by_std() || input_.std_size() == 0) return step;
    for (int c = 0; c < input_.channels(); ++c) step.select(1, c).div_(input_.std(input_.std_size() == 1 ? 0 : c));
    return step;
  }

  const InputSpec input_;
  const std::shared_ptr<Model> model_;
  std::vector<InputPerturbationSpec> specs_;
  std::map<double, at::Tensor> gradients_;  // by temperature
};

class PixelPerturbingPredictor : public Predictor {
 public:
  PixelPerturbingPredictor(PixelPerturbationSpec spec, std::shared_ptr<Model> model)
      : spec_(std::move(spec)), model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    at::Tensor variable = image.detach().clone().requires_grad_(true);
    ModelOutput output;
    {
      const c10::AutoGradMode with_gradients(true);
      output = model_->Forward(variable);
      const at::Tensor logits = output.logits.to(at::kFloat);
      const at::Tensor predicted = logits.argmax(1, /*keepdim=*/true);
      logits.gather(1, predicted).sum().backward({}, /*retain_graph=*/false, false, {{variable}});
    }
    const at::Tensor gradient = variable.grad().flatten(1);
    const auto changed = static_cast<int64_t>(static_cast<double>(gradient.size(1)) * spec_.share());
    const at::Tensor smallest = std::get<1>(gradient.abs().topk(changed, 1, /*largest=*/false, /*sorted=*/false));
    const at::Tensor step = at::zeros_like(gradient).scatter(1, smallest, gradient.sign().gather(1, smallest));
    const at::Tensor perturbed = image + spec_.step() * step.view_as(image);
    return {{output.Detached(), {}, model_->Forward(perturbed).feature}};
  }

 private:
  const PixelPerturbationSpec spec_;
  const std::shared_ptr<Model> model_;
};

void SwitchDropoutOn(Model* model) {
  for (const auto& [path, module] : model->named_modules()) {
    if (dynamic_cast<Dropout*>(module) != nullptr) module->train(true);
  }
}

}  // namespace

std::unique_ptr<Predictor> MakePredictor(absl::Span<const InferenceSpec> specs, const InputSpec& input,
                                         std::vector<std::shared_ptr<Model>> models, uint64_t seed) {
  const InferenceSpec& spec = specs[0];
  for (const std::shared_ptr<Model>& model : models) {
    model->train(false);
    SetFolding(*model, spec.plain().fold_batch_norm());
  }
  switch (spec.kind_case()) {
    case InferenceSpec::kMcDropout: {
      SwitchDropoutOn(models[0].get());
      at::Generator generator = MakeGenerator(models[0]->parameters()[0].device(), DeriveSeed(seed, "mc_dropout"));
      return std::make_unique<MeanPredictor>(std::move(models), spec.mc_dropout().passes(), spec.mc_dropout().average(),
                                             spec.mc_dropout().member_uncertainty(), std::move(generator));
    }
    case InferenceSpec::kEnsemble:
      return std::make_unique<MeanPredictor>(std::move(models), 1, spec.ensemble().average(),
                                             spec.ensemble().member_uncertainty());
    case InferenceSpec::kInputPerturbation:
      return std::make_unique<PerturbingPredictor>(specs, input, models[0]);
    case InferenceSpec::kPixelPerturbation:
      return std::make_unique<PixelPerturbingPredictor>(spec.pixel_perturbation(), models[0]);
    case InferenceSpec::kRankFeat:
      return MakeRankFeatPredictor(spec.rank_feat(), models[0]);
    case InferenceSpec::kStageValues:
      return MakeStageValuesPredictor(spec.stage_values(), models[0]);
    case InferenceSpec::kPlain:
    case InferenceSpec::kTrainModePass:  // made before (train_mode_pass.h)
    case InferenceSpec::KIND_NOT_SET:
      break;
  }
  return std::make_unique<PlainPredictor>(models[0]);
}

}  // namespace openset
