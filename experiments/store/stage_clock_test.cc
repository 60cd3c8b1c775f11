#include "experiments/store/stage_clock.h"

#include <unistd.h>

#include "core/machine/machine.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

TEST(StageClock, RecordsTheProgramAndUser) {
  const Store store(TestFolder());
  const StageProvenance provenance = StageClock().Read(StageProvenance::TRAIN, TestKey("aa"), store);
  EXPECT_EQ(provenance.user_id(), geteuid());
  EXPECT_EQ(provenance.user_name(), UserName());
  EXPECT_EQ(provenance.host(), HostName());
  EXPECT_EQ(provenance.key(), TestKey("aa"));
}

TEST(StageClock, AddsEarlierRunsOfATraining) {
  StageProvenance earlier, later;
  earlier.set_started_at_seconds(100);
  earlier.set_wall_seconds(7);
  earlier.set_cpu_seconds(3);
  later.set_started_at_seconds(200);
  later.set_wall_seconds(1);
  later.set_cpu_seconds(2);
  AddEarlierRuns(earlier, &later);
  EXPECT_EQ(later.started_at_seconds(), 100);
  EXPECT_EQ(later.wall_seconds(), 8);
  EXPECT_EQ(later.cpu_seconds(), 5);
}

}  // namespace
}  // namespace openset
