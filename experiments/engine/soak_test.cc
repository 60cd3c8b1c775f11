// Full disks during a run, and mixed faults: killed and interrupted orchestrators; workers that are killed, crash or
// are stopped from outside; a disk that fills up. Prints what was tried. OPENSET_FAULTS=long runs as many cases as the
// project documents; the mixed test then lasts for OPENSET_SOAK_MINUTES (480).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/process/steady_clock.h"
#include "core/random.h"
#include "core/testing/fault_rounds.h"
#include "core/testing/small_disk.h"
#include "core/testing/status_matchers.h"
#include "experiments/testing/engine_faults_scene.h"

namespace openset {
namespace {

constexpr uint64_t kSeed = 1;  // of the random moments
constexpr int kNoDisk = 77;    // exit code of a child that may not mount a disk
constexpr int kRoomKib = 64 << 10;

class Soak : public EngineFaults {
 protected:
  Soak() : folder_(sandbox_.folder() + "/disk") { std::filesystem::create_directories(folder_); }

  // Runs it in a process that may mount disks; skips the test if no process may.
  void WithDisks(const std::function<void()>& work) const {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
      if (!EnterMountNamespace()) _exit(kNoDisk);
      work();
      std::fflush(stdout);
      _exit(HasFailure() ? 1 : 0);
    }
    const int code = WaitFor(pid);
    if (code == kNoDisk) GTEST_SKIP() << "no tmpfs can be mounted here";
    EXPECT_EQ(code, 0);
  }

  const std::string folder_;
};

TEST_F(Soak, AFullStoreEndsTheRunWhichResumesOnceThereIsSpace) {
  const int sizes = Times(50, 3);
  WithDisks([&] {
    int64_t trials = 0, before = 0;
    for (int s = 0; s < sizes; ++s) {
      const int kilobytes = 64 + 60 * s;  // to 3 MB
      const SmallDisk disk(folder_, kilobytes);
      if (!disk.is_there()) _exit(kNoDisk);
      const Store store(folder_ + "/store");
      const std::vector<int> seeds =
          Seeds(kilobytes / 4);  // a record uses a page, and there are more files than records
      const absl::Status status = Execute(store, seeds);
      EXPECT_TRUE(absl::IsUnavailable(status)) << kilobytes << " KiB: " << status;
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr(store.folder()), HasSubstr("No space left on device"), Not(HasSubstr("\n"))));
      ExpectNoWorkers();
      before += static_cast<int64_t>(seeds.size()) - MakePlanOf(store, seeds).CountNeeded(ActionKind::kEvaluate);
      ASSERT_TRUE(disk.Resize(kRoomKib));
      EXPECT_EQ(Execute(store, seeds), absl::OkStatus()) << kilobytes << " KiB";
      ExpectComplete(store, seeds);
      EXPECT_THAT(*store.Quarantined(), IsEmpty());
      trials += static_cast<int64_t>(seeds.size());
    }
    std::printf("R6: %d disks of 64 KiB to %d KiB full under a run: %lld of %lld trials done before, all after\n",
                sizes, 64 + 60 * (sizes - 1), static_cast<long long>(before), static_cast<long long>(trials));
  });
}

enum Fault { kKill, kInterrupt, kInterruptTwice, kTerminate, kHangUp, kHitWorker, kFillDisk };
constexpr const char* kFaultNames[] = {"killed",     "interrupted",        "interrupted twice", "terminated",
                                       "hung up on", "robbed of a worker", "out of disk"};
constexpr int kFaults = std::size(kFaultNames);

// Fills the disk for a while.
void FillForAWhile(const std::string& file, useconds_t microseconds) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  for (const std::string page(4096, 'x'); write(fd, page.data(), page.size()) > 0;) {
  }
  usleep(microseconds);
  close(fd);
  unlink(file.c_str());
}

