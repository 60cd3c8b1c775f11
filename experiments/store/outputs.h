// A model's stored outputs: outputs.npz.
#ifndef OPENSET_EXPERIMENTS_STORE_OUTPUTS_H_
#define OPENSET_EXPERIMENTS_STORE_OUTPUTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/files/formats/npz.h"

namespace openset {

// Outputs for N test samples. The arrays in the file have the names of these fields. NumPy can read the file.
struct Outputs {
  std::vector<float> logits;      // [N, K]
  std::vector<float> features;    // [N, D]; empty if they are not stored
  std::vector<int64_t> label;     // [N], index of the known class, -1 = unknown
  std::vector<int64_t> class_id;  // [N], class id in the data set, at least 0
  std::vector<int64_t> group;     // [N], index into group_names of an unknown sample, -1 = known
  std::vector<std::string> group_names;
  std::vector<int64_t> prediction;  // [N], the predicted class, if it is not the class of the largest logit; else empty
  std::vector<float> head_weight;   // [K, D] and
  std::vector<float> head_bias;     // [K], of a linear head; empty for others
  // [N, D], features of the images with some pixels changed (PixelPerturbationSpec); otherwise empty.
  std::vector<float> perturbed_features;
  // [N, 3], if several passes are stored: mutual information and expected entropy in nats, and variation ratio.
  std::vector<float> member_uncertainty;
  // [N, V], values of the stages' feature maps (StageValuesSpec), and how many of the V belong to each stage (their sum
  // is V); otherwise empty.
  std::vector<float> stage_values;
  std::vector<int64_t> stage_widths;
  // [N], samples with the same number belong together and are resampled together; empty: each is its own.
  std::vector<int64_t> cluster;
  int64_t num_outputs = 0;  // K
  int64_t feature_dim = 0;  // D

  int64_t size() const { return static_cast<int64_t>(label.size()); }
};

// Numbers the clusters of outputs whose samples are from several data sets.
class ClusterNumbers {
 public:
  // Appends the clusters of `count` samples of a data set. `clusters` is empty if it has none: each sample is its own.
  void Append(const std::string& data_set, absl::Span<const int64_t> clusters, int64_t count);

  // The clusters of all samples; empty if no data set has any.
  std::vector<int64_t> Take();

 private:
  std::map<std::pair<std::string, int64_t>, int64_t> number_;
  std::vector<int64_t> all_;
  int64_t next_ = 0;
};

// Errors: kUnavailable.
absl::Status WriteOutputs(const Outputs& outputs, const std::string& path);

// Writes the same bytes as WriteOutputs(), batch by batch. Call AddRows() for each batch, then Finish() once.
class OutputsWriter {
 public:
  explicit OutputsWriter(std::string path) : writer_(std::move(path)) {}

  // Adds logits [B, K] and features [B, D] (or empty) of the next samples. Errors: kUnavailable.
  absl::Status AddRows(absl::Span<const float> logits, int64_t num_outputs, absl::Span<const float> features,
                       int64_t feature_dim);

  // `rest` contains all other fields. Errors: kUnavailable.
  absl::Status Finish(const Outputs& rest);

 private:
  NpzWriter writer_;
};

// Errors, with the path and the array: kNotFound; kDataLoss for a corrupt file, and for values that are not of the
// range above; kInvalidArgument for a file without logits, labels and class ids, or with arrays whose shapes disagree.
absl::StatusOr<Outputs> ReadOutputs(const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_OUTPUTS_H_
