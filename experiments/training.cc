#include "core/torch.h"
// core/torch.h goes first: core/logging.h takes over its macros.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "core/files.h"
#include "core/logging.h"
#include "core/status_macros.h"
#include "data/batcher.h"
#include "experiments/commit_checkpoint.h"
#include "experiments/execution.h"
#include "experiments/initial_model.h"
#include "experiments/input_pipeline.h"
#include "experiments/open_set_source.h"
#include "experiments/optimizer.h"
#include "experiments/schedule.h"
#include "experiments/training.h"
#include "experiments/training_state.h"
#include "losses/loss_needs.h"
#include "losses/make_loss_term.h"

namespace openset {
namespace {

constexpr absl::Duration kReportEvery = absl::Milliseconds(200);

class Trainer {
 public:
  static absl::StatusOr<std::unique_ptr<Trainer>> Make(const TrainAction& action, const ActionContext& context) {
    OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const ImageSet> images, context.images->Get(action.data()));
    OPENSET_ASSIGN_OR_RETURN(const SelectedSamples samples, SelectSamples(*images, action.data()));
    OPENSET_ASSIGN_OR_RETURN(Batcher batcher,
                             Batcher::Make(*images, samples, action.input().channels(), context.device));
    OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, TrainingPipeline(action, context.device));
    OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Model> model, MakeInitialModel(action));
    model->to(context.device);
    return std::unique_ptr<Trainer>(
        new Trainer(action, context, std::move(batcher), std::move(pipeline), std::move(model)));
  }

  absl::Status Run() {
    OPENSET_RETURN_IF_ERROR(MakeFolders(JoinPath(context_.store.folder(), "partial")));
    const std::string partial = context_.store.PartialPath(context_.key);
    Resume(partial);
    for (int epoch = summary_.epoch_size(); epoch < action_.training().epochs() && !StepLimitReached(); ++epoch) {
      const absl::Time start = absl::Now();
      OPENSET_RETURN_IF_ERROR(RunEpoch(epoch));
      seconds_ += absl::ToDoubleSeconds(absl::Now() - start);
      summary_.mutable_provenance()->set_train_seconds(seconds_);
      OPENSET_RETURN_IF_ERROR(SaveTrainingState(State(), summary_, context_.key, partial));
    }
    OPENSET_RETURN_IF_ERROR(Commit());
    std::remove(partial.c_str());
    return absl::OkStatus();
  }

 private:
  Trainer(const TrainAction& action, const ActionContext& context, Batcher batcher, Pipeline pipeline,
          std::shared_ptr<Model> model)
      : action_(action),
        context_(context),
        batcher_(std::move(batcher)),
        pipeline_(std::move(pipeline)),
        model_(std::move(model)) {
    if (action_.has_open_set()) source_ = MakeOpenSetSource(action_.open_set());
    NamedTensors parameters;
    for (const auto& parameter : model_->named_parameters())
      parameters.emplace_back(parameter.key(), parameter.value());
    for (int t = 0; t < action_.loss().term_size(); ++t) {
      terms_.push_back(MakeLossTerm(action_.loss().term(t), context_.device));
      for (const auto& [name, tensor] : terms_[t]->Parameters()) {
        parameters.emplace_back(absl::StrCat("loss.", t, ".", name), tensor);
      }
      if (NeedsOf(action_.loss().term(t)).history && !history_.has_value()) {
        history_.emplace();
        history_->correct = at::zeros({batcher_.size()}, at::TensorOptions(at::kLong).device(context_.device));
      }
    }
    optimizer_ = MakeOptimizer(action_.training().optimizer(), std::move(parameters));
    *summary_.mutable_action() = action_;
  }

  // Everything that changes during training.
  NamedTensors State() const {
    NamedTensors state;
    for (const auto& parameter : model_->named_parameters()) {
      state.emplace_back("model." + parameter.key(), parameter.value());
    }
    for (const auto& buffer : model_->named_buffers()) state.emplace_back("model." + buffer.key(), buffer.value());
    for (int t = 0; t < terms_.size(); ++t) {
      for (const auto& [name, tensor] : terms_[t]->Parameters()) {
        state.emplace_back(absl::StrCat("loss.", t, ".", name), tensor);
      }
    }
    for (const auto& [name, tensor] : optimizer_->State()) state.emplace_back("optimizer." + name, tensor);
    if (source_ != nullptr) {
      for (const auto& [name, tensor] : source_->State()) state.emplace_back("open_set." + name, tensor);
    }
    if (history_.has_value()) state.emplace_back("history.correct", history_->correct);
    return state;
  }

  void Resume(const std::string& partial) {
    absl::StatusOr<TrainSummary> saved = LoadTrainingState(partial, context_.key, State());
    if (saved.ok()) {
      summary_ = *std::move(saved);
      seconds_ = summary_.provenance().train_seconds();
      if (history_.has_value()) history_->epochs = summary_.epoch_size();
      steps_ = std::min<int64_t>(summary_.epoch_size() * StepsPerEpoch(), MaxSteps());
      LOG(INFO) << "resuming after epoch " << summary_.epoch_size();
    } else if (!absl::IsNotFound(saved.status())) {
      LOG(WARNING) << "starting over: " << saved.status();
    }
  }

  int64_t StepsPerEpoch() const {
    return BatchesPerEpoch(batcher_.size(), action_.training().batch_size(), action_.training().drop_last());
  }
  int64_t MaxSteps() const {
    const int64_t all = StepsPerEpoch() * action_.training().epochs();
    return action_.training().max_steps() > 0 ? std::min(all, action_.training().max_steps()) : all;
  }
  // Over all runs.
  int64_t ImagesSeen() const {
    const int64_t batch = action_.training().batch_size();
    const int64_t per_epoch = action_.training().drop_last() ? StepsPerEpoch() * batch : batcher_.size();
    return steps_ / StepsPerEpoch() * per_epoch + steps_ % StepsPerEpoch() * batch;
  }
  bool StepLimitReached() const { return steps_ >= MaxSteps(); }

  absl::Status RunEpoch(int epoch) {
    const auto stream = [&](absl::string_view name) {
      return RandomStream(action_.seed(), absl::StrCat(name, "/epoch ", epoch));
    };
    RandomStream order = stream("order"), augment = stream("augment"), open = stream("open_set");
    at::manual_seed(DeriveSeed(action_.seed(), absl::StrCat("libtorch/epoch ", epoch)));  // dropout
    const double rate =
        action_.training().optimizer().learning_rate() * LearningRateFactor(action_.training().schedule(), epoch);
    model_->train(true);
    const at::TensorOptions on_device = at::TensorOptions(at::kDouble).device(context_.device);
    // Objective, terms, hits; summed on the device so that steps don't wait for each other.
    at::Tensor sums = at::zeros({static_cast<int64_t>(terms_.size()) + 2}, on_device);
    int64_t seen = 0;
    for (const at::Tensor& samples :
         batcher_.Epoch(action_.training().batch_size(), action_.training().drop_last(), &order)) {
      const Batch batch = batcher_.At(samples, pipeline_, &augment);
      sums.add_(Step(batch, epoch, rate, &open) * batch.label.size(0));
      seen += batch.label.size(0);
      ++steps_;
      ReportStep(epoch, sums, seen);
      if (StepLimitReached()) break;
    }
    if (history_.has_value()) history_->epochs = epoch + 1;
    return FinishEpoch(epoch, rate, sums.cpu() / std::max<int64_t>(seen, 1));
  }

  // One step; returns the objective, each term and the share of hits.
  at::Tensor Step(const Batch& batch, int epoch, double rate, RandomStream* random) {
    const int64_t size = batch.label.size(0);
    at::Tensor objective;
    std::vector<at::Tensor> values;
    ModelOutput known, extra;
    {
      const PrecisionScope precision(action_.execution(), context_.device);
      const at::Tensor extra_images = source_ != nullptr ? source_->ExtraImages(batch, random) : at::Tensor();
      if (extra_images.defined()) {
        const ModelOutput all = model_->Forward(at::cat({batch.image, extra_images}));
        known = all.Rows(0, size);
        extra = all.Rows(size, all.logits.size(0));
      } else {
        known = model_->Forward(batch.image);
      }
    }
    LossInput input{batch, known};
    OpenSet open;
    if (source_ != nullptr) {
      const OpenSetSource::Context context{
          batch,
          known,
          extra,
          [this](const at::Tensor& image, int norm_set) { return model_->Forward(image, norm_set); },
          [this](const at::Tensor& feature) { return model_->ForwardHead(feature); },
          random};
      open = source_->Make(context);
      input.open = &open;
    }
    input.history = history_.has_value() ? &*history_ : nullptr;
    input.epoch = epoch;
    input.epochs = action_.training().epochs();
    for (int t = 0; t < terms_.size(); ++t) {
      const at::Tensor value = terms_[t]->Compute(input);
      const at::Tensor weighted = value * action_.loss().term(t).weight();
      objective = objective.defined() ? objective + weighted : weighted;
      values.push_back(value.detach().to(at::kDouble));
    }
    optimizer_->ZeroGradients();
    objective.backward();
    optimizer_->Step(rate);

    const int64_t classes = action_.data().class_id_size();
    const at::Tensor hit = known.logits.detach().slice(1, 0, classes).argmax(1).eq(batch.label);
    if (history_.has_value()) {
      at::Tensor& correct = history_->correct;
      correct.index_copy_(0, batch.sample, correct.index_select(0, batch.sample) + hit.to(at::kLong));
    }
    values.insert(values.begin(), objective.detach().to(at::kDouble));
    values.push_back(hit.to(at::kDouble).mean());
    return at::stack(values);
  }

  void ReportStep(int epoch, const at::Tensor& sums, int64_t seen) {
    const absl::Time now = absl::Now();
    if (now - last_report_ < kReportEvery) return;
    last_report_ = now;
    WorkProgress progress;
    progress.set_fraction(static_cast<double>(steps_) / MaxSteps());
    progress.set_what(absl::StrFormat("epoch %d/%d, loss %.3f", epoch + 1, action_.training().epochs(),
                                      sums[0].item<double>() / seen));
    const double seconds = absl::ToDoubleSeconds(now - run_start_);
    images_ += seen - reported_in_epoch_;
    reported_in_epoch_ = seen;
    progress.set_images_per_second(images_ / seconds);
    context_.report(progress);
  }

  absl::Status FinishEpoch(int epoch, double rate, const at::Tensor& means) {
    EpochSummary* summary = summary_.add_epoch();
    summary->set_epoch(epoch);
    summary->set_learning_rate(rate);
    summary->set_loss(means[0].item<double>());
    for (int t = 0; t < terms_.size(); ++t) summary->add_term(means[t + 1].item<double>());
    summary->set_train_accuracy(means[-1].item<double>());
    images_ += batcher_.size() - reported_in_epoch_;
    reported_in_epoch_ = 0;
    LOG(INFO) << summary->ShortDebugString();
    if (std::isfinite(summary->loss())) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat("the training diverged: the loss is ", summary->loss(), " in epoch ", epoch,
                                           ", at learning rate ", rate));
  }

  absl::Status Commit() {
    if (seconds_ > 0) summary_.mutable_provenance()->set_train_images_per_second(ImagesSeen() / seconds_);
    return CommitCheckpoint(*model_, summary_, context_);
  }

  const TrainAction& action_;
  const ActionContext& context_;
  const Batcher batcher_;
  const Pipeline pipeline_;
  const std::shared_ptr<Model> model_;
  std::unique_ptr<OpenSetSource> source_;  // null without an open set
  std::vector<std::unique_ptr<LossTerm>> terms_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<SampleHistory> history_;  // if a term needs it

  TrainSummary summary_;
  double seconds_ = 0;  // of training, over all runs
  int64_t steps_ = 0;   // over all runs

  // For progress, of this run.
  const absl::Time run_start_ = absl::Now();
  absl::Time last_report_ = absl::InfinitePast();
  int64_t images_ = 0;
  int64_t reported_in_epoch_ = 0;
};

}  // namespace

absl::Status Train(const TrainAction& action, const ActionContext& context) {
  ConfigureExecution(action.execution());
  if (!action.has_training()) return CommitInitialModel(action, context);
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, Trainer::Make(action, context));
  return trainer->Run();
}

}  // namespace openset
