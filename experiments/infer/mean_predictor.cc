// The mean over several passes: with dropout, or through several models. Formulas: make_predictor.h.
#include <cmath>
#include <utility>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "core/tensor/torch_generator.h"
#include "experiments/infer/inference_members.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

struct MeanOptions {
  int passes = 1;  // through each model
  AverageOver average = PROBABILITIES;
  bool member_uncertainty = false;  // also the disagreement of all passes
  // What dropout draws from, if it is on.
  std::optional<at::Generator> generator;
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

class MeanPredictor : public Predictor {
 public:
  MeanPredictor(std::vector<std::shared_ptr<Model>> models, MeanOptions options)
      : models_(std::move(models)), options_(std::move(options)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    at::Tensor sum;  // of logits; or of probabilities, then its logarithm
    Disagreement disagreement;
    for (const std::shared_ptr<Model>& model : models_) {
      if (options_.generator.has_value()) model->SetGenerator(*options_.generator);
      for (int pass = 0; pass < options_.passes; ++pass) {
        const at::Tensor logits = model->Forward(image).logits.to(at::kFloat);
        const at::Tensor value = options_.average == LOGITS ? logits : at::log_softmax(logits, 1);
        if (options_.member_uncertainty) disagreement.Add(logits);
        sum = !sum.defined() ? value : options_.average == LOGITS ? sum + value : at::logaddexp(sum, value);
      }
    }
    const double count = static_cast<double>(models_.size()) * options_.passes;
    return {{{{}, options_.average == LOGITS ? sum / count : sum - std::log(count), {}, {}},
             {},
             {},
             options_.member_uncertainty ? disagreement.Values() : at::Tensor()}};
  }

 private:
  const std::vector<std::shared_ptr<Model>> models_;
  const MeanOptions options_;
};

void SwitchDropoutOn(Model* model) {
  for (const auto& [path, module] : model->named_modules()) {
    if (dynamic_cast<Dropout*>(module) != nullptr) module->train(true);
  }
}

}  // namespace

std::unique_ptr<Predictor> Make(const McDropoutSpec& spec, const InferenceSetting& setting) {
  SwitchDropoutOn(setting.models[0].get());
  const at::Device device = setting.models[0]->parameters()[0].device();
  return std::make_unique<MeanPredictor>(setting.models,
                                         MeanOptions{spec.passes(), spec.average(), spec.member_uncertainty(),
                                                     MakeGenerator(device, DeriveSeed(setting.seed, "mc_dropout"))});
}

std::unique_ptr<Predictor> Make(const EnsembleSpec& spec, const InferenceSetting& setting) {
  return std::make_unique<MeanPredictor>(setting.models,
                                         MeanOptions{/*passes=*/1, spec.average(), spec.member_uncertainty(), {}});
}

}  // namespace openset
