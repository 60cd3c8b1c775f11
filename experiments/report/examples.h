// Decisions by class and the largest mistakes of single trials, with their images, for the page.
#ifndef OPENSET_EXPERIMENTS_REPORT_EXAMPLES_H_
#define OPENSET_EXPERIMENTS_REPORT_EXAMPLES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "data/sets/data_set.h"
#include "data/task.pb.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/report.h"
#include "experiments/store/details.pb.h"
#include "nlohmann/json.hpp"

namespace openset {

// ---- Decisions by class and the largest mistakes of single trials, for the page.

// The mistakes that a record keeps. Leaves out those of older records whose score is on the right side of the
// threshold.
std::vector<Mistake> MistakesOf(const TrialRecord& record);

// How many test samples are mistakes of kind 1, 2 and 3 of Mistake: records keep some of them. 0 without decisions.
std::array<int64_t, 3> NumMistakes(const TrialRecord& record);

struct ExampleContext {
  // By data set: the name of each class id. A class without one is "class 7".
  std::map<std::string, std::vector<std::string>> class_names;
  // By trial id: a contact sheet of its mistakes, as the bytes of a PNG file.
  std::map<std::string, std::string> sheets;
  // By trial id: the name of each mistake's sample (TestSamples::NameOf()), in the order of MistakesOf().
  std::map<std::string, std::vector<std::string>> samples;
};

// Returns a list with an object for each example: line, task, split, seed, rule, threshold, known [[class, samples,
// right, rejected, right and rejected]], unknown [[class, set, samples, rejected]], confusion [[index in known, or -1 -
// index in unknown, predicted index, samples]], cut, mistakes [[kind, class, set, predicted class, unknown score,
// sample if it is known]] with kind 1 to 3 as in Mistake, num_mistakes [of kind 1, 2, 3], and sheet, a data: URI.
// Leaves out examples that would make the list longer than `most_bytes`.
nlohmann::ordered_json ExamplesJson(const std::vector<ExampleTrial>& examples, const ExampleContext& context,
                                    size_t most_bytes = 2'000'000);

// What a report's page shows about single samples: names of classes, and images of mistakes if the data is on this
// machine.

// By data set, for the data sets of the examples' test samples that the catalog has.
std::map<std::string, std::vector<std::string>> ClassNamesOf(const std::vector<ExampleTrial>& examples,
                                                             const Catalog& catalog);

// Adds the sheet that `sheet_of` returns for each example ("" for none), until a page has 1.5 MB of sheets.
void AddSheets(const std::vector<ExampleTrial>& examples,
               const std::function<std::string(const ExampleTrial& example)>& sheet_of, ExampleContext* context);

// ---- The test samples of a trial.

// Data set parts that were opened before, by data set and part.
using OpenParts = std::map<std::pair<std::string, std::string>, std::shared_ptr<const ImageSource>>;

// The test samples in the order of the outputs' rows: the known ones, each set of unknown ones, each set of shifted
// ones.
class TestSamples {
 public:
  // Errors: an error of the data (data/sets/data_set.h), such as kNotFound if it is not on this machine.
  static absl::StatusOr<TestSamples> Open(const TaskData& data, const Catalog& catalog,
                                          const std::vector<std::string>& data_folders, OpenParts* open_parts);

  int64_t size() const;

  // A name by which users find the sample: the path of its file, or its place in a part of its data set,
  // "fashion_mnist: test 12". Errors: kInvalidArgument if there is no such sample.
  absl::StatusOr<std::string> NameOf(int64_t row) const;
  // Errors: also an error of the data.
  absl::StatusOr<Image> ImageOf(int64_t row) const;

 private:
  struct Set {
    std::string data_set;
    OpenedSelection opened;
  };

  // The set of a row, and the sample in its source.
  absl::StatusOr<std::pair<const Set*, int64_t>> Find(int64_t row) const;

  std::vector<Set> sets_;
};

// The names of the samples of MistakesOf(), in their order. Errors: an error of the data; kInvalidArgument also
// if the record names a sample that the test lacks.
absl::StatusOr<std::vector<std::string>> MistakenSamples(const TrialSpec& trial, const TrialRecord& record,
                                                         const Catalog& catalog,
                                                         const std::vector<std::string>& data_folders,
                                                         OpenParts* open_parts);

// ---- The images of a trial's largest mistakes.

inline constexpr int kSheetColumns = 12;  // the number of tiles for each kind of mistake
inline constexpr int kSheetTile = 56;     // pixels

// Returns a contact sheet (data/inspect/contact_sheet.h) as the bytes of a PNG file, with a row for each kind of
// mistake in the record, in their order, and the worst mistake on the left. "" for a record without mistakes. Errors:
// as MistakenSamples().
absl::StatusOr<std::string> MistakeSheet(const TrialSpec& trial, const TrialRecord& record, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders, OpenParts* open_parts);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_EXAMPLES_H_
