// The learning rate over a training.
#ifndef OPENSET_EXPERIMENTS_TRAIN_SCHEDULE_H_
#define OPENSET_EXPERIMENTS_TRAIN_SCHEDULE_H_

#include <cstdint>

#include "experiments/spec/method.proto.h"

namespace openset {

// A step of a training.
struct TrainingTime {
  int epoch;                // from 0
  int64_t step;             // of the epoch, from 0
  int64_t steps_per_epoch;  // at least 1
};

// The rate of a step as a fraction of the initial one. experiments/spec/method.proto has the formulas.
// Precondition: the spec obeys its schema's rules and has its defaults filled in.
double LearningRateFactor(const ScheduleSpec& spec, const TrainingTime& time);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_SCHEDULE_H_
