// CSV tables of samples, as the named arrays an .npz would hold.
#ifndef OPENSET_EVAL_FILES_CSV_ARRAYS_H_
#define OPENSET_EVAL_FILES_CSV_ARRAYS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/npz.h"

namespace openset {

// A line a sample, under a header. Columns logit_0, logit_1, ... become the array `logits` [N, K], feature_0, ...
// `features` [N, D]; unknown_score and conf doubles; label, prediction, pred and num_classes whole numbers;
// `group`, a name a sample (empty for those of no group), the arrays `group` and `group_names`, in order of appearance.
// Other columns are passed over.
// Errors, kInvalidArgument with the line and the column: those of ReadCsv; no line below the header; two columns of one
// name; logit_ or feature_ columns that leave out a number; a cell that is no number; num_classes that change.
absl::StatusOr<NpzArrays> ParseCsvArrays(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_CSV_ARRAYS_H_
