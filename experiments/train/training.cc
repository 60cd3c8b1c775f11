#include "core/tensor/torch.h"
// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/logging.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/spec/method/training_epochs.h"
#include "experiments/store/store.h"
#include "experiments/train/checkpoint.h"
#include "experiments/train/training.h"
#include "experiments/train/training_run.h"
#include "experiments/worker/execution.h"

namespace openset {
namespace {

constexpr absl::Duration kReportEvery = absl::Milliseconds(200);
// After an epoch, the state is saved if the last saved one is older than this. Saving takes longer than an epoch of a
// small network.
constexpr absl::Duration kSaveEvery = absl::Seconds(30);

// Reports a run's progress.
class Reporter {
 public:
  Reporter(const TrainingRun& run, const TrainAction& action, const ReportProgress& report)
      : run_(run), epochs_(EpochsOf(action.training())), report_(report), resumed_images_(run.images_seen()) {}

  // Reports before the first step.
  void Begin() { report_(ProgressIn(run_.epochs().size() + 1)); }

  void Report() {
    const absl::Duration now = SteadyNow();
    if (now - last_ < kReportEvery) return;
    last_ = now;
    WorkProgress progress = ProgressIn(run_.epochs().size() + (run_.between_epochs() ? 0 : 1));
    progress.set_loss(run_.MeanLoss());
    // The first metric of the last measurement.
    for (auto last = run_.epochs().rbegin(); last != run_.epochs().rend(); ++last) {
      if (last->metric_size() == 0) continue;
      if (last->metric(0).has_value()) {
        progress.set_metric(last->metric(0).name());
        progress.set_metric_value(last->metric(0).value());
      }
      break;
    }
    progress.set_images_per_second(static_cast<double>(run_.images_seen() - resumed_images_) /
                                   absl::ToDoubleSeconds(now - start_));
    report_(progress);
  }

  // Reports the rate of the whole training, which a short one had no time for.
  void End() {
    last_ = -absl::InfiniteDuration();
    if (run_.images_seen() > resumed_images_) Report();
  }

 private:
  WorkProgress ProgressIn(size_t epoch) const {
    WorkProgress progress;
    progress.set_fraction(static_cast<double>(run_.steps()) / static_cast<double>(run_.max_steps()));
    progress.set_epoch(static_cast<int>(std::min<size_t>(epoch, epochs_)));
    progress.set_epochs(epochs_);
    return progress;
  }

