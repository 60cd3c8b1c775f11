#include "core/text/suggest.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/text/synonyms.h"

namespace openset {
namespace {

// Levenshtein distance.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& known) {
  std::string text = absl::StrCat("unknown ", kind, " '", name, "'");
  std::optional<std::string> best = ResolveSynonym(name, known);
  size_t best_distance = best.has_value() ? 0 : std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best.has_value()) absl::StrAppend(&text, "; did you mean '", *best, "'?");
  if (!known.empty()) absl::StrAppend(&text, " (known: ", absl::StrJoin(known, ", "), ")");
  return text;
}

}  // namespace openset
