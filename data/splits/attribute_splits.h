// Divides unknown classes into levels by how hard they are to tell from the known ones, according to class attributes.
//
// Each unknown class is paired with the known class with the most similar attributes, by the cosine of the angle
// between the two rows (ties: the earlier known class). The unknown classes are ranked by that cosine, largest first
// (ties: the smaller class id), and cut into levels, the hardest first. With the 312 attributes of CUB-200-2011 and
// levels of 34, 34 and 32 classes this gives the published lists of the Semantic Shift Benchmark, in their order.
//
// Source: Vaze et al. 2022, section 5; the rule was reconstructed from its published lists.
#ifndef OPENSET_DATA_SPLITS_ATTRIBUTE_SPLITS_H_
#define OPENSET_DATA_SPLITS_ATTRIBUTE_SPLITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace openset {

// A row of attributes for each class, in the order of the class ids. All rows have the same length.
using AttributeMatrix = std::vector<std::vector<double>>;

// Parses numbers separated by blanks, tabs or commas, with one line for each class. `file` is used in errors only.
// Errors: kInvalidArgument "FILE:LINE: problem" for a number that is not finite, rows of different lengths, a row of
// zeros, no rows.
absl::StatusOr<AttributeMatrix> ParseAttributes(absl::string_view text, const std::string& file);

struct UnknownClass {
  int class_id = 0;
  int nearest_known = 0;
  double cosine = 0;
};

// Returns the unknown classes, hardest first. Attributes may have any magnitude. Preconditions: `attributes` are those
// that ParseAttributes() returns; `known` are distinct rows, at least one.
std::vector<UnknownClass> RankUnknownClasses(const AttributeMatrix& attributes, absl::Span<const int> known);

// Returns how many of `classes` classes are in each of `levels` levels, whose sizes differ by at most 1, larger ones
// first.
std::vector<int> EqualLevels(int classes, int levels);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_ATTRIBUTE_SPLITS_H_
