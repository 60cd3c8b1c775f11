#include "data/readers/feature_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/npz.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

constexpr int64_t kMostClasses = 1'000'000;

bool IsText(const NpyArray& array) {
  return absl::StartsWith(array.descr, "<U") || absl::StartsWith(array.descr, "|S");
}

// The distinct values in order, and the index of each value among them.
template <typename T>
std::pair<std::vector<T>, std::vector<int32_t>> Numbered(const std::vector<T>& values) {
  std::map<T, int32_t> number;
  for (const T& value : values) number.emplace(value, 0);
  std::vector<T> distinct;
  for (auto& [value, index] : number) {
    index = static_cast<int32_t>(distinct.size());
    distinct.push_back(value);
  }
  std::vector<int32_t> indices;
  indices.reserve(values.size());
  for (const T& value : values) indices.push_back(number[value]);
  return {std::move(distinct), std::move(indices)};
}

class FeatureReader {
 public:
  FeatureReader(const std::string& path, NpzArrays arrays) : path_(path), arrays_(std::move(arrays)) {}

  absl::StatusOr<FeatureArrays> Read() {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* label, Vector("label"));
    if (label == nullptr) {
      std::vector<std::string> names;
      for (const auto& [name, array] : arrays_) names.push_back(name);
      return Problem(
          "label", absl::StrCat("is missing: the class of each sample, -1 for unknown ones (the file has ",
                                names.empty() ? "none of the arrays that are read" : absl::StrJoin(names, ", "), ")"));
    }
    samples_ = label->shape[0];
    if (samples_ == 0) return Problem("label", "is empty");
    OPENSET_RETURN_IF_ERROR(ReadLabels(*label));
    OPENSET_RETURN_IF_ERROR(ReadGroups());
    OPENSET_RETURN_IF_ERROR(ReadParts());
    OPENSET_RETURN_IF_ERROR(ReadClusters());
    OPENSET_RETURN_IF_ERROR(ReadFeatures());
    return std::move(result_);
  }

 private:
  absl::Status Problem(absl::string_view array, absl::string_view problem) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": array '", array, "' ", problem));
  }
  absl::Status ProblemAt(absl::string_view array, int64_t row, absl::string_view problem) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": array '", array, "': row ", row, " ", problem));
  }

  // A [N] or [N, 1] array; null if the file has none.
  absl::StatusOr<const NpyArray*> Vector(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return nullptr;
    const std::vector<int64_t>& shape = found->second.shape;
    const bool is_vector = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
    if (!is_vector || (samples_ > 0 && shape[0] != samples_)) {
      return Problem(name, absl::StrCat("is [", absl::StrJoin(shape, ", "), "], not a value for each ",
                                        samples_ > 0 ? absl::StrCat("of the ", samples_, " samples") : "sample"));
    }
    return &found->second;
  }

  template <typename T>
  absl::StatusOr<std::vector<T>> Values(const std::string& name, const NpyArray& array,
                                        absl::StatusOr<std::vector<T>> (*convert)(const NpyArray&)) const {
    absl::StatusOr<std::vector<T>> values = convert(array);
    if (!values.ok()) return Problem(name, values.status().message());
    if constexpr (std::is_same_v<T, std::string>) {
      for (const std::string& text : *values) {
        if (OneLine(text) != text)
          return Problem(name, absl::StrCat("has the text '", OneLine(text), "', which is no name"));
      }
    }
    return values;
  }

  absl::StatusOr<std::vector<std::string>> Names(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return std::vector<std::string>();
    if (found->second.shape.size() != 1) return Problem(name, "is not a list of names");
    return Values(name, found->second, &ToTexts);
  }

  // C for numeric labels of which `largest` is the largest.
  absl::StatusOr<int64_t> CountClasses(int64_t largest) const {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names("class_names"));
    int64_t classes = largest + 1;
    std::string from = "class_names";
    if (const auto given = arrays_.find("num_classes"); given != arrays_.end()) {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, Values("num_classes", given->second, &ToInt64));
      if (numbers.empty()) return Problem("num_classes", "is empty");
      classes = numbers[0];
      from = "num_classes";
    } else if (!names.empty()) {
      classes = static_cast<int64_t>(names.size());
    } else if (const auto logits = arrays_.find("logits"); logits != arrays_.end()) {
      if (logits->second.shape.size() != 2) return Problem("logits", "is not [samples, classes]");
      classes = logits->second.shape[1];
      from = "logits";
    }
    if (largest >= classes) {
      return Problem("label",
                     absl::StrCat("has class ", largest, ", and there are ", classes, " classes (", from, ")"));
    }
    if (classes < 1 || classes > kMostClasses) {
      return Problem("label", absl::StrCat("would have ", classes, " classes (1 to ", kMostClasses, ")"));
    }
    if (!names.empty() && static_cast<int64_t>(names.size()) != classes) {
      return Problem("class_names", absl::StrCat("has ", names.size(), " names of ", classes, " classes"));
    }
    return classes;
  }

  absl::Status ReadLabels(const NpyArray& array) {
    if (IsText(array)) {
      OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> names, Values("label", array, &ToTexts));
      std::vector<std::string> known;
      for (const std::string& name : names) {
        if (!name.empty()) known.push_back(name);
      }
      if (known.empty()) return Problem("label", "has no known sample");
      if (arrays_.count("logits") > 0) {
        OPENSET_ASSIGN_OR_RETURN(result_.class_names, Names("class_names"));
      }
      if (result_.class_names.empty()) result_.class_names = Numbered(known).first;
      std::map<std::string, int32_t> index;
      for (const std::string& name : result_.class_names) index.try_emplace(name, static_cast<int32_t>(index.size()));
      for (size_t i = 0; i < names.size(); ++i) {
        const auto found = index.find(names[i]);
        const bool is_class = found != index.end() && !names[i].empty();
        if (!is_class && !names[i].empty() && !absl::EqualsIgnoreCase(names[i], "unknown")) {
          return ProblemAt("label", static_cast<int64_t>(i),
                           absl::StrCat("is '", OneLine(names[i]), "', which is none of class_names"));
        }
        result_.class_id.push_back(is_class ? found->second : -1);
      }
    } else {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> labels, Values("label", array, &ToInt64));
      int64_t largest = -1;
      for (size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] < -1 || labels[i] >= kMostClasses) {
          return ProblemAt("label", static_cast<int64_t>(i),
                           absl::StrCat("is ", labels[i], ", neither a class id nor -1 for an unknown sample"));
        }
        largest = std::max(largest, labels[i]);
        result_.class_id.push_back(static_cast<int32_t>(labels[i]));
      }
      if (largest < 0) return Problem("label", "has no known sample");
      OPENSET_ASSIGN_OR_RETURN(const int64_t classes, CountClasses(largest));
      OPENSET_ASSIGN_OR_RETURN(result_.class_names, Names("class_names"));
      for (int64_t c = 0; c < classes && result_.class_names.size() < classes; ++c) {
        result_.class_names.push_back(absl::StrCat(c));
      }
    }
    result_.known_classes = static_cast<int32_t>(result_.class_names.size());
    for (size_t c = 0; c < result_.class_names.size(); ++c) {
      if (!result_.class_names[c].empty()) continue;
      return Problem("class_names", absl::StrCat("has no name for class ", c));
    }
    return absl::OkStatus();
  }

  // The group of each sample as a text; "" where there is none.
  absl::StatusOr<std::vector<std::string>> GroupOfEach() const {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Vector("group"));
    if (array == nullptr) return std::vector<std::string>(samples_);
    if (IsText(*array)) return Values("group", *array, &ToTexts);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, Values("group", *array, &ToInt64));
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names("group_names"));
    if (names.empty()) return Problem("group", "has numbers, and there are no names: add an array 'group_names'");
    std::vector<std::string> groups(samples_);
    for (int64_t i = 0; i < samples_; ++i) {
      if (numbers[i] < -1 || numbers[i] >= static_cast<int64_t>(names.size())) {
        return ProblemAt("group", i, absl::StrCat("is ", numbers[i], ", and there are ", names.size(), " group_names"));
      }
      if (numbers[i] >= 0) groups[i] = names[numbers[i]];
    }
    return groups;
  }

  // Makes a class of each group of unknown samples.
  absl::Status ReadGroups() {
    OPENSET_ASSIGN_OR_RETURN(groups_, GroupOfEach());
    std::map<std::string, int32_t> class_of_group;
    for (int64_t i = 0; i < samples_; ++i) {
      if (result_.class_id[i] >= 0) continue;
      if (groups_[i].empty()) groups_[i] = "unknown";
      class_of_group.emplace(groups_[i], 0);
    }
    for (auto& [name, id] : class_of_group) {
      if (absl::c_linear_search(result_.class_names, name)) {
        return Problem("group", absl::StrCat("has the group '", OneLine(name), "', which is also a class's name"));
      }
      id = static_cast<int32_t>(result_.class_names.size());
      result_.class_names.push_back(name);
    }
    is_unknown_.resize(samples_);
    for (int64_t i = 0; i < samples_; ++i) {
      if (result_.class_id[i] >= 0) continue;
      is_unknown_[i] = true;
      result_.class_id[i] = class_of_group[groups_[i]];
    }
    return absl::OkStatus();
  }

  absl::Status ReadParts() {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Vector("part"));
    std::vector<std::string> parts(samples_);
    if (array != nullptr) {
      OPENSET_ASSIGN_OR_RETURN(parts, Values("part", *array, &ToTexts));
      for (int64_t i = 0; i < samples_; ++i) {
        if (parts[i].empty()) return ProblemAt("part", i, "is empty");
      }
    } else {
      for (int64_t i = 0; i < samples_; ++i) parts[i] = is_unknown_[i] ? groups_[i] : kAllSamples;
    }
    std::tie(result_.part_names, result_.part) = Numbered(parts);
    return absl::OkStatus();
  }

  absl::Status ReadClusters() {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Vector("cluster"));
    if (array == nullptr) return absl::OkStatus();
    if (!IsText(*array)) {
      OPENSET_ASSIGN_OR_RETURN(result_.cluster, Values("cluster", *array, &ToInt64));
      return absl::OkStatus();
    }
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, Values("cluster", *array, &ToTexts));
    const std::vector<int32_t> numbers = Numbered(names).second;
    result_.cluster.assign(numbers.begin(), numbers.end());
    return absl::OkStatus();
  }

  absl::Status ReadFeatures() {
    const auto found = arrays_.find("features");
    if (found == arrays_.end()) return absl::OkStatus();
    const std::vector<int64_t>& shape = found->second.shape;
    if (shape.size() != 2 || shape[0] != samples_ || shape[1] < 1) {
      return Problem("features", absl::StrCat("is [", absl::StrJoin(shape, ", "),
                                              "], not a row of numbers for each of ", samples_, " samples"));
    }
    OPENSET_ASSIGN_OR_RETURN(result_.features, Values("features", found->second, &ToFloat));
    result_.dim = shape[1];
    for (size_t i = 0; i < result_.features.size(); ++i) {
      if (std::isfinite(result_.features[i])) continue;
      return ProblemAt("features", static_cast<int64_t>(i) / result_.dim,
                       absl::StrCat("has the value ", result_.features[i]));
    }
    return absl::OkStatus();
  }

  const std::string& path_;
  const NpzArrays arrays_;
  int64_t samples_ = 0;
  std::vector<std::string> groups_;  // [N]; "" for known samples without one
  std::vector<bool> is_unknown_;
  FeatureArrays result_;
};

}  // namespace

