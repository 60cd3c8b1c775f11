#include "experiments/train/objective.h"

#include "absl/strings/str_cat.h"
#include "core/proto/traits.h"
#include "core/tensor/torch_precision.h"
#include "data/task.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/worker/execution.h"
#include "losses/make_loss_term.h"

namespace openset {
namespace {

// Losses compute in f32 if the network's precision is lower.
ModelOutput InFloat(ModelOutput output) {
  for (at::Tensor* tensor : {&output.feature, &output.logits, &output.distance, &output.point}) {
    if (tensor->defined()) *tensor = WithFullPrecision(*tensor);
  }
  return output;
}

}  // namespace

Objective::Objective(const TrainAction& action, at::Device device, int64_t num_samples, std::shared_ptr<Model> model,
                     std::shared_ptr<OpenSetSource> source)
    : action_(action),
      device_(device),
      model_(std::move(model)),
      source_(std::move(source)),
      one_(at::ones({}, device)) {
  for (const LossTermSpec& term : action_.loss().term()) {
    const Traits needs = TraitsOf(term);
    terms_.push_back(
        MakeLossTerm(term, {device, action_.data().class_id_size(), model_->feature_dim(), action_.seed()}));
    needs_open_set_.push_back(needs.open_set());
    if (needs.history() && !history_.has_value()) {
      history_.emplace();
      history_->correct = at::zeros({num_samples}, at::TensorOptions(at::kLong).device(device));
    }
  }
}

bool Objective::HasBegun(size_t term) const {
  return epoch_ >= action_.loss().term(static_cast<int>(term)).from_epoch();
}

Objective::Passes Objective::Forward(const Batch& batch, const at::Tensor& extra_images) {
  const PrecisionScope precision(action_.execution(), device_);
  Passes passes;
  if (extra_images.defined() && source_->ReplacesBatch()) {
    passes.known = passes.extra = InFloat(model_->Forward(extra_images));
    return passes;
  }
  if (batch.view.empty() && !extra_images.defined()) {
    passes.known = InFloat(model_->Forward(batch.image));
    return passes;
  }
  std::vector<at::Tensor> images = {batch.image};
  images.insert(images.end(), batch.view.begin(), batch.view.end());
  if (extra_images.defined()) images.push_back(extra_images);
  const ModelOutput all = InFloat(model_->Forward(at::cat(images)));
  const int64_t size = batch.label.size(0);
  const int64_t views = static_cast<int64_t>(batch.view.size());
  passes.known = all.Rows(0, size);
  for (int64_t v = 1; v <= views; ++v) passes.view.push_back(all.Rows(v * size, (v + 1) * size));
  if (extra_images.defined()) passes.extra = all.Rows((views + 1) * size, all.logits.size(0));
  return passes;
}

OpenSet Objective::MakeOpenSet(const Batch& batch, const Passes& passes) {
  const auto forward = [this](const at::Tensor& image, int norm_set) {
    const PrecisionScope precision(action_.execution(), device_);
    return InFloat(model_->Forward(image, norm_set));
  };
  const auto head = [this](const at::Tensor& feature) {
    const PrecisionScope precision(action_.execution(), device_);
    return InFloat(model_->ForwardHead(feature));
  };
  const auto forward_from = [this](int stage, const at::Tensor& x, std::vector<at::Tensor>* maps) {
    const PrecisionScope precision(action_.execution(), device_);
    return InFloat(model_->ForwardFrom(stage, x, maps));
  };
  const auto objective = [&](const OpenSet& open) {
    const ModelOutput known = passes.known.Detached();
    LossInput input{batch, known, &open};
    input.history = history_.has_value() ? &*history_ : nullptr;
    input.epoch = epoch_;
    input.epochs = action_.training().epochs();
    at::Tensor sum = at::zeros({}, known.logits.options().dtype(at::kFloat));
    for (size_t t = 0; t < terms_.size(); ++t) {
      if (needs_open_set_[t] && HasBegun(t)) sum = sum + terms_[t]->Compute(input);
    }
    return sum;
  };
  return source_->Make({batch, passes.known, passes.extra, forward, head, objective, forward_from});
}

Objective::Step Objective::Compute(const Batch& batch) {
  const bool with_open_set = batch.open.has_value();
  const Passes passes = Forward(batch, with_open_set ? batch.open->image : at::Tensor());
  LossInput input{batch, passes.known};
  OpenSet open;
  if (with_open_set) {
    open = MakeOpenSet(batch, passes);
    input.open = &open;
  }
  input.history = history_.has_value() ? &*history_ : nullptr;
  input.views = passes.view.empty() ? nullptr : &passes.view;
  input.epoch = epoch_;
  input.epochs = action_.training().epochs();
  Step step;
  for (size_t t = 0; t < terms_.size(); ++t) {
    if ((needs_open_set_[t] && !with_open_set) || !HasBegun(t)) {
      step.term.push_back(at::zeros({}, passes.known.logits.options()));
      continue;
    }
    const at::Tensor value = terms_[t]->Compute(input);
    step.objective = step.objective.defined() ? step.objective + value : value;
    step.term.push_back(value.detach());
  }
  const int64_t classes = action_.data().class_id_size();
  step.hit = passes.known.logits.detach().slice(1, 0, classes).argmax(1).eq(batch.label);
  return step;
}

void Objective::EndStep(const Batch& batch, const at::Tensor& hit) {
  for (const auto& term : terms_) term->EndStep();
  if (!history_.has_value()) return;
  at::Tensor& correct = history_->correct;
  correct.index_copy_(0, batch.sample, correct.index_select(0, batch.sample) + hit.to(at::kLong));
}

void Objective::SetCompleteEpochs(int64_t epochs) {
  if (history_.has_value()) history_->epochs = epochs;
}

Objective::NamedTensors Objective::Parameters() const {
  NamedTensors parameters;
  for (size_t t = 0; t < terms_.size(); ++t) {
    for (const auto& [name, tensor] : terms_[t]->Parameters()) {
      parameters.emplace_back(absl::StrCat("loss.", t, ".", name), tensor);
    }
  }
  return parameters;
}

Objective::NamedTensors Objective::State() const {
  NamedTensors state = Parameters();
  for (size_t t = 0; t < terms_.size(); ++t) {
    for (const auto& [name, tensor] : terms_[t]->State())
      state.emplace_back(absl::StrCat("loss.", t, ".", name), tensor);
  }
  if (source_ != nullptr) {
    for (const auto& [name, tensor] : source_->State()) state.emplace_back("open_set." + name, tensor);
  }
  if (history_.has_value()) state.emplace_back("history.correct", history_->correct);
  return state;
}

Objective::Step Differentiate(const Batch& batch, const Model& model, Objective* objective, Optimizer* optimizer) {
  Objective::Step step = objective->Compute(batch);
  optimizer->ZeroGradients();
  objective->Differentiate(step);
  if (optimizer->sam() == nullptr) return step;
  const bool once = !optimizer->sam()->statistics_of_both_passes();
  const std::vector<at::Tensor> buffers = once ? model.named_buffers().values() : std::vector<at::Tensor>();
  std::vector<at::Tensor> after_first;
  for (const at::Tensor& buffer : buffers) after_first.push_back(buffer.clone());
  optimizer->Climb();
  optimizer->ZeroGradients();
  objective->Differentiate(objective->Compute(batch));
  optimizer->Return();
  const c10::NoGradGuard no_grad;
  for (size_t b = 0; b < buffers.size(); ++b) buffers[b].copy_(after_first[b]);
  return step;
}

}  // namespace openset
