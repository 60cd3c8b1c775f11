#include "experiments/plan/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/proto/proto_rules.h"
#include "core/saturated.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "data/catalog.pb.h"
#include "data/readers/feature_file.h"
#include "data/sets/feature_data_set.h"
#include "data/task.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/metric.h"
#include "experiments/spec/method/training_epochs.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/resolve/actions.h"

namespace openset {

size_t CountSurvivors(size_t candidates, double keep) {
  // 0.1 of 30 is 3, not 4.
  const double kept = std::ceil(keep * static_cast<double>(candidates) - 1e-9);
  return std::clamp<size_t>(static_cast<size_t>(kept), 1, candidates);
}

std::vector<size_t> RungSizes(const TrialSearch& search) {
  std::vector<size_t> sizes = {search.candidates.size()};
  while (sizes.size() < search.rungs.size()) sizes.push_back(CountSurvivors(sizes.back(), search.keep));
  return sizes;
}

Trial AtRung(const TrialSearch& search, size_t candidate, size_t rung) {
  const Trial& whole = search.candidates[candidate];
  if (rung + 1 >= search.rungs.size()) return whole;
  auto method = std::make_shared<TrialMethod>(*whole.shared_method());
  method->method.mutable_training()->set_stop_after_epochs(search.rungs[rung]);
  return whole.With(std::move(method));
}

absl::StatusOr<Rungs> ReadRungs(const TrialSearch& search, const Store& store) {
  const MetricSpec& criterion = search.candidates[0].metric()[0];
  const bool higher = HigherIsBetter(criterion).value();
  const bool halves = !search.rungs.empty();
  Rungs rungs;
  *rungs.log.mutable_criterion() = criterion;
  for (size_t c = 0; c < search.candidates.size(); ++c) rungs.log.add_candidate();
  std::vector<size_t> alive(search.candidates.size());
  std::iota(alive.begin(), alive.end(), 0);
  for (size_t r = 0; !rungs.complete; ++r) {
    rungs.reached.push_back(alive);
    std::vector<SearchRung> entries;  // of the candidates in `alive`
    std::string absent_reason;
    for (const size_t c : alive) {
      const absl::StatusOr<TrialRecord> record = store.LoadRecord(TrialId(AtRung(search, c, r)));
      if (absl::IsNotFound(record.status()) || absl::IsDataLoss(record.status())) return rungs;
      OPENSET_RETURN_IF_ERROR(record.status());
      SearchRung& entry = entries.emplace_back();
      if (halves) entry.set_epochs(search.rungs[r]);
      entry.set_trial_id(record->trial_id());
      entry.set_kept(false);
      const MetricRecord& value = record->metric(0);
      if (value.has_value()) entry.set_value(value.value());
      if (!value.has_value()) absent_reason = value.absent_reason();
    }
    // The best first; equal ones in the order of the grid; undefined ones last.
    std::vector<size_t> best(entries.size());
    std::iota(best.begin(), best.end(), 0);
    std::stable_sort(best.begin(), best.end(), [&](size_t i, size_t j) {
      const SearchRung &a = entries[i], &b = entries[j];
      if (!a.has_value() || !b.has_value()) return a.has_value() && !b.has_value();
      return higher ? a.value() > b.value() : a.value() < b.value();
    });
    if (!entries[best[0]].has_value()) {
      rungs.undefined = absl::FailedPreconditionError(
          absl::StrCat(MetricName(criterion), " is undefined for all candidates",
                       halves ? absl::StrCat(" after ", search.rungs[r], " epochs") : "", ": ", absent_reason));
      return rungs;
    }
    const bool is_last = r + 1 >= search.rungs.size();
    if (is_last) rungs.log.set_chosen(static_cast<int>(alive[best[0]]));
    best.resize(is_last ? 1 : CountSurvivors(alive.size(), search.keep));
    for (const size_t i : best) entries[i].set_kept(true);
    std::vector<size_t> kept;
    for (size_t i = 0; i < alive.size(); ++i) {
      SearchCandidate* candidate = rungs.log.mutable_candidate(static_cast<int>(alive[i]));
      candidate->set_trial_id(entries[i].trial_id());
      candidate->clear_value();
      if (entries[i].has_value()) candidate->set_value(entries[i].value());
      if (entries[i].kept()) kept.push_back(alive[i]);
      if (halves) *candidate->add_rung() = std::move(entries[i]);
    }
    alive = std::move(kept);
    rungs.complete = is_last;
  }
  return rungs;
}

namespace {

// Whether the metric is undefined without unknown samples: for known ones that are ranked and predicted well and badly,
// from which every metric of known samples can be computed.
bool NeedsUnknown(MetricSpec metric) {
  FillDefaults(&metric);
  constexpr int kSamples = 200;
  std::vector<double> score;
  std::vector<int32_t> label, prediction;
  std::vector<float> logits;
  for (int i = 0; i < kSamples; ++i) {
    score.push_back(i);
    label.push_back(i % 2);
    prediction.push_back(i % 3 == 0 ? 1 - label.back() : label.back());
    for (int c = 0; c < 2; ++c) logits.push_back(c == prediction.back() ? 1.0f + static_cast<float>(i) : 0.0f);
  }
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = arrays.num_outputs = 2;
  arrays.logits = logits;
  const absl::StatusOr<EvaluationInput> known = EvaluationInput::Create(arrays);
  const absl::StatusOr<std::vector<MetricValue>> value = Evaluate({metric}, *known);
  return value.ok() && !(*value)[0].value.has_value();
}

// Whether the method's outputs were computed elsewhere: its validation samples are in a file of their own.
bool IsImported(const MethodSpec& method) { return method.model().has_outputs() && !method.training().has_command(); }

class SearchExpander {
 public:
  SearchExpander(const Experiment& experiment, int64_t max_candidates)
      : experiment_(experiment), spec_(experiment.spec), max_candidates_(max_candidates) {}

