#include "experiments/store/stage_clock.h"

#include "absl/time/clock.h"
#include "core/machine/machine.h"
#include "core/process/build_info.h"
#include "core/process/steady_clock.h"

namespace openset {

StageClock::StageClock() : start_(absl::Now()), steady_start_(SteadyNow()), cpu_seconds_at_start_(CpuSeconds()) {
  ForgetPeakMemory();
}

StageProvenance StageClock::Read(StageProvenance::Stage stage, const std::string& key, const Store& store) const {
  StageProvenance provenance;
  provenance.set_stage(stage);
  provenance.set_key(key);
  provenance.set_commit(BuildCommit());
  provenance.set_dirty(BuiltFromChanges());
  provenance.set_compiler(Compiler());
  if (BuiltFromChanges()) provenance.set_changes_sha256(BuildChanges());
  if (const std::string digest = ProgramDigest(); !digest.empty()) provenance.set_program_sha256(digest);
  provenance.set_libraries(ThirdPartyLibraries());
  if (const std::string others = ThirdPartyRevisions(); !others.empty()) provenance.set_third_party(others);
  provenance.set_host(HostName());
  provenance.set_user_id(UserId());
  provenance.set_user_name(UserName());
  provenance.set_cpu(CpuName());
  for (const std::string& feature : CpuFeatures()) provenance.add_cpu_feature(feature);
  provenance.set_threads(1);
  provenance.set_started_at_seconds(absl::ToDoubleSeconds(start_ - absl::UnixEpoch()));
  provenance.set_ended_at_seconds(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
  provenance.set_wall_seconds(absl::ToDoubleSeconds(SteadyNow() - steady_start_));
  provenance.set_cpu_seconds(CpuSeconds() - cpu_seconds_at_start_);
  provenance.set_peak_memory_bytes(PeakMemoryBytes());
  if (const absl::StatusOr<int> failures = store.CountFailures(key); failures.ok()) {
    provenance.set_failed_attempts(*failures);
  }
  return provenance;
}

void AddEarlierRuns(const StageProvenance& earlier, StageProvenance* provenance) {
  if (!earlier.has_started_at_seconds()) return;
  provenance->set_started_at_seconds(earlier.started_at_seconds());
  provenance->set_wall_seconds(provenance->wall_seconds() + earlier.wall_seconds());
  provenance->set_cpu_seconds(provenance->cpu_seconds() + earlier.cpu_seconds());
}

}  // namespace openset
