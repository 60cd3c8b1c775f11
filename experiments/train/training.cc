#include "core/tensor/torch.h"
// core/tensor/torch.h goes first: core/logging.h takes over its macros.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/status_macros.h"
#include "core/tensor/torch_generator.h"
#include "data/batcher.h"
#include "experiments/train/commit_checkpoint.h"
#include "experiments/train/initial_model.h"
#include "experiments/train/objective.h"
#include "experiments/train/open_set_source.h"
#include "experiments/train/optimizer.h"
#include "experiments/train/schedule.h"
#include "experiments/train/training.h"
#include "experiments/train/training_state.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/input_pipeline.h"

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
    OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, TrainingPipelineWithViews(action, context.device));
    OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Model> model, MakeInitialModel(action, context));
    OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<OpenSetSource> source, MakeOpenSetSource(action, context));
    return std::unique_ptr<Trainer>(
        new Trainer(action, context, std::move(batcher), std::move(pipeline), std::move(model), std::move(source)));
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
          std::shared_ptr<Model> model, std::unique_ptr<OpenSetSource> source)
      : action_(action),
        context_(context),
        batcher_(std::move(batcher)),
        pipeline_(std::move(pipeline)),
        model_(std::move(model)),
        generator_(MakeGenerator(context.device, 0)),
        objective_(action, context.device, batcher_.size(), model_, std::move(source)) {
    model_->SetGenerator(generator_);
    NamedTensors parameters;
    for (const auto& parameter : model_->named_parameters())
      parameters.emplace_back(parameter.key(), parameter.value());
    for (const auto& parameter : objective_.Parameters()) parameters.push_back(parameter);
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
    for (const auto& [name, tensor] : optimizer_->State()) state.emplace_back("optimizer." + name, tensor);
    for (const auto& named : objective_.State()) state.push_back(named);
    return state;
  }

  void Resume(const std::string& partial) {
    absl::StatusOr<TrainSummary> saved = LoadTrainingState(partial, context_.key, State());
    if (saved.ok()) {
      summary_ = *std::move(saved);
      seconds_ = summary_.provenance().train_seconds();
      objective_.SetCompleteEpochs(summary_.epoch_size());
      steps_ = std::min<int64_t>(summary_.epoch_size() * StepsPerEpoch(), MaxSteps());
      LOG(INFO) << "resuming after epoch " << summary_.epoch_size();
    } else if (!absl::IsNotFound(saved.status())) {
      LOG(WARNING) << "starting over: " << saved.status();
    }
  }

  // Of an epoch over the samples.
  int Passes() const { return 1 + action_.open_set().plain_passes(); }
  int64_t StepsPerPass() const {
    return BatchesPerEpoch(batcher_.size(), action_.training().batch_size(), action_.training().drop_last());
  }
  int64_t StepsPerEpoch() const { return Passes() * StepsPerPass(); }
  int64_t MaxSteps() const {
    const int64_t all = StepsPerEpoch() * action_.training().epochs();
    return action_.training().max_steps() > 0 ? std::min(all, action_.training().max_steps()) : all;
  }
  // Over all runs.
  int64_t ImagesSeen() const {
    const int64_t batch = action_.training().batch_size();
    const int64_t per_pass = action_.training().drop_last() ? StepsPerPass() * batch : batcher_.size();
    return steps_ / StepsPerPass() * per_pass + steps_ % StepsPerPass() * batch;
  }
  bool StepLimitReached() const { return steps_ >= MaxSteps(); }

  absl::Status RunEpoch(int epoch) {
    const auto stream = [&](absl::string_view name) {
      return RandomStream(action_.seed(), absl::StrCat(name, "/epoch ", epoch));
    };
    RandomStream order = stream("order"), augment = stream("augment"), open = stream("open_set");
    generator_.set_current_seed(DeriveSeed(action_.seed(), absl::StrCat("libtorch/epoch ", epoch)));  // dropout
    const double rate =
        action_.training().optimizer().learning_rate() * LearningRateFactor(action_.training().schedule(), epoch);
    model_->train(true);
    objective_.StartEpoch(epoch, &open);
    const at::TensorOptions on_device = at::TensorOptions(at::kDouble).device(context_.device);
    // Objective, terms, hits; summed on the device so that steps don't wait for each other.
    at::Tensor sums = at::zeros({action_.loss().term_size() + 2}, on_device);
    int64_t seen = 0;
    for (int pass = 0; pass < Passes() && !StepLimitReached(); ++pass) {
      for (const at::Tensor& samples :
           batcher_.Epoch(action_.training().batch_size(), action_.training().drop_last(), &order)) {
        const Batch batch = batcher_.At(samples, pipeline_, &augment);
        sums.add_(Step(batch, /*with_open_set=*/pass == 0, rate, &open) * batch.label.size(0));
        seen += batch.label.size(0);
        ++steps_;
        ReportStep(epoch, sums, seen);
        if (StepLimitReached()) break;
      }
    }
    objective_.SetCompleteEpochs(epoch + 1);
    return FinishEpoch(epoch, rate, sums.cpu() / std::max<int64_t>(seen, 1), seen);
  }

  // One step; returns the objective, each term and the share of hits.
  at::Tensor Step(const Batch& batch, bool with_open_set, double rate, RandomStream* random) {
    Objective::Step step = objective_.Compute(batch, with_open_set, random);
    optimizer_->ZeroGradients();
    step.objective.backward();
    optimizer_->Step(rate);
    objective_.CountHits(batch, step.hit);
    std::vector<at::Tensor> values = {step.objective.detach().to(at::kDouble)};
    values.insert(values.end(), step.term.begin(), step.term.end());
    values.push_back(step.hit.to(at::kDouble).mean());
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

  absl::Status FinishEpoch(int epoch, double rate, const at::Tensor& means, int64_t seen) {
    EpochSummary* summary = summary_.add_epoch();
    summary->set_epoch(epoch);
    summary->set_learning_rate(rate);
    summary->set_loss(means[0].item<double>());
    for (int t = 0; t < action_.loss().term_size(); ++t) summary->add_term(means[t + 1].item<double>());
    summary->set_train_accuracy(means[-1].item<double>());
    images_ += seen - reported_in_epoch_;
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
  at::Generator generator_;
  Objective objective_;
  std::unique_ptr<Optimizer> optimizer_;

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
