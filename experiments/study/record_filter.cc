#include "experiments/study/record_filter.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"

namespace openset {
namespace {

constexpr char kOnlyFailed[] = "failed";
constexpr char kOnlyMissing[] = "missing";

// Whether `failed`, sorted keys, has the key of the action or of one that it waits for.
bool HasFailed(const std::vector<std::string>& failed, const Plan& plan, const Action& action) {
  if (action.is_done()) return false;
  return absl::c_binary_search(failed, action.key) ||
         absl::c_any_of(action.inputs, [&](ActionId input) { return HasFailed(failed, plan, plan[input]); });
}

}  // namespace

absl::StatusOr<RecordFilter> MakeRecordFilter(const std::string& only, const Store& store) {
  if (only.empty()) return RecordFilter();
  if (only == kOnlyChanged) {
    return RecordFilter([](const Plan& plan, const Action& action) { return plan.redone.count(action.id) > 0; });
  }
  if (only != kOnlyFailed && only != kOnlyMissing) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only: ", UnknownName("word", only, {kOnlyFailed, kOnlyMissing, kOnlyChanged})));
  }
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> keys, store.KeysOfFailures());
  const auto failed = std::make_shared<const std::vector<std::string>>(std::move(keys));
  const bool wants_failed = only == kOnlyFailed;
  return RecordFilter([failed, wants_failed](const Plan& plan, const Action& action) {
    return !action.is_done() && HasFailed(*failed, plan, action) == wants_failed;
  });
}

}  // namespace openset
