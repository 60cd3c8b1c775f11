// Hostile model files, which need the worker and therefore LibTorch.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_MODEL_CASES_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_MODEL_CASES_H_

#include <vector>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

std::vector<HostileCase> ModelCases();

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_MODEL_CASES_H_
