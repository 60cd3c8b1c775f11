#include "data/splits/attribute_splits.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace openset {
namespace {

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The row times the power of two that brings its largest magnitude into [1, 2), so that no square overflows or
// vanishes. This changes no bit of a cosine of ordinary numbers.
std::vector<double> Scaled(std::vector<double> row) {
  double largest = 0;
  for (const double value : row) largest = std::max(largest, std::abs(value));
  for (double& value : row) value = std::ldexp(value, -std::ilogb(largest));
  return row;
}

}  // namespace

absl::StatusOr<AttributeMatrix> ParseAttributes(absl::string_view text, const std::string& file) {
  AttributeMatrix rows;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    std::vector<double>& row = rows.emplace_back();
    for (const absl::string_view cell : absl::StrSplit(line, absl::ByAnyChar(" \t,\r"), absl::SkipEmpty())) {
      double value = 0;
      if (!absl::SimpleAtod(cell, &value) || !std::isfinite(value)) {
        return absl::InvalidArgumentError(absl::StrCat(file, ":", number, ": '", cell, "' is not a finite number"));
      }
      row.push_back(value);
    }
    if (row.size() != rows[0].size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ":", number, ": has ", row.size(), " numbers, and the first line ", rows[0].size()));
    }
    if (std::all_of(row.begin(), row.end(), [](double value) { return value == 0; })) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ":", number, ": all attributes are 0, so no cosine is defined"));
    }
  }
  if (rows.empty()) return absl::InvalidArgumentError(absl::StrCat(file, ": has no line of numbers"));
  return rows;
}

std::vector<UnknownClass> RankUnknownClasses(const AttributeMatrix& given, absl::Span<const int> known) {
  AttributeMatrix attributes;
  std::vector<double> norm;
  for (const std::vector<double>& row : given) {
    attributes.push_back(Scaled(row));
    norm.push_back(std::sqrt(Dot(attributes.back(), attributes.back())));
  }
  const std::set<int> known_set(known.begin(), known.end());
  std::vector<UnknownClass> ranked;
  for (int id = 0; id < static_cast<int>(attributes.size()); ++id) {
    if (known_set.count(id) > 0) continue;
    UnknownClass& unknown = ranked.emplace_back();
    unknown.class_id = id;
    unknown.cosine = -2;
    for (const int k : known) {
      const double cosine = Dot(attributes[id], attributes[k]) / (norm[id] * norm[k]);
      if (cosine <= unknown.cosine) continue;
      unknown.cosine = cosine;
      unknown.nearest_known = k;
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const UnknownClass& a, const UnknownClass& b) {
    return std::make_tuple(-a.cosine, a.class_id) < std::make_tuple(-b.cosine, b.class_id);
  });
  return ranked;
}

std::vector<int> EqualLevels(int classes, int levels) {
  std::vector<int> sizes;
  for (int level = 0; level < levels; ++level) sizes.push_back(classes / levels + (level < classes % levels ? 1 : 0));
  return sizes;
}

}  // namespace openset
