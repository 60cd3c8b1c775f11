// Reads CSV tables of samples as the named arrays that an .npz would contain.
#ifndef OPENSET_EVAL_FILES_CSV_ARRAYS_H_
#define OPENSET_EVAL_FILES_CSV_ARRAYS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/npz.h"

namespace openset {

struct CsvArrays {
  NpzArrays arrays;
  std::vector<std::string> columns;  // all that the header names, as it does
  // If cells contain names of classes: the names that labels and predictions are indices of, in the order of the logit
  // columns, or otherwise of appearance. Empty if cells contain numbers.
  std::vector<std::string> class_names;
};

// A line a sample, under a header. Names of columns count in any case, and with spaces or hyphens for underscores;
// those that are not named here are passed over, an index without a name among them.
//   * logit_0, logit_1, ... become the array `logits` [N, K]; without them, two or more logit_NAME do where cells hold
//     names of classes; feature_0, ... `features` [N, D];
//   * unknown_score and conf: doubles;
//   * label, prediction, pred: whole numbers, as floats ("3.0") too, or all of them names of classes. A label that is
//     blank, "unknown", "nan" or "<NA>", in any case, or -1, is an unknown sample's: -1;
//   * num_classes: one whole number;
//   * `group`: a name a sample, blank for those of no group: the arrays `group` and `group_names`, in order of
//     appearance.
// Errors, kInvalidArgument with the line and the column: those of ReadCsv; no line below the header; two of these
// columns of one name; logit_ or feature_ columns that leave out a number; a cell that is no number; numbers among
// names of classes; a prediction that is blank or "unknown"; names of classes with logits by number, or of none of
// the logits; labels that are True and False; num_classes that change.
absl::StatusOr<CsvArrays> ParseCsvArrays(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_CSV_ARRAYS_H_