TEST_F(Soak, MixedFaultsLoseNoResultsAndLeaveNoFiles) {
  const char* minutes = std::getenv("OPENSET_SOAK_MINUTES");
  const absl::Duration end = SteadyNow() + absl::Minutes(minutes == nullptr ? 480 : std::atoi(minutes));
  const int fewest = Times(0, 14);  // minimum number in the short form, which has no time limit
  const std::vector<int> seeds = Seeds(100);
  // In addition to 20 others, these crash, exit, abort and run out of memory.
  std::vector<int> dying = Seeds(20);
  dying.insert(dying.end(), {101, 102, 109, 110});
  options_.hang = absl::Seconds(2);
  const std::map<std::string, std::string> reference = UndisturbedRecords(seeds);
  WithDisks([&] {
    RandomStream random(kSeed, "soak");
    int64_t tried[kFaults] = {}, all = 0, runs = 0, stores = 0, acknowledged = 0, lost = 0, torn = 0;
    const auto is_over = [&] { return fewest > 0 ? all >= fewest : SteadyNow() >= end; };
    Footprint first, last;
    while (!is_over() || stores < 2) {
      const SmallDisk disk(folder_, 8 << 10);
      if (!disk.is_there()) _exit(kNoDisk);
      const Store store(folder_ + "/store");
      std::set<std::string> keys;
      for (int code = -1; code != 0;) {
        const Orchestrator run = Start(store, seeds);
        ++runs;
        bool may_fail = false;
        for (int64_t f = is_over() ? 0 : 1 + random.Below(3); f > 0; --f) {
          usleep(static_cast<useconds_t>(random.Uniform(20e3, 180e3)));
          const auto fault = static_cast<Fault>(random.Below(kFaults));
          ++tried[fault];
          ++all;
          switch (fault) {
            case kKill:
              kill(run.pid, SIGKILL);
              break;
            case kInterruptTwice:
              kill(run.pid, SIGINT);
              [[fallthrough]];
            case kInterrupt:
              kill(run.pid, SIGINT);
              break;
            case kTerminate:
              kill(run.pid, SIGTERM);
              break;
            case kHangUp:
              kill(run.pid, SIGHUP);
              break;
            case kHitWorker: {
              const int signals[] = {SIGKILL, SIGSEGV, SIGABRT, SIGSTOP};
              const std::vector<pid_t> workers = Workers(run.pid);
              if (!workers.empty()) kill(workers[random.Below(workers.size())], signals[random.Below(4)]);
              may_fail = true;
              break;
            }
            case kFillDisk:
              FillForAWhile(folder_ + "/ballast", static_cast<useconds_t>(random.Uniform(20e3, 180e3)));
              may_fail = true;
              break;
          }
        }
        const std::set<std::string> said = ReadAll(run).records;
        code = WaitFor(run.pid);
        ExpectNoWorkers();
        EXPECT_THAT(code, AnyOf(0, 1, 130, 128 + SIGKILL, 128 + SIGINT, 128 + SIGTERM, 128 + SIGHUP));
        EXPECT_TRUE(code != 1 || may_fail);
        keys.insert(said.begin(), said.end());
        acknowledged += static_cast<int64_t>(said.size());
        const auto [lost_now, torn_now] = LostAndTorn(store, keys);
        lost += lost_now;
        torn += torn_now;
        if (HasFailure()) return;  // leaves everything for examination
      }
      ExpectComplete(store, seeds);
      EXPECT_EQ(RecordBytes(store), reference);
      EXPECT_THAT(*store.Quarantined(), IsEmpty());
      // In this process, which continues: its resources must not grow.
      EXPECT_EQ(Execute(Store(folder_ + "/dying"), dying), absl::AbortedError("4 actions failed"));
      last = ThisFootprint();
      if (stores++ == 0) first = last;
    }
    std::printf(
        "R18: %lld faults in %lld runs, %lld stores completed, %lld records acknowledged, %lld lost, %lld torn\n",
        static_cast<long long>(all), static_cast<long long>(runs), static_cast<long long>(stores),
        static_cast<long long>(acknowledged), static_cast<long long>(lost), static_cast<long long>(torn));
    for (int f = 0; f < kFaults; ++f) std::printf("     %s: %lld\n", kFaultNames[f], static_cast<long long>(tried[f]));
    std::printf("     open files %d, then %d; resident %lld KiB, then %lld\n", first.open_files, last.open_files,
                static_cast<long long>(first.resident_kib), static_cast<long long>(last.resident_kib));
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(torn, 0);
    ExpectNoGrowth(first, last);
  });
}

}  // namespace
}  // namespace openset
