#include "experiments/store/records/input_trainings.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/logging.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "experiments/spec/resolve/actions.h"

namespace openset {
namespace {

using Trainings = google::protobuf::RepeatedPtrField<TrainSummary>;

// Appends the training, after the one that it starts from.
absl::Status Load(const std::string& key, const Store& store, Trainings* trainings) {
  OPENSET_ASSIGN_OR_RETURN(TrainSummary summary, store.LoadTrainSummary(key));
  const std::string start = InputKey(summary.action(), ActionInput::START);
  if (!start.empty()) OPENSET_RETURN_IF_ERROR(Load(start, store, trainings));
  *trainings->Add() = std::move(summary);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Trainings> LoadTrainings(const ActionSpec& inference, const Store& store) {
  Trainings trainings;
  int first = 0;
  for (const std::string& key : InputKeys(inference, ActionInput::MODEL)) {
    OPENSET_RETURN_IF_ERROR(Load(key, store, &trainings));
    if (first == 0) first = trainings.size();
  }
  for (int t = 0; t < trainings.size(); ++t) {
    if (t + 1 != first) trainings[t].clear_epoch();
  }
  return trainings;
}

absl::Status CheckTrainings(const InferSummary& summary) {
  std::set<std::string> there, wanted;
  for (const std::string& key : InputKeys(summary.action(), ActionInput::MODEL)) wanted.insert(key);
  for (const TrainSummary& training : summary.training()) {
    there.insert(MessageDigest(training.action()));
    const std::string start = InputKey(training.action(), ActionInput::START);
    if (!start.empty()) wanted.insert(start);
  }
  if (there == wanted && !wanted.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the outputs have the summaries of ", there.size(),
                                          " trainings, and depend on ", wanted.size(),
                                          there.size() == wanted.size() ? " others" : ""));
}

const TrainSummary& FirstTraining(const InferSummary& summary) {
  const std::string first = InputKey(summary.action(), ActionInput::MODEL);
  for (const TrainSummary& training : summary.training()) {
    if (MessageDigest(training.action()) == first) return training;
  }
  LOG(FATAL) << "the summary lacks the training of its first network";
}

}  // namespace openset
