#include "eval/files/named_arrays.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

// "[100, 10]", "[any, 10]", "a single value".
std::string ShapeText(const std::vector<int64_t>& shape) {
  if (shape.empty()) return "a single value";
  return absl::StrCat("[",
                      absl::StrJoin(shape, ", ",
                                    [](std::string* out, int64_t extent) {
                                      absl::StrAppend(out, extent < 0 ? "any" : absl::StrCat(extent));
                                    }),
                      "]");
}

// "[100, any]", "two dimensions".
std::string ExpectedText(const std::vector<int64_t>& shape) {
  const bool any = std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
  if (!any || shape.empty() || shape.size() > 2) return ShapeText(shape);
  return shape.size() == 1 ? "one dimension" : "two dimensions";
}

// "id, label, (no name)"; only the first ones if there are many.
std::string ColumnsText(const std::vector<std::string>& columns) {
  constexpr size_t kShown = 30;
  std::vector<std::string> names;
  for (const std::string& column : columns) {
    if (names.size() == kShown) return absl::StrCat(absl::StrJoin(names, ", "), ", ... ", columns.size(), " in all");
    names.push_back(column.empty() ? "(no name)" : column.substr(0, 60));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<const NpyArray*> NamedArrays::Get(const std::string& name, const std::vector<int64_t>& shape) const {
  const auto entry = arrays_.find(name);
  if (entry == arrays_.end()) return Missing(name);
  const NpyArray& array = entry->second;
  bool fits = array.shape.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) fits = shape[d] < 0 || shape[d] == array.shape[d];
  if (!fits) {
    return Problem(name, absl::StrCat("has shape ", ShapeText(array.shape), ", expected ", ExpectedText(shape)));
  }
  return &array;
}

const void* NamedArrays::InPlace(const std::string& name) const {
  if (in_place_ == nullptr) return nullptr;
  const auto entry = in_place_->find(name);
  return entry == in_place_->end() ? nullptr : entry->second;
}

absl::StatusOr<int64_t> NamedArrays::ReadOne(const std::string& name) const {
  const auto entry = arrays_.find(name);
  if (entry == arrays_.end()) return Missing(name);
  if (entry->second.size() != 1) {
    return Problem(name, absl::StrCat("has shape ", ShapeText(entry->second.shape), ", expected a single value"));
  }
  const absl::StatusOr<std::vector<int64_t>> values = ToInt64(entry->second);
  if (!values.ok()) return Problem(name, values.status().message());
  return values->front();
}

absl::Status NamedArrays::Problem(absl::string_view name, absl::string_view problem) const {
  const bool is_elsewhere = path_of_ != nullptr && path_of_->count(std::string(name)) > 0;
  const std::string& path = is_elsewhere ? path_of_->at(std::string(name)) : path_;
  return absl::InvalidArgumentError(absl::StrCat(path, ": array '", name, "' ", problem));
}

const std::vector<std::string>& NamedArrays::NoColumns() {
  static const auto* const none = new std::vector<std::string>;
  return *none;
}

namespace {

// Common names of the arrays.
const std::map<std::string, std::vector<std::string>>& OtherNames() {
  static const auto* const names = new std::map<std::string, std::vector<std::string>>{
      {"label", {"labels", "y", "y_true", "target", "targets"}},
      {"logits", {"logit", "output", "outputs"}},
      {"unknown_score", {"score", "scores", "unknown_scores", "ood_score", "ood_scores"}},
      {"prediction", {"predictions", "pred", "preds", "y_pred"}}};
  return *names;
}

// " (is it 'labels'? rename it to 'label')", if one of `there` is such a name.
std::string RenameHint(absl::string_view missing, const std::vector<std::string>& there) {
  for (const auto& [name, others] : OtherNames()) {
    if (!absl::StrContains(missing, name)) continue;
    for (const std::string& other : others) {
      if (std::find(there.begin(), there.end(), other) == there.end()) continue;
      return absl::StrCat("; is it '", other, "'? rename that to '", name, "'",
                          name == "unknown_score" ? ", if larger is more unknown" : "");
    }
  }
  return "";
}

}  // namespace

absl::Status NamedArrays::Missing(absl::string_view name) const {
  if (IsTable()) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": has no column '", name, "' (it has ",
                                                   ColumnsText(columns_), ")", RenameHint(name, columns_)));
  }
  std::vector<std::string> names;
  for (const auto& [known, array] : arrays_) names.push_back(OneLine(known));
  return absl::InvalidArgumentError(absl::StrCat(
      path_, ": has no array '", name, "'",
      names.empty() ? "" : absl::StrCat(" (it has ", absl::StrJoin(names, ", "), ")"), RenameHint(name, names)));
}

}  // namespace openset
