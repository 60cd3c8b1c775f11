#include "tools/cli/store_budget.h"

#include <iostream>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "experiments/store/collect_garbage.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

// Errors: a read failure, since a run whose state can't be read may need any result.
absl::StatusOr<bool> OthersRun(const Store& store) {
  const std::string folder = JoinPath(store.folder(), "runs");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(folder));
  for (const std::string& name : names) {
    const absl::Status read = ReadFile(JoinPath(folder, name)).status();
    if (IsReadFailure(read)) return read;
  }
  return absl::c_any_of(RunsOf(store), [](const RunState& run) { return run.id() != ThisRunId(); });
}

absl::StatusOr<GarbagePolicy> PolicyOf(const Study& study, int64_t most) {
  GarbagePolicy policy;
  policy.older_than = absl::InfiniteDuration();
  policy.most_bytes = most;
  const Plan& plan = study.plan();
  for (const Action& action : plan.actions) {
    policy.done_with.insert(action.key);
    if (!action.is_needed()) continue;
    OPENSET_ASSIGN_OR_RETURN(const bool is_done, plan.IsInStore(action, study.store()));
    if (is_done) continue;
    for (const ActionId input : action.inputs) policy.needed.insert(plan[input].key);
  }
  for (const std::string& key : policy.needed) policy.done_with.erase(key);
  return policy;
}

absl::Status KeepStoreSize(const Study& study, const RunConfig& config) {
  const std::optional<int64_t> budget = StoreBudget(config);
  OPENSET_ASSIGN_OR_RETURN(const std::string line, KeepStoreSizeDuring(study, budget));
  if (!line.empty()) std::cout << line << "\n";
  if (!budget.has_value()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const int64_t bytes, BytesOfStore(study.store()));
  if (bytes <= *budget) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const bool others_run, OthersRun(study.store()));
  std::cerr << "the store has " << BytesText(bytes) << ", more than store_gb: "
            << (others_run ? "nothing is removed while another run is on it\n"
                           : "the rest is records, reports and files from the last hour\n");
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> StoreBudget(const RunConfig& config) {
  if (!config.deployment.has_store_gb() || config.is_slurm_task()) return std::nullopt;
  return static_cast<int64_t>(config.deployment.store_gb() * 1e9);
}

absl::StatusOr<std::string> KeepStoreSizeDuring(const Study& study, std::optional<int64_t> budget) {
  const Store& store = study.store();
  if (!budget.has_value()) return std::string();
  OPENSET_ASSIGN_OR_RETURN(const int64_t before, BytesOfStore(store));
  // A search continues trainings to which no action of the plan refers yet.
  if (before <= *budget || study.waiting() > 0) return std::string();
  OPENSET_ASSIGN_OR_RETURN(const bool others_run, OthersRun(store));
  if (others_run) return std::string();
  OPENSET_ASSIGN_OR_RETURN(const GarbagePolicy policy, PolicyOf(study, *budget));
  OPENSET_ASSIGN_OR_RETURN(const GarbageFound found, FindGarbage(store, policy));
  if (found.garbage.empty()) return std::string();
  OPENSET_RETURN_IF_ERROR(RemoveGarbage(store, found));
  OPENSET_ASSIGN_OR_RETURN(const int64_t after, BytesOfStore(store));
  return absl::StrCat("store_gb: removed ", found.garbage.size(), " checkpoints, outputs and temporaries, ",
                      BytesText(before - after), "; the store has ", BytesText(after));
}

absl::Status KeepStoreSizeAfter(const absl::Status& outcome, const Study& study, const RunConfig& config) {
  if (!outcome.ok() && !absl::IsAborted(outcome)) return outcome;
  const absl::Status kept = KeepStoreSize(study, config);
  return outcome.ok() ? kept : outcome;
}

}  // namespace openset
