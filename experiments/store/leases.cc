#include "experiments/store/leases.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/process/machine.h"
#include "core/process/process_stat.h"
#include "core/process/steady_clock.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr char kRecord[] = ".rec";

// When a process began, in clock ticks since boot; "" if there is none, or it is dead and only not waited for.
std::string StartOf(const std::string& pid) {
  pid_t process = 0;
  if (!absl::SimpleAtoi(pid, &process)) return "";
  const std::optional<ProcessStat> stat = StatOf(process);
  return stat.has_value() && !stat->has_ended() ? absl::StrCat(stat->start_ticks) : "";
}

struct RunParts {
  std::string host, machine, pid, start;
};

std::optional<RunParts> Parse(const std::string& run_id) {
  const std::vector<std::string> parts = absl::StrSplit(run_id, '.');
  if (parts.size() < 4) return std::nullopt;
  const size_t n = parts.size();
  const size_t tail = parts[n - 3].size() + parts[n - 2].size() + parts[n - 1].size() + 3;
  return RunParts{run_id.substr(0, run_id.size() - tail), parts[n - 3], parts[n - 2], parts[n - 1]};
}

std::string RunOf(const std::string& claim) { return claim.substr(0, claim.find('+')); }

}  // namespace

std::string ThisRunId() {
  const std::string pid = absl::StrCat(getpid());
  return absl::StrCat(HostName(), ".", ProcessSpace(), ".", pid, ".", StartOf(pid));
}

std::string RunName(const std::string& id) {
  const std::optional<RunParts> parts = Parse(id);
  return parts.has_value() ? absl::StrCat(parts->host, ", process ", parts->pid) : id;
}

bool IsDead(const std::string& run_id) {
  static const std::string& machine = *new std::string(ProcessSpace());
  const std::optional<RunParts> parts = Parse(run_id);
  return parts.has_value() && parts->host == HostName() && parts->machine == machine &&
         StartOf(parts->pid) != parts->start;
}

Leases::Leases(const Store& store, LeaseOptions options)
    : folder_(store.folder()),
      options_(std::move(options)),
      run_id_(options_.run_id.empty() ? ThisRunId() : options_.run_id),
      started_at_seconds_(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch())) {
  if (options_.clock == nullptr) options_.clock = SteadyNow;
}

absl::StatusOr<std::unique_ptr<Leases>> Leases::Begin(const Store& store, LeaseOptions options) {
  std::unique_ptr<Leases> leases(new Leases(store, std::move(options)));
  for (const char* folder : {"running", "runs", "tmp"}) {
    OPENSET_RETURN_IF_ERROR(MakeFolders(JoinPath(leases->folder_, folder)));
  }
  OPENSET_RETURN_IF_ERROR(leases->Renew({}));
  leases->SweepDead();
  return leases;
}

Leases::~Leases() {
  while (!held_.empty()) Release(std::string(held_.begin()->first));
  RetryInterrupted([&] { return Calls().Unlink(RunPath(run_id_)); });
}

std::string Leases::RunningFolder() const { return JoinPath(folder_, "running"); }
std::string Leases::RunPath(const std::string& run_id) const {
  return absl::StrCat(folder_, "/runs/", run_id, kRecord);
}

Leases::Claim Leases::LastClaim(const std::string& key) const {
  Claim last;
  for (std::string file = key;;) {
    const absl::StatusOr<std::string> content = ReadFile(JoinPath(RunningFolder(), file));
    if (!content.ok()) return last;
    last = {file, std::string(absl::StripSuffix(*content, "\n"))};
    file = absl::StrCat(key, "~", last.name);
  }
}

absl::StatusOr<std::string> Leases::TryClaim(const std::vector<std::string>& keys) {
  for (size_t k = 0; k < keys.size(); ++k) {
    const absl::StatusOr<std::string> owner = TryClaimOne(keys[k]);
    if (owner.ok() && owner->empty()) continue;
    for (size_t claimed = 0; claimed < k; ++claimed) Release(keys[claimed]);
    return owner;
  }
  return "";
}

absl::StatusOr<std::string> Leases::TryClaimOne(const std::string& key) {
  const std::string name = absl::StrCat(run_id_, "+", ++claims_);
  const std::string temporary = TemporaryName(JoinPath(folder_, "tmp/claim"));
  while (true) {
    const Claim last = LastClaim(key);
    if (!last.name.empty() && RunOf(last.name) == run_id_) {  // which a disk that failed kept from being released
      held_[key] = last;
      return "";
    }
    if (!last.name.empty() && IsAlive(RunOf(last.name))) return RunOf(last.name);
    const std::string file = last.name.empty() ? key : absl::StrCat(key, "~", last.name);
    OPENSET_ASSIGN_OR_RETURN(const bool is_mine,
                             CreatePassingFile(JoinPath(RunningFolder(), file), absl::StrCat(name, "\n"), temporary));
    if (is_mine) {
      held_[key] = {file, name};
      return "";
    }
    // Another process was faster. Where its claim does not show yet (NFS keeps names for a while), it is not ours.
    if (LastClaim(key).name == last.name) return "another process";
  }
}

