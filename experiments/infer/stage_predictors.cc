// A predictor for RankFeatSpec. Precondition: the model is in evaluation mode and has at least as many stages as `spec`
// uses.
//
// A predictor for StageValuesSpec. Precondition: the model has stages and is in evaluation mode.
#include "experiments/infer/stage_predictors.h"

#include <tuple>
#include <utility>
#include <vector>

#include "experiments/infer/inference_members.h"

namespace openset {
namespace {

class RankFeatPredictor : public Predictor {
 public:
  RankFeatPredictor(RankFeatSpec spec, std::shared_ptr<Model> model)
      : spec_(std::move(spec)), model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    std::vector<at::Tensor> maps;
    const ModelOutput plain = model_->ForwardFrom(0, image, &maps);
    Prediction prediction{plain, {}, {}, {}};
    const int last = model_->num_stages();
    std::vector<int> stages = {last};
    if (spec_.stages() == RankFeatSpec::BEFORE_LAST) stages = {last - 1};
    if (spec_.stages() == RankFeatSpec::LAST_TWO) stages.push_back(last - 1);
    at::Tensor sum;
    for (const int stage : stages) {
      const at::Tensor changed = WithoutStrongestDirection(maps[stage - 1]);
      const at::Tensor logits = model_->ForwardFrom(stage, changed).logits.to(at::kFloat);
      sum = sum.defined() ? sum + logits : logits;
    }
    prediction.output.logits = sum / static_cast<double>(stages.size());
    if (spec_.predictions() == InputPerturbationSpec::ORIGINAL) prediction.predicting_logits = plain.logits;
    return {prediction};
  }

 private:
  const RankFeatSpec spec_;
  const std::shared_ptr<Model> model_;
};

class StageValuesPredictor : public Predictor {
 public:
  StageValuesPredictor(StageValuesSpec spec, std::shared_ptr<Model> model)
      : spec_(std::move(spec)), model_(std::move(model)) {}

  std::vector<Prediction> Predict(const at::Tensor& image) override {
    Prediction prediction;
    std::vector<at::Tensor> values;
    if (spec_.value() == StageValuesSpec::STATE) {
      prediction.output = StatesOf(image, &values);
    } else {
      std::vector<at::Tensor> maps;
      prediction.output = model_->ForwardFrom(0, image, &maps);
      const bool gram = spec_.value() == StageValuesSpec::GRAM;
      for (const at::Tensor& map : maps) {
        values.push_back(gram ? GramRowSums(map, spec_.powers()) : map.to(at::kFloat).mean({2, 3}));
      }
    }
    for (const at::Tensor& of_stage : values) prediction.stage_widths.push_back(of_stage.size(1));
    prediction.stage_values = at::cat(values, 1);
    return {prediction};
  }

 private:
  // One backward pass to the image gives the gradient of each map.
  ModelOutput StatesOf(const at::Tensor& image, std::vector<at::Tensor>* values) const {
    const c10::AutoGradMode with_gradients(true);
    const at::Tensor variable = image.detach().clone().requires_grad_(true);
    std::vector<at::Tensor> maps;
    const ModelOutput output = model_->ForwardFrom(0, variable, &maps);
    std::vector<at::Tensor> gradients(maps.size());
    for (size_t s = 0; s < maps.size(); ++s) {
      maps[s].register_hook([&gradients, s](const at::Tensor& gradient) { gradients[s] = gradient; });
    }
    const at::Tensor loss = -at::log_softmax(output.logits.to(at::kFloat), 1).mean(1).sum();
    loss.backward({}, /*retain_graph=*/false, /*create_graph=*/false, {{variable}});
    for (size_t s = 0; s < maps.size(); ++s) {
      const at::Tensor map = maps[s].detach().to(at::kFloat);
      const bool is_last = s + 1 == maps.size();
      values->push_back((is_last ? map.mean({2, 3}) : map.sum({2, 3})) * gradients[s].to(at::kFloat).sum({2, 3}));
    }
    return output.Detached();
  }

  const StageValuesSpec spec_;
  const std::shared_ptr<Model> model_;
};

}  // namespace

at::Tensor WithoutStrongestDirection(const at::Tensor& map) {
  const at::Tensor x = map.to(at::kDouble).flatten(2);
  const bool few_channels = x.size(1) <= x.size(2);
  const at::Tensor rows = few_channels ? x : x.transpose(1, 2);
  // Eigenvalues come in ascending order.
  const at::Tensor u = std::get<1>(at::linalg_eigh(rows.matmul(rows.transpose(1, 2)))).slice(2, -1);
  const at::Tensor rest = rows - u.matmul(u.transpose(1, 2).matmul(rows));
  return (few_channels ? rest : rest.transpose(1, 2)).reshape(map.sizes()).to(map.scalar_type());
}

at::Tensor GramRowSums(const at::Tensor& map, int powers) {
  const at::Tensor x = map.to(at::kDouble).flatten(2);
  std::vector<at::Tensor> values;
  for (int power = 1; power <= powers; ++power) {
    const at::Tensor f = x.pow(power);
    // The sum over d of f_c . f_d.
    const at::Tensor sums = (f * f.sum(1, /*keepdim=*/true)).sum(2);
    values.push_back(sums.sign() * sums.abs().pow(1.0 / power));
  }
  return at::cat(values, 1).to(at::kFloat);
}

std::unique_ptr<Predictor> Make(const RankFeatSpec& spec, const InferenceSetting& setting) {
  return std::make_unique<RankFeatPredictor>(spec, setting.models[0]);
}

std::unique_ptr<Predictor> Make(const StageValuesSpec& spec, const InferenceSetting& setting) {
  return std::make_unique<StageValuesPredictor>(spec, setting.models[0]);
}

}  // namespace openset
