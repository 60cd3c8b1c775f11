// Expands a study to its trials: sets a grid's values, fills in every default and checks every limit.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"
#include "models/model.pb.h"

namespace openset {

// ---- Resolves methods for trials: sets a grid's values, fills in every default and checks every limit.

// Fills in the method's defaults. Returns its problems: values that break the schema's rules; if there are none, parts
// that don't fit each other (experiments/spec/method/check_method.h).
std::vector<FieldProblem> ResolveMethod(MethodSpec* method);

struct GridAxis {
  const Axis* axis;
  std::string where;        // "FILE:LINE: axis[0]"
  bool is_labelled = true;  // whether its value is among the trial's axis values
};

// "FILE:LINE: path" of a field of the method. `axis` is the index of the axis that set it, -1 if none did.
using LocateField = std::function<std::string(int axis, const std::string& path)>;

// Returns `base` with each combination of the axes' values, resolved, in order; the last axis changes fastest. Without
// axes, returns `base` itself.
// Errors: kInvalidArgument, with a line for each problem of the first combination that has some: a value that does not
// fit its field (core/proto/field_path.h), with the position of the axis; problems of ResolveMethod(), with the
// position that `locate` returns.
absl::StatusOr<std::vector<std::shared_ptr<const TrialMethod>>> ResolveGrid(const TrialMethod& base,
                                                                            const std::vector<GridAxis>& axes,
                                                                            const LocateField& locate);

// ---- Expands a study into trials.

// The largest number of trials of a study, unless the user allows more.
inline constexpr int64_t kMostTrials = 1000000;

struct ExpandOptions {
  // For studies that don't set `execution.device`.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // The kind of the machine's GPUs, for studies that don't set `execution.device_kind`; "" if it is not known.
  std::string device_kind;
  // The largest numbers of trials and of candidates of searches. More are refused before any is made.
  int64_t max_trials = kMostTrials;
  // The splits of some tasks, by name, instead of the study's.
  std::map<std::string, std::vector<int>> splits = {};
};

// Returns the trials of a study, fully resolved: defaults are filled in and every value is checked. They are ordered by
// task, method, axis values (the last axis fastest), split, openness level and seed, and restricted to Experiment.only.
// A pure function that reads no file. Errors: kInvalidArgument, with a line "FILE:LINE: path: ..." for each problem;
// for more trials than allowed, with their number.
absl::StatusOr<std::vector<Trial>> Expand(const Experiment& experiment, const ExpandOptions& options = {});

// ---- Finds the methods that need no training of their own, for one model.

struct PostHocMethods {
  // The methods, with the model and the input instead of their own, and without training.
  std::vector<LoadedMethod> methods;

  struct Skipped {
    std::string name;
    std::string why;
  };
  std::vector<Skipped> skipped;
};

// Returns the methods that can be used on `model`, in their order. A method is post hoc if it trains one network with a
// linear head and plain cross entropy, so that it differs from others only in inference and score. Skips all others,
// methods with the same score as an earlier one, and methods that need something that the model lacks (dropout,
// features). Errors: kInvalidArgument for a model or input that no method can have, with the field's path.
absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
