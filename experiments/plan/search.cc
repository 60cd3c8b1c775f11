#include "experiments/plan/search.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "eval/metrics/make_metric.h"
#include "experiments/spec/actions.h"
#include "experiments/spec/axis.h"
#include "experiments/spec/check_method.h"

namespace openset {
namespace {

class SearchExpander {
 public:
  SearchExpander(const Experiment& experiment, int64_t max_candidates)
      : experiment_(experiment), spec_(experiment.spec), left_(max_candidates) {}

  absl::StatusOr<std::vector<TrialSearch>> Run(const std::vector<TrialSpec>& trials) {
    OPENSET_RETURN_IF_ERROR(CheckSearches());
    std::vector<TrialSearch> searches;
    for (size_t t = 0; t < trials.size(); ++t) {
      for (int s = 0; s < spec_.search_size(); ++s) {
        const Search& search = spec_.search(s);
        if (std::count(search.method().begin(), search.method().end(), trials[t].method().name()) == 0) continue;
        TrialSearch& expanded = searches.emplace_back();
        expanded.trial = static_cast<int>(t);
        OPENSET_RETURN_IF_ERROR(AddCandidates(s, 0, OnValidationData(trials[t], search), &expanded.candidates));
      }
    }
    return searches;
  }

 private:
  absl::Status Problem(const std::string& path, absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.Where(path), ": ", message));
  }

  absl::Status CheckSearches() const {
    if (spec_.search_size() > 0 && spec_.validation_per_class() == 0) {
      return Problem("search[0]", "chooses on validation data: set validation_per_class");
    }
    std::vector<std::string> methods;
    for (const LoadedMethod& method : experiment_.methods) methods.push_back(method.spec.name());
    std::set<std::string> searched;
    for (int s = 0; s < spec_.search_size(); ++s) {
      const std::string path = absl::StrCat("search[", s, "]");
      for (int m = 0; m < spec_.search(s).method_size(); ++m) {
        const std::string& method = spec_.search(s).method(m);
        const std::string where = absl::StrCat(path, ".method[", m, "]");
        if (std::count(methods.begin(), methods.end(), method) == 0) {
          return Problem(where, UnknownName("method of this experiment", method, methods));
        }
        if (!searched.insert(method).second) return Problem(where, absl::StrCat(method, " is searched for twice"));
      }
      if (!HigherIsBetter(spec_.search(s).criterion()).has_value()) {
        return Problem(path + ".criterion", "neither more nor less of it is better");
      }
    }
    return absl::OkStatus();
  }

  // A trial that sees no test data.
  static TrialSpec OnValidationData(const TrialSpec& trial, const Search& search) {
    TrialSpec candidate = trial;
    candidate.clear_data();
    candidate.clear_metric();
    candidate.clear_openness();
    *candidate.mutable_data()->mutable_train() = trial.data().train();
    *candidate.mutable_data()->mutable_test_known() = trial.data().validation_known();
    *candidate.mutable_data()->mutable_test_unknown() = trial.data().validation_unknown();
    if (trial.data().has_external()) *candidate.mutable_data()->mutable_external() = trial.data().external();
    *candidate.add_metric() = search.criterion();
    FillDefaults(&candidate);
    return candidate;
  }

  // A candidate for each combination of values of axes `a` and up.
  absl::Status AddCandidates(int s, int a, const TrialSpec& so_far, std::vector<TrialSpec>* candidates) {
    const Search& search = spec_.search(s);
    if (a == search.axis_size()) {
      if (--left_ < 0) return Problem(absl::StrCat("search[", s, "]"), "makes too many candidates");
      candidates->push_back(so_far);
      return absl::OkStatus();
    }
    const Axis& axis = search.axis(a);
    const std::string path = absl::StrCat("search[", s, "].axis[", a, "]");
    for (const std::string& value : axis.value()) {
      TrialSpec candidate = so_far;
      AxisValue* label = candidate.add_axis();
      label->set_name(AxisName(axis));
      label->set_value(AxisLabel(value));
      const std::string method = candidate.method().name();
      const absl::Status set = SetAxis(axis, value, candidate.mutable_method());
      if (!set.ok()) return Problem(path, absl::StrCat(method, ": ", set.message()));
      FillDefaults(candidate.mutable_method());
      std::vector<FieldProblem> problems = FindProblems(candidate.method());
      if (problems.empty()) problems = FindMethodProblems(candidate.method());
      if (!problems.empty()) {
        return Problem(path, absl::StrCat(method, ": ", problems[0].path, ": ", problems[0].message));
      }
      OPENSET_RETURN_IF_ERROR(AddCandidates(s, a + 1, candidate, candidates));
    }
    return absl::OkStatus();
  }

  const Experiment& experiment_;
  const ExperimentSpec& spec_;
  int64_t left_;  // candidates that may still be made
};

}  // namespace

absl::StatusOr<std::vector<TrialSearch>> ExpandSearches(const Experiment& experiment,
                                                        const std::vector<TrialSpec>& trials, int64_t max_candidates) {
  return SearchExpander(experiment, max_candidates).Run(trials);
}

absl::StatusOr<std::optional<TrialSpec>> TunedTrial(const TrialSpec& trial, const TrialSearch& search,
                                                    const Store& store) {
  const MetricSpec& criterion = search.candidates[0].metric(0);
  const bool higher = HigherIsBetter(criterion).value();
  SearchLog log;
  *log.mutable_criterion() = criterion;
  std::string absent_reason;
  for (size_t c = 0; c < search.candidates.size(); ++c) {
    const TrialSpec& candidate = search.candidates[c];
    const absl::StatusOr<TrialRecord> record = store.LoadRecord(TrialId(candidate));
    if (absl::IsNotFound(record.status())) return std::nullopt;
    if (!record.ok()) return record.status();
    SearchCandidate* entry = log.add_candidate();
    *entry->mutable_axis() = {candidate.axis().begin() + trial.axis_size(), candidate.axis().end()};
    entry->set_trial_id(record->trial_id());
    const MetricRecord& measured = record->metric(0);
    if (!measured.has_value()) {
      absent_reason = measured.absent_reason();
      continue;
    }
    entry->set_value(measured.value());
    const bool better = !log.has_chosen() || (higher ? measured.value() > log.candidate(log.chosen()).value()
                                                     : measured.value() < log.candidate(log.chosen()).value());
    if (better) log.set_chosen(static_cast<int>(c));
  }
  if (!log.has_chosen()) {
    return absl::FailedPreconditionError(absl::StrCat("the search for ", trial.method().name(), " on ", trial.task(),
                                                      ": ", MetricName(criterion),
                                                      " is undefined for all candidates: ", absent_reason));
  }
  TrialSpec tuned = trial;
  *tuned.mutable_method() = search.candidates[log.chosen()].method();
  tuned.mutable_method()->set_name(absl::StrCat(trial.method().name(), " (tuned)"));
  *tuned.mutable_search() = std::move(log);
  return tuned;
}

}  // namespace openset
