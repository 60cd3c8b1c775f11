#include "tools/cli/store_budget.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/status_macros.h"
#include "experiments/store/collect_garbage.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store_usage.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/flags.h"

namespace openset {
absl::Status KeepStoreSize(const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  if (!deployment.spec.has_store_gb() || IsSlurmTask()) return absl::OkStatus();
  const auto most = static_cast<int64_t>(deployment.spec.store_gb() * 1e9);
  const int64_t before = BytesOfStore(store);
  if (before <= most) return absl::OkStatus();
  if (!RunsOf(store).empty()) {
    std::cerr << "the store has " << BytesText(before) << ", more than store_gb; nothing is removed while another run "
              << "is on it\n";
    return absl::OkStatus();
  }
  GarbagePolicy policy;
  policy.older_than = absl::InfiniteDuration();
  policy.most_bytes = most;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Garbage> garbage, FindGarbage(store, policy));
  OPENSET_RETURN_IF_ERROR(RemoveGarbage(store, garbage));
  const int64_t after = BytesOfStore(store);
  std::cout << "store_gb: removed " << garbage.size() << " checkpoints, outputs and temporaries, "
            << BytesText(before - after) << "; the store has " << BytesText(after) << "\n";
  if (after > most) {
    std::cerr << "the store has " << BytesText(after)
              << ", more than store_gb: the rest is records, reports and what is "
              << "younger than an hour\n";
  }
  return absl::OkStatus();
}

}  // namespace openset
