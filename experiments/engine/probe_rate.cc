#include "experiments/engine/probe_rate.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
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
  for (int worker = 0; worker < at_once; ++worker) OPENSET_RETURN_IF_ERROR(engine->Start(worker, gpu, request));
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
  if (!rate.has_value() || *rate <= 0) return absl::InternalError("the worker has not said how fast it is");
  return *rate;
}

}  // namespace

absl::StatusOr<double> ProbeRate(const TrainAction& action, int at_once, int gpu, const LocalEngineOptions& options,
                                 absl::Duration limit) {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (error) return absl::UnavailableError(absl::StrCat("no folder for temporary files: ", error.message()));
  const std::string folder = TemporaryName(JoinPath(temporary.string(), "openset-probe"));
  absl::StatusOr<double> rate;
  {
    LocalEngine engine((Store(folder)), options);
    rate = Probe(action, at_once, gpu, limit, &engine);
  }
  std::filesystem::remove_all(folder, error);
  return rate;
}

}  // namespace openset
