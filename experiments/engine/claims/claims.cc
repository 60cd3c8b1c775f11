#include "experiments/engine/claims/claims.h"

#include <limits>

#include "absl/algorithm/container.h"
#include "core/status_macros.h"
#include "experiments/engine/outcome.h"

namespace openset {

absl::StatusOr<Claims::Found> Claims::TryClaim(ActionId id) {
  if (leases_ == nullptr) return Found{Fate::kOpen};
  const Action& action = plan_[id];
  OPENSET_ASSIGN_OR_RETURN(const bool was_done, plan_.IsInStore(action, store_));
  if (was_done) return Found{Fate::kDone};
  OPENSET_ASSIGN_OR_RETURN(const std::string owner, leases_->TryClaim(plan_.ResultKeys(action)));
  if (!owner.empty()) return Found{Fate::kTheirs, owner};
  const absl::StatusOr<bool> is_done = plan_.IsInStore(action, store_);  // its owner may have finished it just now
  if (is_done.ok() && !*is_done && (before_ == nullptr || !HasFailed(id, FailuresOf(id)))) return Found{Fate::kOpen};
  Release(id);
  OPENSET_RETURN_IF_ERROR(is_done.status());
  return Found{*is_done ? Fate::kDone : Fate::kFailed};
}

void Claims::Release(ActionId id) {
  if (leases_ == nullptr) return;
  for (const std::string& key : plan_.ResultKeys(plan_[id])) leases_->Release(key);
}

int Claims::FailuresOf(ActionId id) const {
  const std::string& key = plan_[id].key;
  // If the system can't tell, no later attempt counts as failed, and this process tries itself.
  if (before_ == nullptr) return store_.CountFailures(key).value_or(std::numeric_limits<int>::max());
  const auto before = before_->find(key);
  return before == before_->end() ? 0 : before->second;
}

void Claims::LeaveTo(ActionId id, const std::string& run_id) {
  left_[id] = FailuresOf(id);
  if (!run_id.empty()) run_of_[id] = run_id;
}

std::vector<std::pair<ActionId, Claims::Fate>> Claims::LookAtLeft() {
  std::vector<std::pair<ActionId, Fate>> fates;
  fates.reserve(left_.size());
  for (const auto& [id, failures] : left_) fates.emplace_back(id, FateOf(id, failures));
  for (const auto& [id, fate] : fates) {
    if (fate == Fate::kDone || fate == Fate::kFailed) left_.erase(id);
  }
  return fates;
}

Claims::Fate Claims::FateOf(ActionId id, int failures) const {
  const Action& action = plan_[id];
  // If the system can't tell, TryClaim() fails.
  if (plan_.IsInStore(action, store_).value_or(false)) return Fate::kDone;
  for (const std::string& key : plan_.ResultKeys(action)) {
    if (leases_ != nullptr && !leases_->OwnerOf(key).empty()) return Fate::kTheirs;
  }
  return HasFailed(id, failures) ? Fate::kFailed : Fate::kOpen;
}

bool Claims::HasFailed(ActionId id, int failures) const {
  const std::string& key = plan_[id].key;
  if (store_.CountFailures(key).value_or(0) <= failures) return false;
  const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(key);
  return failure.ok() && !failure->retried();
}

absl::Status Claims::WhyFailed(ActionId id) const {
  const absl::StatusOr<FailureRecord> failure = store_.LoadFailure(plan_[id].key);
  if (!failure.ok()) return failure.status();
  const auto run = run_of_.find(id);
  return StatusOf(*failure, run == run_of_.end() ? "" : RunName(run->second));
}

std::vector<std::pair<ActionId, std::string>> Claims::TakeLost(const std::set<ActionId>& running) {
  std::vector<std::pair<ActionId, std::string>> lost;
  for (const std::string& key : leases_->Lost()) {
    for (const ActionId id : running) {
      if (absl::c_linear_search(plan_.ResultKeys(plan_[id]), key)) lost.emplace_back(id, leases_->OwnerOf(key));
    }
  }
  return lost;
}

}  // namespace openset
