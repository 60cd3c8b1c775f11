// Files of scores and outputs: .npz, .npy and .csv, of this project and of other tools, as named arrays.
#ifndef OPENSET_EVAL_FILES_SCORE_FILE_H_
#define OPENSET_EVAL_FILES_SCORE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/files/named_arrays.h"

namespace openset {

// The meaning of a larger `unknown_score` in a file.
enum class ScoreDirection { kHigherIsUnknown, kHigherIsKnown };

// The samples of one file, checked for shapes and types but not yet for values. Empty if the file has no such array.
struct ScoreFile {
  std::string path;  // for errors
  int64_t num_samples = 0;
  MaybeBorrowed<float> logits;  // [N, K]
  int64_t num_outputs = 0;
  MaybeBorrowed<float> features;  // [N, D]
  int64_t feature_dim = 0;
  std::vector<float> head_weight;         // [K, D]
  std::vector<float> head_bias;           // [K]
  std::vector<float> member_uncertainty;  // [N, 3]
  MaybeBorrowed<int64_t> label;           // [N], -1 = unknown
  int64_t largest_label = 0;              // of uint8, uint16 or uint32, where -1 becomes it; 0: of another type
  MaybeBorrowed<int64_t> prediction;
  // [N], instead of predictions: the loss of the sample's answer, in [0, 1]; 1 - the array `correct`. `only_correct`:
  // it is from that array, so that 0 is right and 1 is wrong.
  std::vector<float> loss;
  bool only_correct = false;
  MaybeBorrowed<double> unknown_score;  // larger = more unknown
  MaybeBorrowed<int64_t> set;           // [N], index into set_names, -1 = none
  std::vector<std::string> set_names;
  // [N], array `cluster`, of numbers or texts: samples with the same one belong together and are resampled together.
  std::vector<std::string> cluster;
  std::optional<int64_t> num_classes;
  // If a table has names of classes, or arrays with logits have `class_names`: the names that labels and predictions
  // are indices of; with logits, in their order.
  std::vector<std::string> class_names;
  // The logits are logarithms of the file's probabilities.
  bool log_probabilities = false;
  // Of a table: the line of each row, in errors; empty if row r is in line r + 2.
  bool is_table = false;
  std::vector<int64_t> lines;
  // The labels of samples from another data set are that set's, so the roles must say which sets are unknown.
  bool labels_depend_on_set = false;
};

// Formats:
//   * .npz, .csv, .tsv, with arrays named as the fields above (`group`, the names of the sets or, with `group_names`,
//     indices of them);
//   * .npz of OpenOOD (scores/NAME.npz): pred, conf (its negative is the unknown score), label; the set is NAME;
//     without pred, the prediction is unknown;
//   * .npz of FD-Shifts (raw_logits.npz, raw_output.npz): arr_0 [N, K + 2] of logits or, in raw_output, probabilities,
//     then label and number of the data set, which is the set's name;
// Endings may be in capitals.
//   * .npy: one array, with the file's name without ".npy", or NAME if given as NAME=FILE. All .npy files and an
//     external_confids.npz of FD-Shifts, together with at most one other file, make one ScoreFile.
// Errors: a read error (core/files/system_calls.h); kDataLoss or kInvalidArgument, with the file and the array, if a
// file does not have the format of its name, is corrupt, or has arrays of other types or shapes; kInvalidArgument if
// the label is missing, or both unknown_score and logits, if labels are True and False, or for arrays pred and
// prediction; kInvalidArgument for kHigherIsKnown if there is no unknown_score or the format defines the direction. A
// file that `unknown` names (all its samples are unknown) needs no label, nor does one with `correct` or `loss`: all
// its samples are known.
absl::StatusOr<std::vector<ScoreFile>> ReadScoreFiles(const std::vector<std::string>& files,
                                                      ScoreDirection direction = ScoreDirection::kHigherIsUnknown,
                                                      const std::vector<std::string>& unknown = {});

// For a file of another format (Parquet, JSON, Excel, pickle ...), the end of an error: ": COMMAND converts it", into a
// file that ReadScoreFiles() takes. "" if no command is known.
std::string ConversionText(const std::string& path);

// The names of arrays: the fields above, and `group` and `group_names`.
const std::vector<std::string>& ScoreFileArrays();

// Makes a ScoreFile of arrays with these names, which errors call `path`. Errors, kInvalidArgument with the array: one
// of another type or shape; no label, or neither unknown_score nor logits; labels that are True and False; both pred
// and prediction; kHigherIsKnown without unknown_score.
absl::StatusOr<ScoreFile> ScoreFileOf(const std::string& path, const NamedArrays& arrays, ScoreDirection direction);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_SCORE_FILE_H_
