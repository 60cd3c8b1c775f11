// Converts the names of classes in tables to numbers.
#ifndef OPENSET_EVAL_FILES_CLASS_NAMES_H_
#define OPENSET_EVAL_FILES_CLASS_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/files/score_file.h"

namespace openset {

// Converts the labels and predictions of all files to indices into the result: the names in the order of the logits or,
// without logits, the names of the kept rows' labels, sorted, followed by those that are only predicted, sorted, so
// that methods on the same samples get the same labels. Doesn't change rows that are not kept (`keep` [files][N]). If
// no file names its classes, returns nothing and changes nothing. Errors, kInvalidArgument with the file: some files
// name the classes of kept rows and others number them; an index without a name; logits for other classes than those of
// the first file that names them.
absl::StatusOr<std::vector<std::string>> NumberClasses(const std::vector<std::vector<bool>>& keep,
                                                       std::vector<ScoreFile>* files);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_CLASS_NAMES_H_
