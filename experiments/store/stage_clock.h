// Measures a stage of a trial: the program and machine, time and memory.
#ifndef OPENSET_EXPERIMENTS_STORE_STAGE_CLOCK_H_
#define OPENSET_EXPERIMENTS_STORE_STAGE_CLOCK_H_

#include <string>

#include "absl/time/time.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Starts when it is constructed. For a process that runs one stage at a time.
class StageClock {
 public:
  StageClock();

  // The fields of StageProvenance that every program can fill in: program, compiler, host, CPU, start, end, times,
  // memory, and the number of failed attempts. The worker adds LibTorch and the GPU; AddComponents()
  // (experiments/store/components.h) adds the components.
  StageProvenance Read(StageProvenance::Stage stage, const std::string& key, const Store& store) const;

 private:
  absl::Time start_;
  absl::Duration steady_start_;
  double cpu_seconds_at_start_;
};

// For a resumed training: adds the times of its earlier runs to `provenance`, and takes the first run's start.
void AddEarlierRuns(const StageProvenance& earlier, StageProvenance* provenance);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_STAGE_CLOCK_H_
