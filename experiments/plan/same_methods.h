// Methods of a study that are the same, whatever their names and files.
#ifndef OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_
#define OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_

#include <string>
#include <vector>

#include "experiments/plan/plan.h"

namespace openset {

// A line for each set of methods that share a trial, in the plan's order: "2 methods are the same trial:
// ce_plus+laptop_colour, max_logit+laptop_colour". Two methods share one if a preset replaces all that differs.
std::vector<std::string> SameMethodLines(const Plan& plan);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_