void Leases::Release(const std::string& key) {
  const auto held = held_.find(key);
  if (held == held_.end()) return;
  const std::string name = held->second.name;
  held_.erase(held);
  // One that was taken over belongs to who did.
  if (LastClaim(key).name != name) return;
  // The chain begins at KEY. What it leaves of takeovers keeps those from succeeding that come late to the same.
  RetryInterrupted([&] { return Calls().Unlink(JoinPath(RunningFolder(), key)); });
}

std::string Leases::OwnerOf(const std::string& key) {
  const Claim last = LastClaim(key);
  if (last.name.empty()) return "";
  const std::string run = RunOf(last.name);
  return IsAlive(run) ? run : "";
}

bool Leases::IsAlive(const std::string& run_id) {
  if (run_id == run_id_) return true;
  if (IsDead(run_id)) return false;
  RunState state;
  state.set_sequence(-1);  // of one that is not there
  state.set_lease_seconds(static_cast<int32_t>(absl::ToInt64Seconds(options_.lease)));
  ReadRecordFile(RunPath(run_id), &state).IgnoreError();
  const absl::Duration now = options_.clock();
  const auto [sighting, is_new] = seen_.try_emplace(run_id, Sighting{state.sequence(), now});
  if (sighting->second.sequence != state.sequence()) sighting->second = {state.sequence(), now};
  return now - sighting->second.since < absl::Seconds(state.lease_seconds());
}

absl::Status Leases::Renew(RunState state) {
  state.set_id(run_id_);
  state.set_host(HostName());
  state.set_pid(getpid());
  state.set_sequence(++sequence_);
  state.set_lease_seconds(static_cast<int32_t>(std::max<int64_t>(1, absl::ToInt64Seconds(options_.lease))));
  state.set_started_at_seconds(started_at_seconds_);
  state.set_updated_at_seconds(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
  // Readers come at any time; no process outlasts a power cut.
  return WritePassingFile(RunPath(run_id_), EncodeRecord(state), TemporaryName(JoinPath(folder_, "tmp/run")));
}

bool Leases::IsStoreThere() const { return FileExists(RunPath(run_id_)); }

std::vector<std::string> Leases::Lost() {
  std::vector<std::string> lost;
  for (const auto& [key, claim] : held_) {
    if (FileExists(absl::StrCat(RunningFolder(), "/", key, "~", claim.name))) lost.push_back(key);
  }
  for (const std::string& key : lost) held_.erase(key);
  return lost;
}

void Leases::SweepDead() {
  // A chain is taken over and released, never just removed: somebody may be about to take it over.
  for (const std::string& file : ListFolder(RunningFolder()).value_or(std::vector<std::string>{})) {
    const size_t takeover = file.find('~');
    if (takeover == std::string::npos) {
      const Claim last = LastClaim(file);
      if (last.name.empty() || !IsDead(RunOf(last.name))) continue;
      const absl::StatusOr<std::string> owner = TryClaimOne(file);
      if (owner.ok() && owner->empty()) Release(file);
    } else if (!FileExists(JoinPath(RunningFolder(), file.substr(0, takeover)))) {
      // The trace of a chain that is gone: nobody looks at what it took over any more after a day.
      struct stat info = {};
      const std::string path = JoinPath(RunningFolder(), file);
      if (stat(path.c_str(), &info) == 0 && absl::Now() - absl::FromTimeT(info.st_mtime) > absl::Hours(24)) {
        Calls().Unlink(path);
      }
    }
  }
  for (const std::string& file : ListFolder(JoinPath(folder_, "runs")).value_or(std::vector<std::string>{})) {
    const std::string run(absl::StripSuffix(file, kRecord));
    struct stat info = {};
    const bool is_old =
        stat(RunPath(run).c_str(), &info) == 0 && absl::Now() - absl::FromTimeT(info.st_mtime) > absl::Hours(7 * 24);
    if (IsDead(run) || is_old) Calls().Unlink(RunPath(run));
  }
}

std::vector<RunState> RunsOf(const Store& store) {
  std::vector<RunState> runs;
  const std::string folder = JoinPath(store.folder(), "runs");
  for (const std::string& file : ListFolder(folder).value_or(std::vector<std::string>{})) {
    RunState state;
    if (!absl::EndsWith(file, kRecord) || !ReadRecordFile(JoinPath(folder, file), &state).ok()) continue;
    if (!IsDead(state.id())) runs.push_back(std::move(state));
  }
  return runs;
}

}  // namespace openset
