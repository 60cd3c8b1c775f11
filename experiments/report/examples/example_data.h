// Decisions by class and the largest mistakes of single trials, for the page.
#ifndef OPENSET_EXPERIMENTS_REPORT_EXAMPLES_EXAMPLE_DATA_H_
#define OPENSET_EXPERIMENTS_REPORT_EXAMPLES_EXAMPLE_DATA_H_

#include <map>
#include <string>
#include <vector>

#include "experiments/report/charts/detail_charts.h"
#include "nlohmann/json.hpp"

namespace openset {

struct ExampleContext {
  // By data set: the name of each class id. A class without one is "class 7".
  std::map<std::string, std::vector<std::string>> class_names;
  // By trial id: a contact sheet of its mistakes (experiments/report/examples/mistake_sheet.h), as the bytes of a PNG
  // file.
  std::map<std::string, std::string> sheets;
};

// Returns a list with an object for each example: line, task, split, seed, rule, threshold, known [[class, samples,
// right, rejected, right and rejected]], unknown [[class, set, samples, rejected]], confusion [[index in known, or -1 -
// index in unknown, predicted index, samples]], cut, mistakes [[kind, class, set, predicted class, unknown score]] with
// kind 1 to 3 as in Mistake, and sheet, a data: URI. Leaves out examples that would make the list longer than
// `most_bytes`.
nlohmann::ordered_json ExamplesJson(const std::vector<ExampleTrial>& examples, const ExampleContext& context,
                                    size_t most_bytes = 2'000'000);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_EXAMPLES_EXAMPLE_DATA_H_
