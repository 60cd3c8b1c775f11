// What looks like a mistake in a study's results, with what to check, for the lines behind its table.
#ifndef OPENSET_TOOLS_CLI_RESULT_HINTS_H_
#define OPENSET_TOOLS_CLI_RESULT_HINTS_H_

#include <string>
#include <vector>

#include "experiments/study/study.h"

namespace openset {

// A line a hint (experiments/report/hints.h), at most three of a kind and how many more there are. For a study that
// `openset score` made with the flags that change it, for others with the fields.
std::vector<std::string> HintLines(const Study& study, const StudyResults& results);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RESULT_HINTS_H_
