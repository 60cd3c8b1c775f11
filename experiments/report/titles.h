// Replaces the names of methods by their titles, as papers print them.
#ifndef OPENSET_EXPERIMENTS_REPORT_TITLES_H_
#define OPENSET_EXPERIMENTS_REPORT_TITLES_H_

#include <string>

#include "experiments/report/report.h"

namespace openset {

// The row of a table with its method's title: "OpenAUC, lambda 0.1" for "openauc, lambda 0.1", "OpenAUC (tuned)" for
// "openauc (tuned)". Unchanged if the method has no title (MethodSpec.title) or shares it with another method.
std::string TitledRow(const Report& report, const std::string& row);

// The report with titles in all rows and in its baseline.
Report WithTitles(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_TITLES_H_
