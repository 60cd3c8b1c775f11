// Classes that tables name, as numbers.
#ifndef OPENSET_EVAL_FILES_CLASS_NAMES_H_
#define OPENSET_EVAL_FILES_CLASS_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/files/score_file.h"

namespace openset {

// Makes labels and predictions of all files indices of the result: the names in the order of the logits, or, without
// logits, those of the kept rows' labels, sorted, and behind them those that are only predicted, sorted: so methods on
// the same samples have the same labels. Rows that are not kept (`keep` [files][N]) are left as they are. Empty,
// and nothing changes, if no file names its classes.
// Errors, kInvalidArgument with the file: one that numbers the classes of kept rows beside one that names them; an
// index that is no name's; logits of other classes than those of the first file that names them.
absl::StatusOr<std::vector<std::string>> NumberClasses(const std::vector<std::vector<bool>>& keep,
                                                       std::vector<ScoreFile>* files);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_CLASS_NAMES_H_
