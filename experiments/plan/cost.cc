#include "experiments/plan/cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "data/task.pb.h"
#include "experiments/action/action.h"
#include "experiments/plan/search.h"
#include "experiments/spec/method/training_epochs.h"
#include "models/model.pb.h"
#include "models/multiply_adds.h"

namespace openset {
namespace {

std::optional<int64_t> MultiplyAddsOf(const MethodSpec& method, int classes) {
  return MultiplyAdds(method.model(), method.input(), classes);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The image passes of a training per epoch that it still has to do.
double PassesPerEpoch(const Plan& plan, const Action& training) {
  const MethodSpec& method = plan.TrialOf(training).method();
  int epochs =
      EpochsOf(training.role == ActionRole::kPretraining ? method.pretraining().training() : method.training());
  // A training that continues an earlier rung's needs fewer epochs (Planner), and no pretraining.
  if (training.continued != kNoAction && !training.is_done()) {
    epochs -= EpochsOf(plan.TrialOf(plan[training.continued]).method().training());
  }
  return static_cast<double>(training.work) / std::max(1, epochs);
}

// Calls `add` with the passes and the trial of each candidate that will be continued. Which these are is not known yet:
// each counts like the first candidate.
void AddRungsToCome(const Plan& plan, const PlannedSearch& planned,
                    const std::function<void(int64_t passes, const Trial& trial)>& add) {
  const TrialSearch& search = planned.search;
  if (planned.tuned >= 0 || search.rungs.empty()) return;
  const int trial = planned.rung_trial[0];
  double passes = 0;  // for an epoch of all members
  for (const ActionId training : plan[plan[plan.evaluations[trial]].inputs[0]].inputs) {
    passes += PassesPerEpoch(plan, plan[training]);
  }
  const std::vector<size_t> sizes = RungSizes(search);
  for (size_t r = planned.rung + 1; r < sizes.size(); ++r) {
    const double more = passes * (search.rungs[r] - search.rungs[r - 1]);
    add(std::llround(more * static_cast<double>(sizes[r])), plan.trials[trial]);
  }
}

// The rates of a plan's trials on a device. Trials that share a method and data share a rate, which is looked up once.
class RatesOnDevice {
 public:
  RatesOnDevice(const Throughputs& throughputs, const CostDevice& device)
      : throughputs_(throughputs), device_(device) {}

  const Throughputs::Rate& Of(const Trial& trial) {
    const auto [at, is_new] = rates_.try_emplace({trial.shared_method().get(), trial.shared_data().get()});
    if (is_new) at->second = throughputs_.Of(trial, device_);
    return at->second;
  }

 private:
  const Throughputs& throughputs_;
  const CostDevice& device_;
  std::map<std::pair<const TrialMethod*, const TrialData*>, Throughputs::Rate> rates_;
};

}  // namespace

// Omits dropout and heads, which take little time.
std::string NetworkOf(const MethodSpec& method) {
  ModelSpec model = method.model();
  model.clear_head();
  model.clear_weights();
  const InputSpec& input = method.input();
  return absl::StrCat(model.ShortDebugString(), " on ", input.size(), " x ", input.size(), " x ", input.channels());
}

Throughputs Throughputs::OfStore(const Store& store, int most_records) {
  Throughputs throughputs;
  const std::string folder = store.FolderOf("records");
  int seen = 0;
  for (const std::string& shard : store.NamesIn(folder).value_or(std::vector<std::string>{})) {
    for (absl::string_view file : store.NamesIn(JoinPath(folder, shard)).value_or(std::vector<std::string>{})) {
      if (!absl::ConsumeSuffix(&file, ".rec")) continue;
      if (seen++ >= most_records) return throughputs;
      const absl::StatusOr<TrialRecord> record = store.LoadRecord(std::string(file));
      if (record.ok()) throughputs.Add(*record);
    }
  }
  return throughputs;
}

void Throughputs::Add(const TrialRecord& record) {
  // Uses the last training: one that another training started from may have another network.
  const StageProvenance* training = nullptr;
  for (const StageProvenance& stage : record.provenance().stage()) {
    if (stage.stage() == StageProvenance::TRAIN && stage.images_per_second() > 0) training = &stage;
  }
  if (training == nullptr) return;
  CostDevice device;
  device.is_gpu = training->has_gpu();
  device.kind = device.is_gpu ? training->gpu() : training->cpu();
  device.threads = device.is_gpu ? 1 : std::max(1, training->threads());
  measured_.Add(record.trial().method(), record.trial().data().test_known().class_id_size(), device,
                training->images_per_second());
}

void Throughputs::AddProbe(const Trial& trial, const CostDevice& device, double images_per_second) {
  probed_.Add(trial.method(), trial.data().test_known().class_id_size(), device, images_per_second);
}

void Throughputs::Rates::Add(const MethodSpec& method, int classes, const CostDevice& device,
                             double images_per_second) {
  const double rate = static_cast<double>(kTrainPasses) * images_per_second;
  passes[{NetworkOf(method), device}].push_back(rate);
  const std::optional<int64_t> work = MultiplyAddsOf(method, classes);
  if (work.has_value()) multiply_adds[device].push_back(rate * static_cast<double>(*work));
}

Throughputs::Rate Throughputs::Of(const Trial& trial, const CostDevice& device) const {
  using Basis = Rate::Basis;
  const std::tuple<std::string, CostDevice> network = {NetworkOf(trial.method()), device};
  for (const auto& [rates, basis] : {std::pair{&measured_, Basis::kMeasured}, {&probed_, Basis::kProbed}}) {
    const auto same = rates->passes.find(network);
    if (same != rates->passes.end()) return {Median(same->second), basis};
  }
  const std::optional<int64_t> work = MultiplyAddsOf(trial.method(), trial.data().test_known().class_id_size());
  if (!work.has_value()) return {};
  for (const Rates* rates : {&measured_, &probed_}) {
    const auto others = rates->multiply_adds.find(device);
    if (others != rates->multiply_adds.end())
      return {Median(others->second) / static_cast<double>(*work), Basis::kScaled};
  }
  const double rate = device.is_gpu ? kAssumedGpuRate : kAssumedCpuRate * device.threads;
  return {rate / static_cast<double>(*work), Basis::kAssumed};
}

std::vector<std::string> Throughputs::GpuKinds() const {
  std::vector<std::string> kinds;
  for (const auto& [device, rates] : measured_.multiply_adds) {
    if (device.is_gpu) kinds.push_back(device.kind);
  }
  return kinds;
}

PlanCost CostOf(const Plan& plan, const Throughputs& throughputs, const CostDevice& device, bool needed_only) {
  PlanCost cost;
  RatesOnDevice rates(throughputs, device);
  const auto add = [&](int64_t passes, const Trial& trial) {
    cost.passes += passes;
    const int classes = trial.data().test_known().class_id_size();
    cost.multiply_adds +=
        static_cast<double>(passes) * static_cast<double>(MultiplyAddsOf(trial.method(), classes).value_or(0));
    const Throughputs::Rate& rate = rates.Of(trial);
    if (rate.basis == Throughputs::Rate::Basis::kUnknown) {
      cost.unknown_passes += passes;
      return;
    }
    const double hours = static_cast<double>(passes) / rate.passes_per_second / 3600;
    cost.hours += hours;
    double* part = &cost.assumed;
    if (rate.basis == Throughputs::Rate::Basis::kMeasured) part = &cost.measured;
    if (rate.basis == Throughputs::Rate::Basis::kProbed) part = &cost.probed;
    if (rate.basis == Throughputs::Rate::Basis::kScaled) part = &cost.scaled;
    *part += hours;
  };
  for (const Action& action : plan.actions) {
    if (action.work > 0 && (!needed_only || action.is_needed())) add(action.work, plan.TrialOf(action));
  }
  for (const PlannedSearch& planned : plan.searches) AddRungsToCome(plan, planned, add);
  if (cost.hours > 0) {
    for (double* part : {&cost.measured, &cost.probed, &cost.scaled, &cost.assumed}) *part /= cost.hours;
  }
  return cost;
}

std::string HoursText(double hours) {
  const auto text = [](double value, const char* unit) {
    return absl::StrFormat(value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit);
  };
  if (hours * 3600 < 60) return absl::StrFormat("%.0f s", std::ceil(hours * 3600));
  if (hours < 1) return absl::StrFormat("%.0f min", std::ceil(hours * 60));
  if (hours < 48) return text(hours, "h");
  if (hours < 2 * 365 * 24) return text(hours / 24, "days");
  return text(hours / (365 * 24), "years");
}

}  // namespace openset