absl::StatusOr<FeatureArrays> ReadFeatureFile(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpz(path, {"class_names", "cluster", "features", "group",
                                                            "group_names", "label", "logits", "num_classes", "part"}));
  return FeatureReader(path, std::move(arrays)).Read();
}

namespace {

// Whether each row is in the test share.
std::vector<bool> TestShare(const FeatureArrays& arrays, const std::vector<std::vector<int64_t>>& rows_of_class,
                            const ImageFolderOptions::Share& share) {
  ImageFolderOptions::Share test = share;
  test.test = true;
  ClusterShare whole(share);
  std::vector<bool> is_test(arrays.class_id.size());
  for (size_t c = 0; c < rows_of_class.size(); ++c) {
    const std::vector<int64_t>& rows = rows_of_class[c];
    const auto n = static_cast<int64_t>(rows.size());
    if (n == 0) continue;
    if (arrays.cluster.empty()) {
      for (const int64_t i : PlacesOfShare(test, arrays.class_names[c], n)) is_test[rows[i]] = true;
      continue;
    }
    std::vector<int64_t> cluster;
    for (const int64_t row : rows) cluster.push_back(arrays.cluster[row]);
    const std::vector<bool> of_class = whole.AddClass(arrays.class_names[c], cluster);
    for (int64_t i = 0; i < n; ++i) is_test[rows[i]] = of_class[i];
  }
  return is_test;
}

}  // namespace

std::vector<int64_t> RowsOfPart(const FeatureArrays& arrays, const std::string& part,
                                const ImageFolderOptions::Share* share) {
  const std::string& name = share != nullptr ? std::string(kAllSamples) : part;
  std::vector<int64_t> rows;
  std::vector<std::vector<int64_t>> rows_of_class(arrays.class_names.size());
  for (int64_t i = 0; i < static_cast<int64_t>(arrays.part.size()); ++i) {
    if (arrays.part_names[arrays.part[i]] != name) continue;
    rows.push_back(i);
    rows_of_class[arrays.class_id[i]].push_back(i);
  }
  if (share == nullptr) return rows;
  const std::vector<bool> is_test = TestShare(arrays, rows_of_class, *share);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [&](int64_t row) { return is_test[row] != share->test; }),
             rows.end());
  return rows;
}

}  // namespace openset
