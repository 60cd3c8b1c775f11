// Finds methods of a study that are the same under different names.
#ifndef OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_
#define OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_

#include <string>
#include <vector>

#include "experiments/plan/plan.h"

namespace openset {

// One line for each set of methods that share a trial, in the plan's order: "2 methods are the same trial:
// ce_plus+laptop_colour, max_logit+laptop_colour". This happens if a preset replaces every
// field in which the methods differ.
std::vector<std::string> SameMethodLines(const Plan& plan);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_
