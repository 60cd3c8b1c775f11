// Methods of a study that are the same, whatever their names and files.
#ifndef OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_
#define OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_

#include <string>
#include <vector>

#include "experiments/plan/plan.h"

namespace openset {

// A line for each set of methods that have a trial in common, as two have where a preset replaces all that differs
// between them: "2 methods are the same trial: ce_plus+laptop_colour, max_logit+laptop_colour". In the plan's order.
std::vector<std::string> SameMethodLines(const Plan& plan);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_SAME_METHODS_H_
