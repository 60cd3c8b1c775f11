#include "tools/testing/hostile/random_processes.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/proto/record_file.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/mutation.h"
#include "core/testing/proto_mutation.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/record.pb.h"
#include "experiments/worker/worker.pb.h"
#include "tools/testing/hostile/process_case.h"

namespace openset {
namespace {

using Words = std::vector<std::string>;

constexpr char kProcess[] = "elsewhere.01234567.1.1";

const Words& Tokens() {
  static const auto* const tokens =
      new Words{"../../outside/file", "\x1b]0;x\a",          "\xff", "+",      "~",    ".", "/", "\n",
                std::string(1, '\0'), "9223372036854775807", "-1",   "PK\1\2", "ustar"};
  return *tokens;
}

// A record file of a message that was changed: its fields, under a checksum that fits, or its bytes.
template <typename M>
std::string ChangedRecord(const M& message, RandomStream* random) {
  if (random->Below(3) == 0) return Mutated(EncodeRecord(message), Tokens(), random);
  return FramedRecord(MutatedWire(message, {}, random));
}

HostileCase Claim(RandomStream* random) {
  RunState lives;
  lives.set_id(kProcess), lives.set_host("elsewhere"), lives.set_pid(1), lives.set_sequence(1);
  lives.set_lease_seconds(1), lives.set_experiment("study");
  lives.add_running()->set_description("plain, split 0, seed 0");
  const std::string state = ChangedRecord(lives, random);
  const std::string claim = random->Below(2) == 0 ? absl::StrCat(kProcess, "+1\n")
                                                  : Mutated(absl::StrCat(kProcess, "+1\n"), Tokens(), random);
  const std::vector<Words> commands = {{"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"},
                                       {"status", "study.textproto", "--deploy=deploy.textproto"},
                                       {"status", "--store=store"},
                                       {"status", "--store=store", "--format=json"}};
  HostileCase one{"claim", "a claim", OneOf(commands, random), {}, End::kAnswered, "", {"work/store"}};
  one.make = [state, claim](const Fixture& fixture) {
    std::filesystem::remove(fixture.Path(fixture.RecordPath(0)));
    fixture.Write(absl::StrCat("work/store/runs/", kProcess, ".rec"), state);
    fixture.Write(absl::StrCat("work/store/running/", fixture.trials()[0]), claim);
  };
  return one;
}

HostileCase Log(RandomStream* random) {
  FailureRecord failure;
  failure.set_schema_version(2), failure.set_kind("evaluate"), failure.set_description("plain, split 0, seed 0");
  failure.set_message("no space left"), failure.set_log_tail("one\ntwo\n"), failure.set_host("elsewhere");
  failure.set_code(13), failure.set_failed_at_seconds(1700000000);
  const std::vector<Words> commands = {{"status", "study.textproto", "--store=store", "--data=files"},
                                       {"status", "study.textproto", "--store=store", "--data=files", "--format=json"},
                                       {"report", "study.textproto", "--store=store", "--data=files", "--format=html"},
                                       {"records", "verify", "--store=store"},
                                       {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}};
  HostileCase one{"log", "an attempt that failed", OneOf(commands, random), {}, End::kAnswered, "", {"work/store"}};
  const std::string attempt = ChangedRecord(failure, random), text = Mutated("step 1\nstep 2\n", Tokens(), random);
  one.make = [attempt, text](const Fixture& fixture) {
    std::filesystem::remove(fixture.Path(fixture.RecordPath(0)));
    fixture.Write(absl::StrCat("work/store/attempts/", fixture.trials()[0], "/1.rec"), attempt);
    fixture.Write(absl::StrCat("work/store/logs/", fixture.trials()[0], ".log"), text);
  };
  return one;
}

HostileCase Archive(RandomStream* random) {
  const std::string good("\0x\1y", 4), long_text(3000, 'x');
  std::string bytes;
  const bool zip = random->Below(2) == 0;
  if (zip) {
    bytes =
        ZipBytes({{"fetched/train.bin", good}, {"fetched/more/text", long_text}, {"link", "fetched", false, 0120777}});
  } else {
    bytes = TarBytes({{"fetched/train.bin", good}, {"fetched/more/text", long_text}, {"link", "", '2', "fetched"}});
    if (random->Below(2) == 0) bytes = GzipBytes(bytes);
  }
  return ArchiveCase("changed bytes", zip ? "ZIP" : "TAR", Mutated(bytes, Tokens(), random), End::kAnswered);
}

HostileCase Download(RandomStream* random) {
  const std::string bytes = Mutated(std::string("\0x\1y", 4), Tokens(), random);
  return DownloadCase(
      "changed bytes", [bytes](const Fixture& fixture) { fixture.Write("served/train.bin", bytes); }, End::kAnswered);
}

HostileCase Variable(RandomStream* random) {
  const Words names = {"OPENSET_DATA", "OPENSET_LIBRARY",     "OPENSET_TORCH",  "HOME",           "TMPDIR", "COLUMNS",
                       "PATH",         "SLURM_ARRAY_TASK_ID", "XDG_CACHE_HOME", "OMP_NUM_THREADS"};
  const std::vector<Words> commands = {{"plan", "study.textproto", "--store=store", "--data=files"},
                                       {"eval", "logits.npz"},
                                       {"records", "ls", "--store=store"},
                                       {"list", "methods"},
                                       {"devices"}};
  const std::string& name = OneOf(names, random);
  std::string value = Mutated(OneOf(Words{"files", "/dev/null", "2", "a:b,c"}, random), Tokens(), random);
  value.resize(std::min(value.find('\0'), value.size()));
  HostileCase one{"environment variable",  absl::StrCat(name, "=", value.substr(0, 60)),
                  OneOf(commands, random), Nothing,
                  End::kAnswered,          ""};
  one.environment = {{name, value}};
  return one;
}

// Up to three messages; one of them is the outcome.
HostileCase Worker(RandomStream* random) {
  std::string said;
  for (uint64_t n = 1 + random->Below(3); n > 0; --n) {
    WorkEvent event;
    if (n == 1) {
      event.mutable_outcome()->set_code(static_cast<int>(random->Below(20)));
      event.mutable_outcome()->set_message("no space left");
    } else {
      event.mutable_progress()->set_fraction(0.5), event.mutable_progress()->set_what("reading");
      event.mutable_progress()->set_epoch(1), event.mutable_progress()->set_epochs(2);
    }
    Extremes small;
    small.most_text = 300, small.most_repeats = 20, small.most_depth = 20;  // all of it must fit on a command line
    said += FramedMessage(MutatedWire(event, small, random).substr(0, 5000));
  }
  if (random->Below(3) == 0) said = Mutated(said, Tokens(), random).substr(0, 20000);
  return WorkerCase("changed messages", WorkerThatSays(said), End::kAnswered);
}

}  // namespace

HostileCase RandomProcessCase(RandomStream* random) {
  switch (random->Below(6)) {
    case 0:
      return Claim(random);
    case 1:
      return Log(random);
    case 2:
      return Archive(random);
    case 3:
      return Download(random);
    case 4:
      return Variable(random);
    default:
      return Worker(random);
  }
}

}  // namespace openset
