// Methods by their titles, as papers print them, in the place of their names.
#ifndef OPENSET_EXPERIMENTS_REPORT_TITLES_H_
#define OPENSET_EXPERIMENTS_REPORT_TITLES_H_

#include <string>

#include "experiments/report/report.h"

namespace openset {

// A row of the tables ("openauc, lambda 0.1") with its method's title ("OpenAUC, lambda 0.1"); "openauc (tuned)" is
// "OpenAUC (tuned)". As it is where the method has no title (MethodSpec.title) or shares it with another one.
std::string TitledRow(const Report& report, const std::string& row);

// All rows of a report, and the one that it calls its baseline.
Report WithTitles(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_TITLES_H_
