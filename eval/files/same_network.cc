#include "eval/files/same_network.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "eval/metrics/evaluation_input.h"

namespace openset {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kMostProducts = int64_t{1} << 27;
constexpr float kTolerance = 0.1F;
constexpr int64_t kBlock = 256;  // rows at a time

// Rows begin, begin + step ... of [N, width].
RowMajor RowsAt(absl::Span<const float> values, int64_t width, int64_t begin, int64_t step, int64_t rows) {
  RowMajor block(rows, width);
  for (int64_t r = 0; r < rows; ++r) {
    block.row(r) = Eigen::Map<const Eigen::RowVectorXf>(values.data() + (begin + r * step) * width, width);
  }
  return block;
}

std::string_view BytesOf(const MaybeBorrowed<float>& values, int64_t width, int64_t row) {
  return {reinterpret_cast<const char*>(values.data() + row * width), width * sizeof(float)};
}

}  // namespace

absl::Status CheckHead(const ScoreInput& outputs, const std::string& path, absl::string_view head_of) {
  const int64_t n = outputs.num_samples, k = outputs.num_outputs, d = outputs.feature_dim;
  if (outputs.logits.empty() || outputs.features.empty() || outputs.head_weight.empty()) return absl::OkStatus();
  const Eigen::Map<const RowMajor> weight(outputs.head_weight.data(), k, d);
  const RowMajor squared_weight = weight.cwiseAbs2();
  Eigen::RowVectorXf bias = Eigen::RowVectorXf::Zero(k);
  if (!outputs.head_bias.empty()) bias = Eigen::Map<const Eigen::RowVectorXf>(outputs.head_bias.data(), k);
  const int64_t most = std::max<int64_t>(1, kMostProducts / (k * d));
  const int64_t step = (n + most - 1) / most, checked = (n + step - 1) / step;
  int64_t wrong = 0;
  for (int64_t done = 0; done < checked; done += kBlock) {
    const int64_t rows = std::min(kBlock, checked - done);
    const RowMajor features = RowsAt(outputs.features, d, done * step, step, rows);
    const RowMajor logits = RowsAt(outputs.logits, k, done * step, step, rows);
    RowMajor off = features * weight.transpose() - logits;
    off.rowwise() += bias;
    RowMajor scale = (features.cwiseAbs2() * squared_weight.transpose()).cwiseSqrt() + logits.cwiseAbs();
    scale.rowwise() += bias.cwiseAbs();
    wrong += (off.array().abs() > kTolerance * scale.array()).rowwise().any().count();
  }
  if (wrong == 0) return absl::OkStatus();
  const std::string what =
      absl::StrCat(path, ": for ", wrong, " of ", checked, " samples, features * head_weight^T + head_bias");
  if (!head_of.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ", with the head of ", head_of,
                                                   ", is not logits: they are outputs of another network, or their "
                                                   "rows or classes are in another order"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what,
                   " is not logits: save all of them for one network in one pass, with the same order of rows; if the "
                   "features are not the input of the last layer, leave out head_weight and head_bias"));
}

absl::Status CheckSameNetwork(const SampleSet& one, const SampleSet& other) {
  const bool one_has = !one.head_weight.empty(), other_has = !other.head_weight.empty();
  if (one_has && other_has) {
    if (one.head_weight == other.head_weight && one.head_bias == other.head_bias) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(one.path,
                                                   ": its head (head_weight, head_bias) differs from the one in ",
                                                   other.path, ": give outputs of the same network"));
  }
  if (!one_has && !other_has) return absl::OkStatus();
  const SampleSet& with = one_has ? one : other;
  const SampleSet& without = one_has ? other : one;
  if (with.num_outputs != without.num_outputs || with.feature_dim != without.feature_dim) return absl::OkStatus();
  if (!without.log_probabilities.empty()) return absl::OkStatus();
  ScoreInput outputs = without.Outputs();
  outputs.head_weight = with.head_weight;
  outputs.head_bias = with.head_bias;
  return CheckHead(outputs, without.path, with.path);
}

int64_t CountShared(const SampleSet& samples, const SampleSet& others, bool only_known) {
  if (samples.logits.empty() || others.logits.empty()) {
    const bool are_same = samples.logits.empty() && others.logits.empty() && samples.label == others.label &&
                          samples.unknown_score == others.unknown_score;
    return are_same ? samples.num_samples : 0;
  }
  const bool by_features = !samples.features.empty() && !others.features.empty();
  const auto row_of = [by_features](const SampleSet& set, int64_t row) {
    return by_features ? BytesOf(set.features, set.feature_dim, row) : BytesOf(set.logits, set.num_outputs, row);
  };
  std::unordered_set<std::string_view> rows;
  rows.reserve(others.num_samples);
  for (int64_t row = 0; row < others.num_samples; ++row) {
    if (!only_known || others.label[row] != kUnknownLabel) rows.insert(row_of(others, row));
  }
  int64_t shared = 0;
  for (int64_t row = 0; row < samples.num_samples; ++row) shared += rows.count(row_of(samples, row));
  return shared * 100 > std::min(samples.num_samples, others.num_samples) ? shared : 0;
}

}  // namespace openset
