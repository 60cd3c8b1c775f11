#include "experiments/engine/outcome.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/machine/machine.h"
#include "experiments/action/stage.h"
#include "experiments/spec/describe.h"

namespace openset {

absl::Status StatusOf(const FailureRecord& failure, const std::string& where) {
  return absl::Status(static_cast<absl::StatusCode>(failure.code()),
                      where.empty() ? failure.message() : absl::StrCat(failure.message(), " (", where, ")"));
}

absl::Status SomeFailed(int failed, const std::string& rest) {
  if (failed == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed, failed == 1 ? " action" : " actions", " failed", rest));
}

absl::Status NoGpuIsLeft(const absl::Status& why) {
  return absl::UnavailableError(absl::StrCat("no GPU is left for the remaining actions: ", why.message(),
                                             "; the same command continues once one is free"));
}

absl::Status StoreIsGone(const Store& store, const absl::Status& why) {
  return absl::UnavailableError(
      absl::StrCat("the store ", store.folder(), " is full or missing: ", why.message(),
                   "; openset started no new work. The same command continues once there is room"));
}

absl::Status NeedsGpu(const Plan& plan, const Action& action) {
  return absl::FailedPreconditionError(
      absl::StrCat(Describe(plan.TrialOf(action)), " needs a GPU: choose one with --devices=cuda:0"));
}

FailureRecord FailureOf(const Plan& plan, const Action& action, const absl::Status& status) {
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_kind(KindName(action.kind));
  failure.set_key(action.key);
  failure.set_description(Describe(plan.TrialOf(action)));
  failure.set_message(std::string(status.message()));
  failure.set_failed_at_seconds(absl::ToUnixSeconds(absl::Now()));
  failure.set_code(static_cast<int>(status.code()));
  failure.set_host(HostName());
  failure.set_user_id(UserId());
  failure.set_user_name(UserName());
  return failure;
}

}  // namespace openset
