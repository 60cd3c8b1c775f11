// What is said around the tables of a report.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_LINES_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_LINES_H_

#include <string>
#include <vector>

#include "experiments/report/report.h"

namespace openset {

// Before the tables: of data that are not here, and what the command line changed.
std::vector<std::string> HeadLines(const Report& report);

// Below them: what a cell is, which trials have no record and why, what a star says.
std::vector<std::string> FooterLines(const Report& report);

// What a cell is: "Mean ± population standard deviation over splits and seeds (n=12)", "One run: no spread".
std::string MeanText(const Report& report);

// What bold and underlined cells are.
std::string MarkText(const Report& report);

// What a star in the tables says, and what it is over; where no cell can have one, why. Precondition: there is a
// baseline.
std::string StarText(const Report& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_LINES_H_
