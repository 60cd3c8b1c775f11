#include "tools/cli/run/probes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "experiments/spec/method.proto.h"

namespace openset {
namespace {

constexpr double kStepSeconds = 2;
constexpr int kSmallestBatch = 4;
// For networks with unknown multiply-adds.
constexpr int kUnknownBatch = 16;

// Trainings with the same estimated rate.
struct Group {
  const Action* action = nullptr;  // the one with the most work
  int64_t work = 0;                // of all
};

std::string WhatIsProbed(const Trial& trial, const ProbeOptions& options) {
  const CostDevice& device = options.device;
  return absl::StrCat(NetworkOf(trial.method()), "\nbatch size ", trial.method().training().batch_size(),
                      "\nprecision ", trial.execution().precision(), "\n", device.is_gpu ? "GPU " : "CPU ", device.kind,
                      ", ", device.threads, " threads, ", options.at_once, " at once\nbuild ", options.build, "\n");
}

std::optional<double> Remembered(const std::string& file) {
  constexpr int64_t kMaxBytes = 1 << 16;
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxBytes);
  double rate = 0;
  if (!text.ok() || !absl::SimpleAtod(text->substr(0, text->find('\n')), &rate) || !(rate > 0)) return std::nullopt;
  return rate;
}

// If the folder can't be written, the next run probes again.
void Remember(const ProbeOptions& options, const std::string& file, double rate, const std::string& what) {
  if (options.folder.empty() || !MakeFolders(options.folder).ok()) return;
  WriteFileAtomically(file, absl::StrCat(rate, "\nimages/s in training of\n", what)).IgnoreError();
}

TrainAction ActionOf(const Plan& plan, const Action& action, const Throughputs::Rate& rate) {
  TrainAction probed = plan.RequestOf(action).train();
  int batch = kUnknownBatch;
  if (rate.basis != Throughputs::Rate::Basis::kUnknown) {
    const double images = kStepSeconds * rate.passes_per_second / kTrainPasses;
    batch = static_cast<int>(std::clamp<double>(images, kSmallestBatch, 1e6));
  }
  if (batch < probed.training().batch_size()) probed.mutable_training()->set_batch_size(batch);
  return probed;
}

}  // namespace

std::vector<std::string> AddProbes(const Plan& plan, const ProbeOptions& options, Throughputs* throughputs) {
  std::map<std::string, Group> groups;
  // By what trials share; null if there is a record.
  std::map<std::tuple<const TrialMethod*, const TrialData*, const TrialProtocol*>, Group*> group_of;
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::kTrain || action.role == ActionRole::kImport || action.is_done()) continue;
    const Trial& trial = plan.TrialOf(action);
    const auto [at, is_new] = group_of.try_emplace(
        {trial.shared_method().get(), trial.shared_data().get(), trial.shared_protocol().get()}, nullptr);
    if (is_new && throughputs->Of(trial, options.device).basis != Throughputs::Rate::Basis::kMeasured) {
      at->second = &groups[WhatIsProbed(trial, options)];
    }
    Group* group = at->second;
    if (group == nullptr) continue;
    if (group->action == nullptr || action.work > group->action->work) group->action = &action;
    group->work += action.work;
  }
  std::vector<std::pair<std::string, Group>> by_work(groups.begin(), groups.end());
  std::stable_sort(by_work.begin(), by_work.end(),
                   [](const auto& a, const auto& b) { return a.second.work > b.second.work; });
  std::vector<std::string> failures;
  int probes = 0;
  for (const auto& [what, group] : by_work) {
    const Trial& trial = plan.TrialOf(*group.action);
    const std::string file = JoinPath(options.folder, Sha256Hex(what));
    std::optional<double> rate = options.folder.empty() ? std::nullopt : Remembered(file);
    if (!rate.has_value() && options.probe != nullptr && probes < kMostProbes) {
      ++probes;
      const absl::StatusOr<double> probed =
          options.probe(ActionOf(plan, *group.action, throughputs->Of(trial, options.device)));
      if (probed.ok()) {
        rate = *probed;
        Remember(options, file, *probed, what);
      } else {
        const std::string network(what.substr(0, what.find('\n')));
        failures.push_back(absl::StrCat("the probe of ", network, " failed: ", probed.status().message()));
      }
    }
    if (rate.has_value()) throughputs->AddProbe(trial, options.device, *rate);
  }
  return failures;
}

}  // namespace openset
