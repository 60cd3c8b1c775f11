// The description of a trial.
#ifndef OPENSET_EXPERIMENTS_SPEC_DESCRIBE_H_
#define OPENSET_EXPERIMENTS_SPEC_DESCRIBE_H_

#include <string>

#include "experiments/spec/trial.h"

namespace openset {

// "2 unknown classes" in a study of several openness levels; "" in others.
std::string LevelText(const Trial& trial);

// "openauc on fashion_mnist_6_4, split 1, seed 0, lambda 0.1"; followed by ", 2 unknown classes" (LevelText()) and, on
// a rung of a search, by ", stopped after 3 epochs".
std::string Describe(const Trial& trial);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_DESCRIBE_H_
