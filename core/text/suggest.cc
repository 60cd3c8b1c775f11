#include "core/text/suggest.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
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

std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& known,
                        absl::string_view all_by) {
  constexpr size_t kMostNames = 12, kNearest = 5;
  std::string text = absl::StrCat("unknown ", kind, " '", name, "'");
  const std::optional<std::string> meant = ResolveSynonym(name, known);
  std::vector<std::pair<size_t, std::string>> nearest;  // by distance
  for (const std::string& candidate : known) {
    nearest.emplace_back(candidate == meant ? 0 : 1 + EditDistance(name, candidate), candidate);
  }
  absl::c_stable_sort(nearest, [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!nearest.empty() && nearest[0].first <= 1 + std::max<size_t>(2, name.size() / 3)) {
    absl::StrAppend(&text, "; did you mean '", nearest[0].second, "'?");
  }
  if (known.empty()) return text;
  if (all_by.empty() || known.size() <= kMostNames)
    return absl::StrCat(text, " (known: ", absl::StrJoin(known, ", "), ")");
  nearest.resize(kNearest);
  return absl::StrCat(
      text,
      " (known: ", absl::StrJoin(nearest, ", ", [](std::string* out, const auto& near) { out->append(near.second); }),
      " and ", known.size() - kNearest, " others; '", all_by, "' shows all)");
}

}  // namespace openset
