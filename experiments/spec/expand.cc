#include "experiments/spec/expand.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/proto/field_path.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "data/task.h"
#include "experiments/spec/axis.h"
#include "experiments/spec/check_method.h"
#include "experiments/spec/method_threshold.h"

namespace openset {
namespace {

// A method with values for the axes that apply to it.
struct Variant {
  MethodSpec method;
  std::vector<AxisValue> axis;
};

// Data of a task for one split and openness level.
struct DataPoint {
  int split;
  TaskData data;
};

bool AppliesTo(const Axis& axis, const std::string& method) {
  return axis.method_size() == 0 || std::count(axis.method().begin(), axis.method().end(), method) > 0;
}

class Expander {
 public:
  Expander(const Experiment& experiment, const ExpandOptions& options)
      : experiment_(experiment), spec_(experiment.spec), options_(options) {}

  absl::StatusOr<std::vector<TrialSpec>> Run() {
    OPENSET_RETURN_IF_ERROR(CheckLists());
    OPENSET_RETURN_IF_ERROR(CheckCount());
    std::vector<Variant> variants;
    for (const LoadedMethod& method : experiment_.methods) {
      OPENSET_RETURN_IF_ERROR(AddVariants(method, 0, {method.spec, {}}, &variants));
    }
    std::vector<TrialSpec> trials;
    for (const TaskSpec& task : experiment_.tasks) {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<DataPoint> points, DataPoints(task));
      for (const Variant& variant : variants) {
        for (const DataPoint& point : points) {
          OPENSET_RETURN_IF_ERROR(CheckExternal(task, variant.method));
          OPENSET_RETURN_IF_ERROR(CheckEvaluateEvery(variant.method));
          for (uint64_t seed : spec_.seed()) {
            OPENSET_ASSIGN_OR_RETURN(TrialSpec trial, MakeTrial(task, variant, point, seed));
            trials.push_back(std::move(trial));
          }
        }
      }
    }
    return trials;
  }

