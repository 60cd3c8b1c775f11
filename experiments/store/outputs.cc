#include "experiments/store/outputs.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

// Gets arrays from an archive and checks their shapes; -1 accepts any extent.
class Reader {
 public:
  Reader(const std::string& path, const NpzArrays& arrays) : path_(path), arrays_(arrays) {}

  bool Has(const std::string& name) const { return arrays_.count(name) > 0; }

  absl::StatusOr<const NpyArray*> Get(const std::string& name, std::vector<int64_t> shape) const {
    const auto entry = arrays_.find(name);
    if (entry == arrays_.end()) return absl::InvalidArgumentError(absl::StrCat(path_, ": has no array '", name, "'"));
    const NpyArray& array = entry->second;
    bool fits = array.shape.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) fits = shape[d] < 0 || shape[d] == array.shape[d];
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": array '", name, "' has shape [",
                                                     absl::StrJoin(array.shape, ", "), "], expected [",
                                                     absl::StrJoin(shape, ", "), "] (-1: any)"));
    }
    return &array;
  }

  template <typename T>
  absl::Status Read(const std::string& name, std::vector<int64_t> shape,
                    absl::StatusOr<std::vector<T>> (*convert)(const NpyArray&), std::vector<T>* values) const {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Get(name, std::move(shape)));
    absl::StatusOr<std::vector<T>> converted = convert(*array);
    if (!converted.ok()) return Annotate(converted.status(), absl::StrCat(path_, ": array '", name, "'"));
    *values = *std::move(converted);
    return absl::OkStatus();
  }

 private:
  const std::string& path_;
  const NpzArrays& arrays_;
};

// Returns all arrays except logits and features.
NpzArrays RestOf(const Outputs& outputs) {
  const int64_t n = outputs.size();
  NpzArrays arrays = {
      {"label", MakeNpy(outputs.label, {n})},
      {"class_id", MakeNpy(outputs.class_id, {n})},
      {"group", MakeNpy(outputs.group, {n})},
      {"group_names", MakeNpy(outputs.group_names)},
  };
  if (!outputs.prediction.empty()) arrays["prediction"] = MakeNpy(outputs.prediction, {n});
  if (!outputs.cluster.empty()) arrays["cluster"] = MakeNpy(outputs.cluster, {n});
  if (!outputs.head_weight.empty()) {
    arrays["head_weight"] = MakeNpy(outputs.head_weight, {outputs.num_outputs, outputs.feature_dim});
  }
  if (!outputs.perturbed_features.empty()) {
    arrays["perturbed_features"] = MakeNpy(outputs.perturbed_features, {n, outputs.feature_dim});
  }
  if (!outputs.head_bias.empty()) arrays["head_bias"] = MakeNpy(outputs.head_bias, {outputs.num_outputs});
  if (!outputs.member_uncertainty.empty()) {
    arrays["member_uncertainty"] = MakeNpy(outputs.member_uncertainty, {n, 3});
  }
  if (!outputs.stage_values.empty() && n > 0) {
    arrays["stage_values"] = MakeNpy(outputs.stage_values, {n, static_cast<int64_t>(outputs.stage_values.size()) / n});
    arrays["stage_widths"] = MakeNpy(outputs.stage_widths, {static_cast<int64_t>(outputs.stage_widths.size())});
  }
  return arrays;
}

// The values of `array` must be at least `lowest` and below `end`.
absl::Status CheckRange(const std::string& path, const char* array, const std::vector<int64_t>& values, int64_t lowest,
                        int64_t end) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= lowest && values[i] < end) continue;
    return absl::DataLossError(absl::StrCat(path, ": array '", array, "' has ", values[i], " in row ", i,
                                            ", expected at least ", lowest, " and less than ", end));
  }
  return absl::OkStatus();
}

// Checks what indexes other arrays, since outputs may be from a stranger's bundle.
absl::Status CheckIndices(const std::string& path, const Outputs& outputs) {
  constexpr int64_t kEnd = int64_t{1} << 31;
  OPENSET_RETURN_IF_ERROR(CheckRange(path, "label", outputs.label, -1, kEnd));
  OPENSET_RETURN_IF_ERROR(CheckRange(path, "class_id", outputs.class_id, 0, kEnd));
  OPENSET_RETURN_IF_ERROR(CheckRange(path, "prediction", outputs.prediction, 0, kEnd));
  OPENSET_RETURN_IF_ERROR(
      CheckRange(path, "group", outputs.group, -1, static_cast<int64_t>(outputs.group_names.size())));
  return absl::OkStatus();
}

}  // namespace

void ClusterNumbers::Append(const std::string& data_set, absl::Span<const int64_t> clusters, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (clusters.empty()) {
      all_.push_back(next_++);
      continue;
    }
    const auto [entry, is_new] = number_.try_emplace({data_set, clusters[i]}, next_);
    next_ += is_new ? 1 : 0;
    all_.push_back(entry->second);
  }
}

