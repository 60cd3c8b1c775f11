// Who does a stage of a trial, on what, and what it takes.
#ifndef OPENSET_EXPERIMENTS_STORE_STAGE_CLOCK_H_
#define OPENSET_EXPERIMENTS_STORE_STAGE_CLOCK_H_

#include <string>

#include "absl/time/time.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Starts when it is made; of a process that does one stage at a time.
class StageClock {
 public:
  StageClock();

  // All of StageProvenance that any program can say of itself and its machine: program, compiler, host, CPU, start,
  // end, times, memory, and how often the action failed before. What LibTorch and the GPU are is the worker's to add,
  // components are experiments/store/components.h's.
  StageProvenance Read(StageProvenance::Stage stage, const std::string& key, const Store& store) const;

 private:
  absl::Time start_;
  absl::Duration steady_start_;
  double cpu_seconds_at_start_;
};

// Adds what earlier runs of the same training took to `provenance`, and takes over when the first began.
void AddEarlierRuns(const StageProvenance& earlier, StageProvenance* provenance);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STAGE_CLOCK_H_
