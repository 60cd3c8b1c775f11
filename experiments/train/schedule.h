// The learning rate over epochs.
#ifndef OPENSET_EXPERIMENTS_TRAIN_SCHEDULE_H_
#define OPENSET_EXPERIMENTS_TRAIN_SCHEDULE_H_

#include "experiments/spec/method.pb.h"

namespace openset {

// The rate of `epoch` (from 0) as a share of the initial one; formulas in experiments/spec/method.proto.
// Precondition: the spec obeys its schema's rules and has its defaults filled in.
double LearningRateFactor(const ScheduleSpec& spec, int epoch);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_SCHEDULE_H_