std::vector<int64_t> ClusterNumbers::Take() {
  return number_.empty() ? std::vector<int64_t>() : std::exchange(all_, {});
}

absl::Status WriteOutputs(const Outputs& outputs, const std::string& path) {
  OutputsWriter writer(path);
  OPENSET_RETURN_IF_ERROR(writer.AddRows(outputs.logits, outputs.num_outputs, outputs.features, outputs.feature_dim));
  return writer.Finish(outputs);
}

absl::Status OutputsWriter::AddRows(absl::Span<const float> logits, int64_t num_outputs,
                                    absl::Span<const float> features, int64_t feature_dim) {
  const int64_t rows = num_outputs == 0 ? 0 : static_cast<int64_t>(logits.size()) / num_outputs;
  OPENSET_RETURN_IF_ERROR(writer_.AppendRows("logits", MakeNpy(logits, {rows, num_outputs})));
  if (features.empty()) return absl::OkStatus();
  return writer_.AppendRows("features", MakeNpy(features, {rows, feature_dim}));
}

absl::Status OutputsWriter::Finish(const Outputs& rest) { return writer_.Finish(RestOf(rest)); }

absl::StatusOr<Outputs> ReadOutputs(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const NpzArrays arrays, ReadNpz(path));
  const Reader reader(path, arrays);
  Outputs outputs;
  OPENSET_ASSIGN_OR_RETURN(const NpyArray* logits, reader.Get("logits", {-1, -1}));
  const int64_t n = logits->shape[0];
  const int64_t k = outputs.num_outputs = logits->shape[1];
  OPENSET_RETURN_IF_ERROR(reader.Read("logits", {n, k}, &ToFloat, &outputs.logits));
  OPENSET_RETURN_IF_ERROR(reader.Read("label", {n}, &ToInt64, &outputs.label));
  OPENSET_RETURN_IF_ERROR(reader.Read("class_id", {n}, &ToInt64, &outputs.class_id));
  if (reader.Has("group")) {
    OPENSET_RETURN_IF_ERROR(reader.Read("group", {n}, &ToInt64, &outputs.group));
    OPENSET_RETURN_IF_ERROR(reader.Read("group_names", {-1}, &ToTexts, &outputs.group_names));
    for (const std::string& name : outputs.group_names) {
      if (OneLine(name) == name) continue;
      return absl::DataLossError(
          absl::StrCat(path, ": array 'group_names' holds '", OneLine(name), "', which is not a valid name"));
    }
  }
  if (reader.Has("features")) {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* features, reader.Get("features", {n, -1}));
    outputs.feature_dim = features->shape[1];
    OPENSET_RETURN_IF_ERROR(reader.Read("features", {n, -1}, &ToFloat, &outputs.features));
  }
  if (reader.Has("cluster")) OPENSET_RETURN_IF_ERROR(reader.Read("cluster", {n}, &ToInt64, &outputs.cluster));
  if (reader.Has("prediction")) OPENSET_RETURN_IF_ERROR(reader.Read("prediction", {n}, &ToInt64, &outputs.prediction));
  if (reader.Has("head_weight")) {
    OPENSET_RETURN_IF_ERROR(reader.Read("head_weight", {k, outputs.feature_dim}, &ToFloat, &outputs.head_weight));
  }
  if (reader.Has("perturbed_features")) {
    OPENSET_RETURN_IF_ERROR(
        reader.Read("perturbed_features", {n, outputs.feature_dim}, &ToFloat, &outputs.perturbed_features));
  }
  if (reader.Has("member_uncertainty")) {
    OPENSET_RETURN_IF_ERROR(reader.Read("member_uncertainty", {n, 3}, &ToFloat, &outputs.member_uncertainty));
  }
  if (reader.Has("stage_values")) {
    OPENSET_RETURN_IF_ERROR(reader.Read("stage_values", {n, -1}, &ToFloat, &outputs.stage_values));
    OPENSET_RETURN_IF_ERROR(reader.Read("stage_widths", {-1}, &ToInt64, &outputs.stage_widths));
    const int64_t values = n == 0 ? 0 : static_cast<int64_t>(outputs.stage_values.size()) / n;
    OPENSET_RETURN_IF_ERROR(CheckRange(path, "stage_widths", outputs.stage_widths, 0, values + 1));
    const auto sum = std::accumulate(outputs.stage_widths.begin(), outputs.stage_widths.end(), int64_t{0});
    if (sum != values) {
      return absl::DataLossError(
          absl::StrCat(path, ": array 'stage_widths' sums to ", sum, ", and 'stage_values' has ", values, " columns"));
    }
  }
  if (reader.Has("head_bias")) OPENSET_RETURN_IF_ERROR(reader.Read("head_bias", {k}, &ToFloat, &outputs.head_bias));
  OPENSET_RETURN_IF_ERROR(CheckIndices(path, outputs));
  return outputs;
}

}  // namespace openset
