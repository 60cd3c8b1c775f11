#include "experiments/spec/check_spec.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/in_parallel.h"
#include "core/proto/field_path.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/metric.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace openset {
namespace {

using Axes = google::protobuf::RepeatedPtrField<Axis>;

class Check {
 public:
  explicit Check(const Experiment& experiment) : experiment_(experiment), spec_(experiment.spec) {}

  absl::Status Run() const {
    OPENSET_RETURN_IF_ERROR(CheckName());
    OPENSET_RETURN_IF_ERROR(CheckDistinct("task", spec_.task()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("method", spec_.method()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("split", spec_.split()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("unknown_classes", spec_.unknown_classes()));
    OPENSET_RETURN_IF_ERROR(CheckDistinct("seed", spec_.seed()));
    OPENSET_RETURN_IF_ERROR(CheckMetrics());
    std::vector<std::string> methods = experiment_.left_out_methods;
    for (const LoadedMethod& method : experiment_.methods) methods.push_back(method.spec.name());
    for (int a = 0; a < spec_.axis_size(); ++a) {
      const Axis& axis = spec_.axis(a);
      for (int m = 0; m < axis.method_size(); ++m) {
        if (std::count(methods.begin(), methods.end(), axis.method(m)) > 0) continue;
        return Problem(absl::StrCat("axis[", a, "].method[", m, "]"),
                       UnknownName("method of this experiment", axis.method(m), methods));
      }
    }
    for (const LoadedMethod& method : experiment_.methods) {
      OPENSET_RETURN_IF_ERROR(CheckAxes("axis", spec_.axis(), method));
      for (int s = 0; s < spec_.search_size(); ++s) {
        const Search& search = spec_.search(s);
        const std::string& name = method.spec.name();
        if (std::count(search.method().begin(), search.method().end(), name) == 0) continue;
        OPENSET_RETURN_IF_ERROR(CheckAxes(absl::StrCat("search[", s, "].axis"), search.axis(), method));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Problem(const std::string& path, absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.Where(path), ": ", message));
  }

  // The study's name is also a folder of reports.
  absl::Status CheckName() const {
    const std::string problem = NameProblem(spec_.name());
    return problem.empty() ? absl::OkStatus() : Problem("name", problem);
  }

  template <typename List>
  absl::Status CheckDistinct(const char* field, const List& list) const {
    std::set<std::decay_t<decltype(list[0])>> seen;
    for (int i = 0; i < list.size(); ++i) {
      if (!seen.insert(list[i]).second) {
        return Problem(absl::StrCat(field, "[", i, "]"), absl::StrCat(list[i], " is listed twice"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckMetrics() const {
    std::set<std::string> seen;
    for (int m = 0; m < spec_.metric_size(); ++m) {
      const std::string name = MetricName(spec_.metric(m));
      if (const std::string problem = ContradictionOf(spec_.metric(m)); !problem.empty()) {
        return Problem(absl::StrCat("metric[", m, "]"), absl::StrCat(name, " ", problem));
      }
      if (name.empty() || seen.insert(name).second) continue;
      return Problem(absl::StrCat("metric[", m, "]"),
                     absl::StrCat(name, " is listed twice; where the two differ in their settings, give one a `name`"));
    }
    return absl::OkStatus();
  }

  // Checks the axes of a grid that apply to a method. Values that can't be set are left to ResolveGrid().
  absl::Status CheckAxes(const std::string& path, const Axes& axes, const LoadedMethod& method) const {
    std::map<std::string, int> setters;  // the axis that sets a field
    for (int a = 0; a < axes.size(); ++a) {
      const Axis& axis = axes[a];
      if (!AppliesTo(axis, method.spec.name())) continue;
      const std::string where = absl::StrCat(path, "[", a, "]");
      const std::vector<std::optional<std::string>> held = HeldOf(axis, method.spec);
      std::map<std::string, std::string> values;  // as written, by the resulting value of the field
      for (int v = 0; v < axis.value_size(); ++v) {
        if (!held[v].has_value()) continue;
        if (v == 0) {
          MethodSpec set = method.spec;
          OPENSET_RETURN_IF_ERROR(SetAxis(axis, axis.value(v), &set));
          OPENSET_RETURN_IF_ERROR(CheckSetters(where, a, axis, set, &setters));
        }
        const auto [entry, is_new] = values.try_emplace(*held[v], axis.value(v));
        if (is_new) continue;
        const std::string value_path = absl::StrCat(where, ".value[", v, "]");
        if (entry->second == axis.value(v)) return Problem(value_path, absl::StrCat(axis.value(v), " is listed twice"));
        return Problem(value_path, absl::StrCat(axis.value(v), " is the same value as ", entry->second));
      }
    }
    return absl::OkStatus();
  }

  // The field's content for each value; nothing for a value that does not fit the field.
  static std::vector<std::optional<std::string>> HeldOf(const Axis& axis, const MethodSpec& method) {
    std::vector<std::optional<std::string>> held(axis.value_size());
    InParallel(axis.value_size(), [&](int64_t v) {
      MethodSpec set = method;
      if (SetAxis(axis, axis.value(static_cast<int>(v)), &set).ok()) held[v] = GetField(set, axis.path()).value_or("");
    });
    return held;
  }

  absl::Status CheckSetters(const std::string& where, int a, const Axis& axis, const MethodSpec& method,
                            std::map<std::string, int>* setters) const {
    std::vector<std::string> paths = {axis.path()};
    paths.insert(paths.end(), axis.also().begin(), axis.also().end());
    for (const std::string& path : paths) {
      const std::string place = SamePlace(method, path, method).value_or(path);
      if (absl::StartsWith(where, "axis")) OPENSET_RETURN_IF_ERROR(CheckNotSet(where, place, method));
      const auto [entry, is_new] = setters->try_emplace(place, a);
      if (is_new) continue;
      return Problem(where + ".path",
                     absl::StrCat(path, entry->second == a ? " is named twice" : " is swept by another axis already"));
    }
    return absl::OkStatus();
  }

  // The axis at `where` would silently win over a field that the command line sets.
  absl::Status CheckNotSet(const std::string& where, const std::string& place, const MethodSpec& method) const {
    for (const std::string& flag : experiment_.overrides) {
      absl::string_view path = flag;
      if (!absl::ConsumePrefix(&path, "--set=")) continue;
      path = path.substr(0, path.find('='));
      if (SamePlace(method, std::string(path), method).value_or(std::string(path)) != place) continue;
      return absl::InvalidArgumentError(absl::StrCat(flag, ": the study sweeps this field (", where,
                                                     "): leave the flag out, or set the values, --set='", where,
                                                     ".value=[...]'"));
    }
    return absl::OkStatus();
  }

  const Experiment& experiment_;
  const ExperimentSpec& spec_;
};

}  // namespace

absl::Status CheckSpec(const Experiment& experiment) { return Check(experiment).Run(); }

absl::Status CheckExpectedTrials(const Experiment& experiment, int64_t trials) {
  const ExperimentSpec& spec = experiment.spec;
  if (!spec.has_expected_trials() || spec.expected_trials() == trials || !experiment.overrides.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(experiment.source.Where("expected_trials"), ": is ",
                                                 spec.expected_trials(), ", but the study has ", trials, " trials"));
}

}  // namespace openset