  absl::StatusOr<std::vector<TrialSearch>> Run(const std::vector<Trial>& trials) {
    OPENSET_RETURN_IF_ERROR(CheckSearches());
    std::vector<TrialSearch> searches;
    for (size_t t = 0; t < trials.size(); ++t) {
      for (int s = 0; s < spec_.search_size(); ++s) {
        const Search& search = spec_.search(s);
        if (!absl::c_linear_search(search.method(), trials[t].method().name())) continue;
        TrialSearch& expanded = searches.emplace_back();
        expanded.trial = static_cast<int>(t);
        OPENSET_RETURN_IF_ERROR(AddCandidates(s, trials[t], &expanded.candidates));
        if (expanded.candidates[0].data().test_unknown_size() == 0 && NeedsUnknown(spec_.search(s).criterion())) {
          expanded.undefined = Problem(absl::StrCat("search[", s, "].criterion"), WhyUndefined(s, trials[t]));
        }
        if (search.has_halving()) {
          OPENSET_RETURN_IF_ERROR(CheckRungs(s, expanded.candidates));
          expanded.rungs.assign(search.halving().rungs().begin(), search.halving().rungs().end());
          expanded.keep = search.halving().keep();
        }
      }
    }
    return searches;
  }

 private:
  absl::Status Problem(const std::string& path, absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(experiment_.source.Where(path), ": ", message));
  }

  std::string WhyUndefined(int s, const Trial& trial) const {
    const std::string needs = absl::StrCat(MetricName(spec_.search(s).criterion()), " needs unknown samples, and ");
    const char* const other = "use a criterion of known samples, such as accuracy";
    if (IsImported(trial.method())) {
      return absl::StrCat(needs, trial.method().model().outputs().validation_file(),
                          " has none: add some (label -1), or ", other);
    }
    return absl::StrCat(needs, "the validation data of task '", trial.task(),
                        "' has none: give the task external images (`external`), or ", other);
  }

  // Checks that the method has validation samples.
  absl::Status CheckValidation(int s, const std::string& where, const MethodSpec& method) const {
    if (IsImported(method)) {
      if (method.model().outputs().has_validation_file()) return absl::OkStatus();
      return Problem(where, absl::StrCat("the search chooses on validation samples, and the outputs of ", method.name(),
                                         " have none: set model.outputs.validation_file"));
    }
    if (spec_.validation_per_class() > 0) return absl::OkStatus();
    return Problem(absl::StrCat("search[", s, "]"), "chooses on validation data: set validation_per_class");
  }

