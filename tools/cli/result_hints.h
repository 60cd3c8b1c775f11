// Likely mistakes in a study's results, and what to check, for the lines after its table.
#ifndef OPENSET_TOOLS_CLI_RESULT_HINTS_H_
#define OPENSET_TOOLS_CLI_RESULT_HINTS_H_

#include <string>
#include <vector>

#include "experiments/study/study.h"

namespace openset {

// Returns a line for each hint (experiments/report/hints.h): at most three of a kind, then how many more there are.
// Names the flags to change for a study that `openset score` made, and the fields for other studies.
std::vector<std::string> HintLines(const Study& study, const StudyResults& results);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RESULT_HINTS_H_
