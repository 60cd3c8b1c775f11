#include "experiments/engine/probe_rate.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/files/temporary_folder.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "experiments/spec/trial.proto.h"

namespace openset {
namespace {

absl::StatusOr<double> Probe(const TrainAction& action, int at_once, int gpu, absl::Duration limit,
                             LocalEngine* engine) {
  WorkRequest request;
  *request.mutable_probe()->mutable_train() = action;
  request.set_cpu_slots(action.execution().threads());
  for (int n = 0; n < at_once; ++n) OPENSET_RETURN_IF_ERROR(engine->Start(ActionId{n}, gpu, request));
  const absl::Duration end = SteadyNow() + limit;
  std::optional<double> rate;
  for (int ended = 0; ended < at_once;) {
    const absl::Duration left = end - SteadyNow();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(absl::StrCat("no answer within ", absl::FormatDuration(limit)));
    }
    for (const EngineEvent& event : engine->Wait(/*wake=*/-1, left)) {
      if (event.progress.has_value() && event.progress->has_images_per_second()) {
        rate = std::min(rate.value_or(event.progress->images_per_second()), event.progress->images_per_second());
      }
      if (!event.end.has_value()) continue;
      OPENSET_RETURN_IF_ERROR(*event.end);
      ++ended;
    }
  }
  if (!rate.has_value() || *rate <= 0) return absl::InternalError("the worker did not report its speed");
  return *rate;
}

}  // namespace

absl::StatusOr<double> ProbeRate(const TrainAction& action, int at_once, int gpu, const LocalEngineOptions& options,
                                 absl::Duration limit) {
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("probe"));
  LocalEngine engine((Store(folder.path())), options);  // destroyed before its folder
  return Probe(action, at_once, gpu, limit, &engine);
}

}  // namespace openset