  absl::Status CheckSearches() const {
    std::vector<std::string> methods;
    for (const LoadedMethod& method : experiment_.methods) methods.push_back(method.spec.name());
    std::set<std::string> searched;
    for (int s = 0; s < spec_.search_size(); ++s) {
      const std::string path = absl::StrCat("search[", s, "]");
      for (int m = 0; m < spec_.search(s).method_size(); ++m) {
        const std::string& method = spec_.search(s).method(m);
        const std::string where = absl::StrCat(path, ".method[", m, "]");
        if (absl::c_linear_search(experiment_.left_out_methods, method)) continue;
        if (!absl::c_linear_search(methods, method)) {
          return Problem(where, UnknownName("method of this experiment", method, methods));
        }
        if (!searched.insert(method).second) return Problem(where, absl::StrCat(method, " is in two searches"));
        for (const LoadedMethod& loaded : experiment_.methods) {
          if (loaded.spec.name() == method) OPENSET_RETURN_IF_ERROR(CheckValidation(s, where, loaded.spec));
        }
      }
      if (!HigherIsBetter(spec_.search(s).criterion()).has_value()) {
        return Problem(path + ".criterion", "must be a metric for which higher or lower is better");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRungs(int s, const std::vector<Trial>& candidates) const {
    const Halving& halving = spec_.search(s).halving();
    const std::string path = absl::StrCat("search[", s, "].halving.rungs");
    for (int r = 1; r < halving.rungs_size(); ++r) {
      if (halving.rungs(r) > halving.rungs(r - 1)) continue;
      return Problem(absl::StrCat(path, "[", r, "]"), "must be more than the rung before");
    }
    for (const Trial& candidate : candidates) {
      const TrainingSpec& training = candidate.method().training();
      if (candidate.method().has_training() && training.stop_after_epochs() == 0 &&
          training.epochs() == *halving.rungs().rbegin()) {
        continue;
      }
      const std::string& name = candidate.method().name();
      return Problem(path, !candidate.method().has_training()
                               ? absl::StrCat(name, " is not trained")
                               : absl::StrCat("the last must be the epochs of the whole training; ", name, " takes ",
                                              EpochsOf(training)));
    }
    return absl::OkStatus();
  }

  // Returns the trial's data with the validation samples instead of the test samples.
  std::shared_ptr<const TrialData> OnValidationData(const std::shared_ptr<const TrialData>& trial) {
    std::shared_ptr<const TrialData>& made = validation_data_[trial.get()];
    if (made != nullptr) return made;
    auto validation = std::make_shared<TrialData>();
    validation->task = trial->task;
    validation->split = trial->split;
    TaskData& data = validation->data;
    *data.mutable_train() = trial->data.train();
    *data.mutable_test_known() = trial->data.validation_known();
    *data.mutable_test_unknown() = trial->data.validation_unknown();
    if (trial->data.has_external()) *data.mutable_external() = trial->data.external();
    FillDefaults(&data);
    return made = std::move(validation);
  }

  // Returns the data of the trial's file of validation outputs, which is a data set by itself.
  absl::StatusOr<std::shared_ptr<const TrialData>> OnValidationOutputs(int s, const Trial& trial) {
    const std::string& file = trial.method().model().outputs().validation_file();
    std::shared_ptr<const TrialData>& made = file_data_[{trial.shared_data().get(), file}];
    if (made != nullptr) return made;
    const auto read = [&]() -> absl::StatusOr<TaskData> {
      TaskSpec task;
      task.set_name(trial.task());
      task.set_data_set(absl::StrCat(kFeaturesPrefix, file));
      task.set_test_only(true);
      task.add_test_part(kAllSamples);
      OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, experiment_.catalog.Find(task.data_set()));
      const int classes = trial.data().train().class_id_size(), has = KnownClasses(*info);
      if (has < classes) {
        return absl::InvalidArgumentError(
            absl::StrCat(file, " is for ", has, " classes, and the task's split has ", classes, " known ones"));
      }
      ClassSplit* split = task.add_split();
      for (int c = 0; c < classes; ++c) split->add_known(c);
      AddUnknownGroups(*info, &task);
      FillDefaults(&task);
      return ResolveTask(task, {}, experiment_.catalog);
    };
    absl::StatusOr<TaskData> data = read();
    if (!data.ok()) {
      return Problem(
          absl::StrCat("search[", s, "]"),
          absl::StrCat("model.outputs.validation_file of ", trial.method().name(), ": ", data.status().message()));
    }
    auto validation = std::make_shared<TrialData>();
    validation->task = trial.task();
    validation->split = trial.split();
    validation->data = *std::move(data);
    *validation->data.mutable_train() = trial.data().train();
    FillDefaults(&validation->data);
    return made = std::move(validation);
  }

  // Returns the trial's protocol with the search's criterion as its only metric.
  std::shared_ptr<const TrialProtocol> ByCriterion(int s, const std::shared_ptr<const TrialProtocol>& trial) {
    std::shared_ptr<const TrialProtocol>& made = protocols_[{s, trial.get()}];
    if (made != nullptr) return made;
    auto protocol = std::make_shared<TrialProtocol>(*trial);
    protocol->metric.Clear();
    *protocol->metric.Add() = spec_.search(s).criterion();
    FillDefaults(&protocol->metric[0]);
    return made = std::move(protocol);
  }

  using Methods = std::vector<std::shared_ptr<const TrialMethod>>;
  absl::StatusOr<const Methods*> GridOf(int s, const std::shared_ptr<const TrialMethod>& method) {
    const auto [entry, is_new] = grids_.try_emplace({s, method.get()});
    if (!is_new) return &entry->second;
    const std::string search = absl::StrCat("search[", s, "]");
    std::vector<GridAxis> axes;
    for (int a = 0; a < spec_.search(s).axis_size(); ++a) {
      axes.push_back({&spec_.search(s).axis(a), experiment_.source.Where(absl::StrCat(search, ".axis[", a, "]"))});
    }
    const std::string& name = method->method.name();
    OPENSET_ASSIGN_OR_RETURN(entry->second, ResolveGrid(*method, axes, [&](int axis, const std::string& path) {
                               const std::string where = axis < 0 ? experiment_.source.Where(search) : axes[axis].where;
                               return absl::StrCat(where, ": ", name, ": ", path);
                             }));
    for (std::shared_ptr<const TrialMethod>& candidate : entry->second) {
      if (!IsImported(candidate->method)) break;
      auto on_validation = std::make_shared<TrialMethod>(*candidate);
      *on_validation->method.mutable_model() = OnValidationFile(candidate->method.model());
      candidate = std::move(on_validation);
    }
    return &entry->second;
  }

  absl::Status AddCandidates(int s, const Trial& trial, std::vector<Trial>* candidates) {
    int64_t combinations = 1;
    for (const Axis& axis : spec_.search(s).axis()) combinations = SaturatedProduct(combinations, axis.value_size());
    candidates_ = SaturatedSum(candidates_, combinations);
    if (candidates_ > max_candidates_) {
      return Problem(absl::StrCat("search[", s, "]"),
                     absl::StrCat(combinations, " candidates per trial exceed the limit of ", max_candidates_,
                                  " in all; --max_trials=N allows more"));
    }
    OPENSET_ASSIGN_OR_RETURN(const Methods* methods, GridOf(s, trial.shared_method()));
    std::shared_ptr<const TrialData> data;
    if (IsImported(trial.method())) {
      OPENSET_ASSIGN_OR_RETURN(data, OnValidationOutputs(s, trial));
    } else {
      data = OnValidationData(trial.shared_data());
    }
    for (const auto& method : *methods) {
      candidates->emplace_back(method, data, ByCriterion(s, trial.shared_protocol()), trial.seed());
    }
    return absl::OkStatus();
  }

  const Experiment& experiment_;
  const ExperimentSpec& spec_;
  const int64_t max_candidates_;
  int64_t candidates_ = 0;  // of the searches planned so far
  // Parts that candidates share, by the corresponding parts of the trial.
  std::map<const TrialData*, std::shared_ptr<const TrialData>> validation_data_;
  std::map<std::pair<const TrialData*, std::string>, std::shared_ptr<const TrialData>> file_data_;
  std::map<std::pair<int, const TrialProtocol*>, std::shared_ptr<const TrialProtocol>> protocols_;
  std::map<std::pair<int, const TrialMethod*>, Methods> grids_;
};

}  // namespace

absl::StatusOr<std::vector<TrialSearch>> ExpandSearches(const Experiment& experiment, const std::vector<Trial>& trials,
                                                        int64_t max_candidates) {
  return SearchExpander(experiment, max_candidates).Run(trials);
}

namespace {

std::string WhichSearch(const Trial& trial) {
  return absl::StrCat("the search for ", trial.method().name(), " on ", trial.task());
}

// The trial with the values of the candidate that was chosen according to the log.
Trial Tuned(const Trial& trial, const TrialSearch& search, SearchLog log) {
  auto method = std::make_shared<TrialMethod>();
  method->method = search.candidates[log.chosen()].method();
  method->method.set_name(absl::StrCat(trial.method().name(), kTunedSuffix));
  if (IsImported(trial.method())) *method->method.mutable_model() = trial.method().model();  // the test's outputs
  method->axis = trial.axis();
  return trial.With(std::move(method)).With(std::make_shared<const SearchLog>(std::move(log)));
}

}  // namespace

absl::StatusOr<std::optional<Trial>> TunedTrial(const Trial& trial, const TrialSearch& search, const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(Rungs rungs, ReadRungs(search, store), WhichSearch(trial));
  OPENSET_RETURN_IF_ERROR(rungs.undefined, WhichSearch(trial));
  if (!rungs.complete) return std::nullopt;
  for (size_t c = 0; c < search.candidates.size(); ++c) {
    // The values of the searched fields.
    const Trial& candidate = search.candidates[c];
    *rungs.log.mutable_candidate(static_cast<int>(c))->mutable_axis() = {candidate.axis().begin() + trial.axis().size(),
                                                                         candidate.axis().end()};
  }
  return Tuned(trial, search, std::move(rungs.log));
}

}  // namespace openset
