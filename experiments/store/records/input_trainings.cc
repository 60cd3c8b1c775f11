#include "experiments/store/records/input_trainings.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// The trainings of an inference, in the order of InferSummary.training.
std::vector<const TrainAction*> TrainingActions(const InferAction& action) {
  std::vector<const TrainAction*> actions;
  for (const TrainAction& of_model : action.train()) {
    const size_t first = actions.size();
    for (const TrainAction* train = &of_model;; train = &train->start()) {
      actions.insert(actions.begin() + static_cast<std::ptrdiff_t>(first), train);
      if (!train->has_start()) break;
    }
  }
  return actions;
}

}  // namespace

size_t CountTrainingsOfFirstModel(const InferAction& action) {
  size_t count = 1;
  for (const TrainAction* train = &action.train(0); train->has_start(); train = &train->start()) ++count;
  return count;
}

absl::StatusOr<std::vector<TrainSummary>> LoadTrainings(const InferAction& action, const Store& store) {
  const size_t of_first = CountTrainingsOfFirstModel(action);
  std::vector<TrainSummary> trainings;
  for (const TrainAction* train : TrainingActions(action)) {
    OPENSET_ASSIGN_OR_RETURN(TrainSummary summary, store.LoadTrainSummary(MessageDigest(*train)));
    summary.clear_action();
    if (trainings.size() + 1 != of_first) summary.clear_epoch();
    trainings.push_back(std::move(summary));
  }
  return trainings;
}

absl::StatusOr<std::vector<TrainSummary>> TrainingsOf(const InferSummary& summary, const Store& store) {
  if (summary.training().empty()) return LoadTrainings(summary.action(), store);
  const size_t expected = TrainingActions(summary.action()).size();
  if (static_cast<size_t>(summary.training_size()) != expected) {
    return absl::DataLossError(absl::StrCat("the outputs have the summaries of ", summary.training_size(),
                                            " trainings, and their action has ", expected));
  }
  return std::vector<TrainSummary>(summary.training().begin(), summary.training().end());
}

}  // namespace openset
