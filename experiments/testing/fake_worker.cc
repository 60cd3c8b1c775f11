// A worker for tests of the engine. Makes empty results at once; certain seeds of trials make it misbehave.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/logging.h"
#include "core/process/message_channel.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "core/text/little_endian.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker_loop.h"

namespace openset {
namespace {

constexpr int kCrashSeed = 101;
constexpr int kExitSeed = 102;
constexpr int kErrorSeed = 103;
constexpr int kHangSeed = 104;
constexpr int kInferErrorSeed = 105;
constexpr int kSilentSeed = 106;
constexpr int kCrashOnceSeed = 107;
constexpr int kStopSeed = 108;
constexpr int kAbortSeed = 109;
constexpr int kOutOfMemorySeed = 110;
constexpr int kThrowSeed = 111;
constexpr int kBrokenDeviceSeed = 112;
constexpr int kNoMemorySeed = 113;
constexpr int kSpinningSeed = 114;
constexpr int kGarbageSeed = 115;
constexpr int kEmptyMessageSeed = 116;
constexpr int kSavingSeed = 120;
constexpr int kCpusSeed = 121;  // a probe reports its CPU slots in addition to 1000 images per second

// Allocates memory until there is none left, then ends the process.
void RunOutOfMemory() noexcept {
  const rlimit limit = {256 << 20, 256 << 20};
  setrlimit(RLIMIT_AS, &limit);
  std::vector<std::string> taken;
  while (true) taken.emplace_back(1 << 20, 'x');
}

absl::Status MakeFolder(const Store& store, const std::string& key, const std::string& target) {
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, store.NewStagingFolder(key));
  return store.CommitFolder(staging, target).status();
}

absl::Status Probe(const WorkRequest& request, const ReportProgress& report) {
  const TrainAction& action = request.probe().train();
  if (action.seed() == kErrorSeed) return absl::AbortedError("the training diverged");
  if (action.seed() == kCrashSeed) raise(SIGSEGV);
  while (action.seed() == kHangSeed) pause();
  WorkProgress progress;
  progress.set_images_per_second(action.seed() == kCpusSeed ? 1000 + request.cpu_slots() : 100);
  report(progress);
  return absl::OkStatus();
}

// Simulates a failure of its device.
struct BrokenDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

absl::Status StatusOf(const std::exception& error) {
  const bool is_device = dynamic_cast<const BrokenDevice*>(&error) != nullptr;
  return is_device ? absl::UnavailableError(error.what()) : absl::InternalError(error.what());
}

// Whether this is the first call with this name for the store.
bool IsFirst(const Store& store, const std::string& name) {
  const std::string file = store.folder() + "/" + name;
  if (FileExists(file)) return false;
  std::ofstream(file) << "once";
  return true;
}

// Reports progress forever, with the CPUs of the request.
void Train(const WorkRequest& request, const ReportProgress& report, const Poll& poll) {
  while (!poll()) {
    WorkProgress progress;
    progress.set_fraction(0.5);
    progress.set_what(absl::StrCat(request.cpu_slots(), " CPU slots"));
    report(progress);
    usleep(10000);
  }
}

std::string BrokenModel(const Store& store, const std::string& key) { return store.folder() + "/broken_" + key; }

absl::Status Execute(const WorkRequest& request, const ReportProgress& report, const Poll& poll) {
  if (request.has_probe()) return Probe(request, report);
  const Store store(request.store());
  // Records for the test what ran, in order.
  std::ofstream(store.folder() + "/executed", std::ios::app) << (request.action().has_train()   ? "train "
                                                                 : request.action().has_infer() ? "infer "
                                                                                                : "evaluate ")
                                                             << getpid() << "\n";
  if (request.action().has_train()) {
    switch (request.action().train().seed()) {
      case kCrashSeed:
        LOG(INFO) << "about to crash";
        raise(SIGSEGV);
        break;
      case kExitSeed:
        _exit(3);
      case kCrashOnceSeed:
        if (IsFirst(store, "crashed")) raise(SIGKILL);
        break;
      case kSilentSeed:
        LOG(INFO) << "about to say nothing";
        while (true) pause();
      case kStopSeed:
        raise(SIGSTOP);
        break;
      case kAbortSeed:
        std::abort();
      case kOutOfMemorySeed:
        RunOutOfMemory();
        break;
      case kInferErrorSeed:
        std::ofstream(BrokenModel(store, request.key())) << "for its inference";
        break;
      case kErrorSeed:
        return absl::AbortedError("the training diverged");
      case kThrowSeed:
        throw std::runtime_error("a library threw");
      case kBrokenDeviceSeed:
        if (IsFirst(store, "broken")) throw BrokenDevice("the device failed");
        break;
      case kNoMemorySeed:
        if (IsFirst(store, "no_memory")) throw std::bad_alloc();
        break;
      case kSpinningSeed:
        report(WorkProgress());
        while (true) {
        }
      case kGarbageSeed:
        PCHECK(write(Subprocess::kChannel, "\xff\xff\xff\xff", 4) == 4);
        while (true) pause();
      case kEmptyMessageSeed:
        MessageChannel(Subprocess::kChannel).Send(WorkEvent()).IgnoreError();
        while (true) pause();
      case kHangSeed:
        Train(request, report, [] { return false; });
        break;
      case kSavingSeed:
        if (FileExists(store.folder() + "/saved")) break;
        Train(request, report, poll);
        std::ofstream(store.folder() + "/saved") << "half of it";
        return absl::CancelledError("stopped");
    }
    return MakeFolder(store, request.key(), store.CheckpointFolder(request.key()));
  }
  if (request.action().has_infer()) {
    for (const WorkRequest& other : request.passenger()) {
      OPENSET_RETURN_IF_ERROR(MakeFolder(store, other.key(), store.OutputsFolder(other.key())));
    }
    if (FileExists(BrokenModel(store, InputKey(request.action(), ActionInput::MODEL))))
      return absl::AbortedError("the model is broken");
    return MakeFolder(store, request.key(), store.OutputsFolder(request.key()));
  }
  TrialRecord record;
  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(request.key());
  *record.mutable_trial() = request.trial();
  record.add_metric()->set_name("accuracy");
  return store.CommitRecord(record).status();
}

// Reads a request and answers it with a pause after each of the first bytes, in total longer than the engine's patience
// with a worker that does nothing.
int ServeSlowly() {
  constexpr size_t kSlowBytes = 16;
  const auto pause = [](size_t byte) { usleep(byte < kSlowBytes ? 300000 : 0); };
  const auto read_bytes = [&pause](size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) {
      if (read(Subprocess::kChannel, &bytes[i], 1) != 1) _exit(1);
      pause(i);
    }
    return bytes;
  };
  while (true) {
    WorkRequest request;
    if (!request.ParseFromString(read_bytes(LittleEndian32(read_bytes(4))))) return 1;
    const absl::Status status = Execute(
        request, [](const WorkProgress&) {}, [] { return false; });
    WorkEvent event;
    event.mutable_outcome()->set_code(static_cast<int>(status.code()));
    event.mutable_outcome()->set_message("slow but sure: a message of some length");
    const std::string body = event.SerializeAsString();
    const std::string bytes = std::string({static_cast<char>(body.size()), 0, 0, 0}) + body;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (write(Subprocess::kChannel, &bytes[i], 1) != 1) return 1;
      pause(i);
    }
  }
}

int Main(int argc, char** argv) {
  InitLogging(argv[0]);
  if (argc > 1 && std::string(argv[1]) == "slow") return ServeSlowly();
  return ServeWork({&Execute, &Execute, &Execute, &Execute}, StatusOf);
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::Main(argc, argv); }
