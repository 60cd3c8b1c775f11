// What a report's page shows of single samples: names of classes and, if the data are on this machine, images of
// mistakes.
#ifndef OPENSET_EXPERIMENTS_REPORT_EXAMPLES_EXAMPLE_CONTEXT_H_
#define OPENSET_EXPERIMENTS_REPORT_EXAMPLES_EXAMPLE_CONTEXT_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/catalog.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/examples/example_data.h"

namespace openset {

// Returns the class names by data set, for the data sets of the examples' tests that the catalog has.
std::map<std::string, std::vector<std::string>> ClassNamesOf(const std::vector<ExampleTrial>& examples,
                                                             const Catalog& catalog);

// Adds the sheet that `sheet_of` makes for each example ("" if there is none), until a page has 1.5 MB of sheets.
void AddSheets(const std::vector<ExampleTrial>& examples,
               const std::function<std::string(const ExampleTrial& example)>& sheet_of, ExampleContext* context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_EXAMPLES_EXAMPLE_CONTEXT_H_
