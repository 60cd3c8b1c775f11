// The length of a training (TrainingSpec.stop_after_epochs).
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_TRAINING_EPOCHS_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_TRAINING_EPOCHS_H_

#include <algorithm>

#include "experiments/spec/method.proto.h"

namespace openset {

// The number of epochs that it trains: all epochs of its schedule, or fewer if it stops early.
inline int EpochsOf(const TrainingSpec& training) {
  const int stop = training.stop_after_epochs();
  return stop > 0 ? std::min(stop, training.epochs()) : training.epochs();
}

// Whether other trainings may continue from its end (WorkRequest.continued_key).
inline bool IsStoppedEarly(const TrainingSpec& training) { return EpochsOf(training) < training.epochs(); }

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_TRAINING_EPOCHS_H_
