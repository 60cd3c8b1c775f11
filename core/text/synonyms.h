// The tables of synonyms: common names from papers and other libraries, with openset's names.
#ifndef OPENSET_CORE_TEXT_SYNONYMS_H_
#define OPENSET_CORE_TEXT_SYNONYMS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// Folds a name to lower-case letters, without '-', '_', '@' and blanks: "FPR@95-TPR" -> "fpr95tpr".
std::string FoldedName(absl::string_view name);

// The name in `known` that `name` stands for: `name` itself if it is known, otherwise the known name that is equal
// after folding, otherwise the first of the table's names for it that is known. (An abbreviation may belong to a
// method, a score and a metric; `known` decides between them.) Absent if nothing matches, or if two are equal after
// folding. For names on the command line, and for suggestions; names in files are never changed.
std::optional<std::string> ResolveSynonym(absl::string_view name, const std::vector<std::string>& known);

// The table: folded names, each with openset's names in the order in which they are tried.
const std::map<std::string, std::vector<std::string>>& Synonyms();

// ---- Synonyms of fields.

// The field of a method that other programs call by the last name of `path` ("lr": training.optimizer.learning_rate);
// `path` if none is known.
std::string UsualPath(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_SYNONYMS_H_
