// TrialSpec -> the actions it is made of, and their keys.
#ifndef OPENSET_EXPERIMENTS_SPEC_ACTIONS_H_
#define OPENSET_EXPERIMENTS_SPEC_ACTIONS_H_

#include <string>

#include "experiments/spec/action.pb.h"
#include "experiments/spec/trial.pb.h"

namespace openset {

// Precondition of all: the trial is resolved (experiments/spec/expand.h).
// Of a trial that is no ensemble.
TrainAction MakeTrainAction(const TrialSpec& trial);
// On the test samples.
InferAction MakeInferAction(const TrialSpec& trial);
// For scores that are fitted: on the training samples; for the temperature on the validation samples, where there are any.
InferAction MakeFitAction(const TrialSpec& trial);
EvaluateAction MakeEvaluateAction(const TrialSpec& trial);

// The digest that names a trial and its record: that of its EvaluateAction. Labels do not take part.
std::string TrialId(const TrialSpec& trial);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_ACTIONS_H_
