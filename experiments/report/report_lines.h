// The lines before and after the tables of a report.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_LINES_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_LINES_H_

#include <string>
#include <vector>

#include "experiments/report/report.h"

namespace openset {

// Before the tables: absent data, and changes by the command line.
std::vector<std::string> HeadLines(const Report& report);

// After the tables: what a cell shows, which trials have no record and why, and what a star means.
std::vector<std::string> FooterLines(const Report& report);

// What a cell shows: "Mean ± population standard deviation over splits and seeds (n=12)", "One run: no spread".
std::string MeanText(const Report& report);

// What bold and underlined cells mean.
std::string MarkText(const Report& report);

// What a star means and how many splits or seeds the test uses, or why there are no stars; and which rows were not
// tested, and why. Precondition: there is a baseline.
std::string StarText(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_LINES_H_
