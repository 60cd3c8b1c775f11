// How long a training goes on (TrainingSpec.stop_after_epochs).
#ifndef OPENSET_EXPERIMENTS_SPEC_TRAINING_EPOCHS_H_
#define OPENSET_EXPERIMENTS_SPEC_TRAINING_EPOCHS_H_

#include <algorithm>

#include "experiments/spec/method.proto.h"

namespace openset {

// Epochs that it takes: all that its schedule is made for, or the first of them.
inline int EpochsOf(const TrainingSpec& training) {
  const int stop = training.stop_after_epochs();
  return stop > 0 ? std::min(stop, training.epochs()) : training.epochs();
}

// Whether others may go on from its end (WorkRequest.continued_key).
inline bool IsStoppedEarly(const TrainingSpec& training) { return EpochsOf(training) < training.epochs(); }

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_TRAINING_EPOCHS_H_