  const TrainingRun& run_;
  const int epochs_;
  const ReportProgress& report_;
  const int64_t resumed_images_;
  const absl::Duration start_ = SteadyNow();
  absl::Duration last_ = -absl::InfiniteDuration();
};

// The saved state from which the run continues: its own, or the end of the training that it extends. Nothing if neither
// is intact. Errors: a read failure (IsReadFailure() in experiments/store/store.h), since a state that can't be read
// now may hold days of training.
absl::StatusOr<TrainSummary> LoadSaved(const std::string& partial, const TrainAction& action,
                                       const ActionContext& context, TrainingRun* run) {
  std::vector<std::pair<std::string, std::string>> states = {{partial, context.key}};  // files, keys of the trainings
  if (!context.continued_key.empty()) {
    states.emplace_back(JoinPath(context.store.CheckpointFolder(context.continued_key), kStateFile),
                        context.continued_key);
  }
  TrainSummary summary;
  for (const auto& [path, key] : states) {
    absl::StatusOr<SavedTraining> saved = LoadTrainingState(path, key);
    if (absl::IsNotFound(saved.status())) continue;
    if (IsReadFailure(saved.status())) return saved.status();
    absl::Status resumed = saved.status();
    if (resumed.ok()) {
      const TrainSummary& before = saved->summary;
      resumed = Annotate(run->Resume({before.epoch().begin(), before.epoch().end()}, saved->tensors), path);
    }
    if (resumed.ok()) {
      LOG(INFO) << "resuming after step " << run->steps() << " of " << run->max_steps() << ", " << path;
      summary = std::move(saved->summary);
      break;
    }
    LOG(WARNING) << "not resumed: " << resumed;
  }
  *summary.mutable_action() = SpecOf(action, context);
  return summary;
}

// Whether the completed epoch must still be measured.
bool IsMeasurementMissing(const TrainAction& action, const TrainingRun& run) {
  if (!action.has_evaluation() || !run.between_epochs() || run.epochs().empty()) return false;
  if (run.epochs().back().metric_size() > 0) return false;
  // The last epoch always is; a training that stops early is measured after the same epochs as the complete training.
  return (run.done() && !IsStoppedEarly(action.training())) || run.epochs().size() % action.evaluation().every() == 0;
}

absl::Status TrainFromStart(const TrainAction& action, const ActionContext& context, const EpochMeasurement& measure) {
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<TrainingRun> run, TrainingRun::Make(action, context));
  OPENSET_RETURN_IF_ERROR(MakeFolders(JoinPath(context.store.folder(), "partial")));
  const std::string partial = context.store.PartialPath(context.key);
  OPENSET_ASSIGN_OR_RETURN(TrainSummary summary, LoadSaved(partial, action, context, run.get()));
  const ImportNotes& notes = run->import_notes();
  summary.mutable_ignored_tensor()->Assign(notes.ignored.begin(), notes.ignored.end());
  summary.mutable_import_note()->Assign(notes.lines.begin(), notes.lines.end());
  const StageProvenance earlier = summary.provenance();  // of earlier runs
  double seconds = earlier.images_per_second() > 0       // of training, over all runs
                       ? static_cast<double>(run->images_seen()) / earlier.images_per_second()
                       : 0;
  const auto set_provenance = [&] {
    *summary.mutable_provenance() = TrainProvenance(action, earlier, context);
    if (seconds > 0) {
      summary.mutable_provenance()->set_images_per_second(static_cast<double>(run->images_seen()) / seconds);
    }
  };
  const auto save = [&]() -> absl::Status {
    OPENSET_RETURN_IF_ERROR(context.images->CheckUnchanged());
    set_provenance();
    summary.mutable_epoch()->Assign(run->epochs().begin(), run->epochs().end());
    return SaveTrainingState(run->State(), summary, context.key, partial);
  };
  absl::Duration saved = -absl::InfiniteDuration();
  const auto save_if_due = [&] {
    if (!run->done() && context.now() - saved < kSaveEvery) return absl::OkStatus();
    absl::Status status = save();
    saved = context.now();
    return status;
  };
  Reporter reporter(*run, action, context.report);
  ActionContext measuring = context;  // reports the training's progress as a sign of life
  measuring.report = [&reporter](const WorkProgress&) { reporter.Report(); };
  reporter.Begin();
  const auto stop_asked = [&] {
    reporter.Report();
    return context.poll();
  };
  while (true) {
    if (run->done() && !IsStoppedEarly(action.training())) OPENSET_RETURN_IF_ERROR(run->Finish(stop_asked));
    if (IsMeasurementMissing(action, *run)) {
      OPENSET_RETURN_IF_ERROR(measure(action, run->model(), measuring, run->mutable_last_epoch()));
      OPENSET_RETURN_IF_ERROR(save_if_due());
    }
    if (run->done()) break;
    const absl::Duration start = SteadyNow();
    bool stop = false;
    do {
      OPENSET_RETURN_IF_ERROR(run->Step());
      reporter.Report();
      stop = context.poll();
    } while (!run->between_epochs() && !stop);
    seconds += absl::ToDoubleSeconds(SteadyNow() - start);
    OPENSET_RETURN_IF_ERROR(stop ? save() : save_if_due());
    if (stop && (!run->done() || IsMeasurementMissing(action, *run))) {
      return absl::CancelledError(
          absl::StrCat("stopped after step ", run->steps(), " of ", run->max_steps(), "; its state is saved"));
    }
  }
  reporter.End();
  if (action.training().has_swa() && !IsStoppedEarly(action.training()) && run->averaged_epochs() == 0) {
    summary.add_import_note("they are not averaged, because training.max_steps ends before training.swa.start");
  }
  set_provenance();
  OPENSET_RETURN_IF_ERROR(context.images->CheckUnchanged());
  OPENSET_RETURN_IF_ERROR(
      CommitCheckpoint(*run->model(), summary, context, IsStoppedEarly(action.training()) ? partial : ""));
  std::remove(partial.c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status Train(const TrainAction& action, const ActionContext& context, const EpochMeasurement& measure) {
  CHECK(measure != nullptr || !action.has_evaluation());
  ConfigureExecution(action.execution());
  if (!action.has_training()) return CommitInitialModel(action, context);
  return TrainFromStart(action, context, measure);
}

}  // namespace openset
