// Names of the literature, of other libraries and of habit, and what they are called here: the only table of them.
#ifndef OPENSET_CORE_TEXT_SYNONYMS_H_
#define OPENSET_CORE_TEXT_SYNONYMS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// Small letters, without '-', '_', '@' and blanks: "FPR@95-TPR" -> "fpr95tpr".
std::string FoldedName(absl::string_view name);

// The one of `known` that people mean by `name`. Our names win: a name that is among them is itself, then one that is
// theirs but for folding, then the first of the table's for it that is among them (an abbreviation may be that of a
// method, a score and a metric: which of them is meant, `known` decides). None where nothing fits, or where two of them
// do by folding. For names that are typed on a command line, and for suggestions; what a file says is never changed.
std::optional<std::string> MeantName(absl::string_view name, const std::vector<std::string>& known);

// As the table has them: folded names, and ours in the order in which they are tried.
const std::map<std::string, std::vector<std::string>>& Synonyms();

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_SYNONYMS_H_