 private:
  absl::Status Problem(const std::string& path, absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.Where(path), ": ", message));
  }

  template <typename List>
  absl::Status CheckDistinct(const char* field, const List& list) const {
    for (int i = 0; i < list.size(); ++i) {
      if (std::find(list.begin(), list.begin() + i, list[i]) != list.begin() + i) {
        return Problem(absl::StrCat(field, "[", i, "]"), absl::StrCat(list[i], " is listed twice"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLists() const {
    OPENSET_RETURN_IF_ERROR(CheckDistinct("task", spec_.task()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("method", spec_.method()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("split", spec_.split()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("unknown_classes", spec_.unknown_classes()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("seed", spec_.seed()));
    std::vector<std::string> methods;
    for (const LoadedMethod& method : experiment_.methods) methods.push_back(method.spec.name());
    for (int a = 0; a < spec_.axis_size(); ++a) {
      const Axis& axis = spec_.axis(a);
      OPENSET_RETURN_IF_ERROR(CheckDistinct(absl::StrCat("axis[", a, "].value").c_str(), axis.value()));
      for (int m = 0; m < axis.method_size(); ++m) {
        if (std::count(methods.begin(), methods.end(), axis.method(m)) > 0) continue;
        return Problem(absl::StrCat("axis[", a, "].method[", m, "]"),
                       UnknownName("method of this experiment", axis.method(m), methods));
      }
    }
    return absl::OkStatus();
  }

  // Before anything is made of it: a slip in a sweep can ask for 10^9 trials.
  absl::Status CheckCount() const {
    double variants = 0;
    for (const LoadedMethod& method : experiment_.methods) {
      double product = 1;
      for (const Axis& axis : spec_.axis()) product *= AppliesTo(axis, method.spec.name()) ? axis.value_size() : 1;
      variants += product;
    }
    double points = 0;
    for (const TaskSpec& task : experiment_.tasks) {
      points += static_cast<double>(spec_.split_size() > 0 ? spec_.split_size() : task.split_size()) *
                std::max(1, spec_.unknown_classes_size());
    }
    const double trials = variants * points * spec_.seed_size();
    if (trials <= static_cast<double>(options_.max_trials)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.file(), ": makes ", trials, " trials; at most ",
                                                   options_.max_trials, " are allowed"));
  }

  // Appends a variant for each combination of values of axes `a` and up.
  absl::Status AddVariants(const LoadedMethod& method, int a, const Variant& so_far,
                           std::vector<Variant>* variants) const {
    if (a == spec_.axis_size()) {
      Variant variant = so_far;
      OPENSET_RETURN_IF_ERROR(Complete(method, &variant.method));
      variants->push_back(std::move(variant));
      return absl::OkStatus();
    }
    const Axis& axis = spec_.axis(a);
    if (!AppliesTo(axis, method.spec.name())) return AddVariants(method, a + 1, so_far, variants);
    for (int v = 0; v < axis.value_size(); ++v) {
      Variant variant = so_far;
      if (axis.value_size() > 1) {
        AxisValue* label = &variant.axis.emplace_back();
        label->set_name(AxisName(axis));
        label->set_value(AxisLabel(axis.value(v)));
      }
      const absl::Status set = SetAxis(axis, axis.value(v), &variant.method);
      if (!set.ok()) {
        return Problem(absl::StrCat("axis[", a, "]"), absl::StrCat(method.spec.name(), ": ", set.message()));
      }
      OPENSET_RETURN_IF_ERROR(AddVariants(method, a + 1, variant, variants));
    }
    return absl::OkStatus();
  }

  // Fills in defaults and checks; a field that an axis sets is looked for there.
  absl::Status Complete(const LoadedMethod& method, MethodSpec* spec) const {
    FillDefaults(spec);
    std::vector<FieldProblem> problems = FindProblems(*spec);
    if (problems.empty()) problems = FindMethodProblems(*spec);
    std::vector<std::string> lines;
    for (const FieldProblem& problem : problems) {
      std::string where = WhereInMethod(experiment_, method, problem.path);
      for (int a = 0; a < spec_.axis_size(); ++a) {
        const bool sets_it = SamePlace(*spec, spec_.axis(a).path(), *spec).value_or("") == problem.path;
        if (sets_it && AppliesTo(spec_.axis(a), method.spec.name())) {
          where = absl::StrCat(experiment_.source.Where(absl::StrCat("axis[", a, "]")), ": ", problem.path);
        }
      }
      lines.push_back(absl::StrCat(where, ": ", problem.message));
    }
    return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
  }

  absl::StatusOr<std::vector<DataPoint>> DataPoints(const TaskSpec& task) const {
    std::vector<int> splits(spec_.split().begin(), spec_.split().end());
    for (int s = 0; spec_.split_size() == 0 && s < task.split_size(); ++s) splits.push_back(s);
    std::vector<int> levels(spec_.unknown_classes().begin(), spec_.unknown_classes().end());
    if (levels.empty()) levels.push_back(0);
    std::vector<DataPoint> points;
    for (int split : splits) {
      for (int level : levels) {
        TaskRequest request;
        request.split = split;
        request.unknown_classes = level;
        request.train_limit_per_class = spec_.train_limit_per_class();
        request.test_limit_per_class = spec_.test_limit_per_class();
        request.validation_per_class = spec_.validation_per_class();
        absl::StatusOr<TaskData> data = ResolveTask(task, request, experiment_.catalog);
        // The message begins with the field: "split: ...".
        if (!data.ok()) {
          return absl::InvalidArgumentError(
              absl::StrCat(experiment_.source.file(), ": task ", task.name(), ": ", data.status().message()));
        }
        points.push_back({split, *std::move(data)});
      }
    }
    return points;
  }

  absl::Status CheckEvaluateEvery(const MethodSpec& method) const {
    if (!method.training().has_evaluate_every() || spec_.validation_per_class() > 0) return absl::OkStatus();
    if (method.training().evaluate_every().samples() == EvaluateEverySpec::TEST) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        experiment_.source.file(), ": method ", method.name(),
        " measures on validation samples while it trains (training.evaluate_every), and none are kept: set "
        "validation_per_class, or training.evaluate_every.samples to TEST"));
  }

  absl::Status CheckExternal(const TaskSpec& task, const MethodSpec& method) const {
    if (task.has_external()) return absl::OkStatus();
    const bool needed =
        method.open_set().has_external_images() || method.pretraining().open_set().has_external_images();
    if (!needed) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.file(), ": method ", method.name(),
                                                   " trains with external images, and task ", task.name(),
                                                   " names none: set `external` in the task"));
  }

  absl::StatusOr<TrialSpec> MakeTrial(const TaskSpec& task, const Variant& variant, const DataPoint& point,
                                      uint64_t seed) const {
    TrialSpec trial;
    trial.set_task(task.name());
    trial.set_split(point.split);
    for (const AxisValue& value : variant.axis) *trial.add_axis() = value;
    trial.set_openness(Openness(point.data));
    *trial.mutable_method() = variant.method;
    *trial.mutable_data() = point.data;
    trial.set_seed(seed);
    *trial.mutable_execution() = spec_.execution();
    if (!trial.execution().has_device()) trial.mutable_execution()->set_device(options_.default_device);
    *trial.mutable_metric() = spec_.metric();
    FillDefaults(&trial);
    for (int m = 0; m < trial.metric_size(); ++m) {
      const absl::Status set = SetMethodThreshold(trial, trial.mutable_metric(m));
      if (!set.ok()) return Problem(absl::StrCat("metric[", m, "]"), set.message());
    }
    return trial;
  }

  const Experiment& experiment_;
  const ExperimentSpec& spec_;
  const ExpandOptions& options_;
};

}  // namespace

absl::StatusOr<std::vector<TrialSpec>> Expand(const Experiment& experiment, const ExpandOptions& options) {
  return Expander(experiment, options).Run();
}

}  // namespace openset
