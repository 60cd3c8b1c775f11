#include "eval/files/class_names.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace openset {
namespace {

// Calls visit(index) for each class among the kept rows' labels or predictions; unknown labels are not classes.
template <typename Visit>
void ForEachClass(const std::vector<bool>& keep, MaybeBorrowed<int64_t>* values, Visit visit) {
  std::vector<int64_t>& own = values->Own();
  for (size_t row = 0; row < own.size(); ++row) {
    if (keep[row] && own[row] >= 0) visit(&own[row]);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> NumberClasses(const std::vector<std::vector<bool>>& keep,
                                                       std::vector<ScoreFile>* files) {
  const auto named = absl::c_find_if(*files, [](const ScoreFile& file) { return !file.class_names.empty(); });
  if (named == files->end()) return std::vector<std::string>();
  for (size_t f = 0; f < files->size(); ++f) {
    ScoreFile& file = (*files)[f];
    const auto classes = static_cast<int64_t>(file.class_names.size());
    int64_t largest = -1;
    for (MaybeBorrowed<int64_t>* values : {&file.label, &file.prediction}) {
      ForEachClass(keep[f], values, [&](int64_t* index) { largest = std::max(largest, *index); });
    }
    if (largest < classes) continue;
    if (classes == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": numbers the classes, and ", named->path, " names them"));
    }
    // A number where others are names: from an array in another file.
    return absl::InvalidArgumentError(
        absl::StrCat(file.path, ": class ", largest, " is not one of the ", classes, " that are named"));
  }
  if (named->num_outputs > 0) {
    for (const ScoreFile& file : *files) {
      if (file.class_names == named->class_names) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": its logits are of ",
                       file.class_names.empty() ? "numbered classes" : absl::StrJoin(file.class_names, ", "),
                       ", those of ", named->path, " of ", absl::StrJoin(named->class_names, ", ")));
    }
    return named->class_names;
  }
  std::map<std::string, int64_t> number;
  std::vector<std::string> names;
  for (MaybeBorrowed<int64_t> ScoreFile::*values : {&ScoreFile::label, &ScoreFile::prediction}) {
    std::set<std::string> found;
    for (size_t f = 0; f < files->size(); ++f) {
      ScoreFile& file = (*files)[f];
      ForEachClass(keep[f], &(file.*values), [&](int64_t* index) { found.insert(file.class_names[*index]); });
    }
    for (const std::string& name : found) {
      if (number.try_emplace(name, names.size()).second) names.push_back(name);
    }
  }
  for (size_t f = 0; f < files->size(); ++f) {
    ScoreFile& file = (*files)[f];
    for (MaybeBorrowed<int64_t>* values : {&file.label, &file.prediction}) {
      ForEachClass(keep[f], values, [&](int64_t* index) { *index = number[file.class_names[*index]]; });
    }
  }
  return names;
}

}  // namespace openset
