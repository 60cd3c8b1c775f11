// Reads tables of samples (comma-separated values) as the named arrays that an .npz would contain.
#ifndef OPENSET_EVAL_FILES_CSV_ARRAYS_H_
#define OPENSET_EVAL_FILES_CSV_ARRAYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/npz.h"

namespace openset {

// Whether a label is the text for unknown samples: "unknown", in any case.
bool SaysUnknown(absl::string_view label);

struct CsvArrays {
  NpzArrays arrays;
  std::vector<std::string> columns;  // all names in the header, as written there
  // If cells contain names of classes: the names that labels and predictions are indices of, in the order of the logit
  // columns, or otherwise of appearance. Empty if cells contain numbers.
  std::vector<std::string> class_names;
  std::vector<int64_t> lines;  // of each row; empty if row r is in line r + 2
};

// A header, then a line for each sample. Column names may have any case, and spaces or hyphens instead of underscores.
// Other columns than these are ignored, also an index without a name.
//   * logit_0, logit_1, ... or two or more columns logit_NAME, whose names keep their case, become the array `logits`
//     [N, K]; feature_0, ... become `features` [N, D];
//   * unknown_score and conf: doubles;
//   * label, prediction, pred: integers, also written as floats ("3.0"), or all of them names of classes. A label that
//     is blank, "unknown", "nan" or "<NA>", in any case, or -1 means an unknown sample: -1;
//   * correct and loss: doubles, NaN for a blank cell; "true" and "false", in any case, are 1 and 0;
//   * num_classes: the same integer in each line;
//   * `group`: a name for each sample, blank for samples without a group: the arrays `group` and `group_names`, in
//     order of appearance;
//   * `cluster`: a text for each sample, the array of this name.
// Errors, kInvalidArgument with the line and the column: text that is not a table (ReadCsv() in
// core/files/formats/csv.h); no line after the header; duplicates of these columns, `pred` next to `prediction`;
// missing numbers of logit_ or feature_ columns, numbered logits next to named ones; a cell that is not a number;
// numbers among names of classes; a prediction that is blank or "unknown"; names of classes with numbered logits, or
// that no logit has; numbers of classes with named logits; labels that are True and False; different values of
// num_classes.
absl::StatusOr<CsvArrays> ParseCsvArrays(absl::string_view text);

// Whether a class has a name that people give to unknown samples: "UNK", "<ood>", "N/A" and the like, in any case. In a
// column `label`, only "unknown", "nan" and "<NA>" of them mean one.
bool LooksUnknown(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_CSV_ARRAYS_H_
