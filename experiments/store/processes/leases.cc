#include "experiments/store/processes/leases.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "core/process/steady_clock.h"
#include "core/process/subprocess.h"
#include "core/proto/proto_rules.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr char kRecord[] = ".rec";
// The n-th invalid claim in a chain of claims gets this name, followed by n.
constexpr char kDamaged[] = "damaged";
// In bytes. This program does not write anything longer.
constexpr size_t kLongestRunId = 140;
constexpr int64_t kLongestClaim = 200;
// Attempts to read a claim at once. Callers try again later.
constexpr int kMostReads = 3;
constexpr int64_t kLargestState = 16 << 20;

// Returns the start of a process in clock ticks since boot; "" if it does not exist, or is a zombie.
std::string StartOf(const std::string& pid) {
  pid_t process = 0;
  if (!absl::SimpleAtoi(pid, &process)) return "";
  const std::optional<ProcessStat> stat = StatOf(process);
  return stat.has_value() && !stat->has_ended() ? absl::StrCat(stat->start_ticks) : "";
}

std::string RunOf(const std::string& claim) { return claim.substr(0, claim.find('+')); }

bool IsRunId(const std::string& name) { return name.size() <= kLongestRunId && ParseProcessName(name).has_value(); }

// ID+NUMBER: the content of a claim's file, and part of the name of a claim that takes it over.
bool IsClaimName(const std::string& name) {
  const size_t plus = name.find('+');
  int64_t number = 0;
  return plus != std::string::npos && IsRunId(name.substr(0, plus)) &&
         absl::SimpleAtoi(name.substr(plus + 1), &number) && name.substr(plus + 1) == absl::StrCat(number);
}

bool IsDamageName(const std::string& name) {
  int number = 0;
  return absl::StartsWith(name, kDamaged) && absl::SimpleAtoi(name.substr(sizeof(kDamaged) - 1), &number);
}

// Marks the error of a claim that exists but can't be read; see IsUnreadableClaim().
constexpr char kUnreadable[] = "openset/unreadable-claim";

absl::Status Unreadable(absl::Status status) {
  status.SetPayload(kUnreadable, absl::Cord());
  return status;
}

// Returns the name of the claim in a file; "" if it is not a valid claim (or a folder or a pipe); nothing if it does
// not exist. Errors: Unreadable() if the system can't open or read it.
absl::StatusOr<std::optional<std::string>> ReadClaim(const std::string& path) {
  for (int attempt = 1;; ++attempt) {
    const absl::StatusOr<std::string> content = ReadFile(path, kLongestClaim);
    if (content.ok()) {
      std::string name(absl::StripSuffix(*content, "\n"));
      return IsClaimName(name) ? std::move(name) : "";
    }
    struct stat info = {};
    const bool is_there = lstat(path.c_str(), &info) == 0;
    if (!is_there && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    const bool is_link = is_there && S_ISLNK(info.st_mode);
    const bool is_other = absl::IsDataLoss(content.status()) || absl::IsInvalidArgument(content.status());
    if (!IsDiskError(content.status()) && (is_other || is_link)) return "";
    // A claim may have been made between the two calls. If it still can't be opened, the file system is at fault.
    if (attempt == kMostReads) return Unreadable(content.status());
  }
}

bool HasLease(const RunState& state) {
  return !state.has_lease_seconds() ||
         (state.lease_seconds() >= 1 && absl::Seconds(state.lease_seconds()) <= kLongestLease);
}

// Reads a process's state; empty if it is not a RunState of this run, or has a lease time that no process writes.
RunState ReadState(const std::string& path, const std::string& run_id) {
  RunState state;
  const absl::StatusOr<std::string> bytes = ReadFile(path, kLargestState);
  if (!bytes.ok() || !DecodeRecord(*bytes, &state).ok() || state.id() != run_id || !HasLease(state)) state.Clear();
  return state;
}

}  // namespace

std::string ThisRunId() {
  const std::string pid = absl::StrCat(getpid());
  return absl::StrCat(HostName(), ".", ProcessSpace(), ".", pid, ".", StartOf(pid));
}

std::string RunName(const std::string& id) {
  const std::optional<ProcessName> run = ParseProcessName(id);
  return run.has_value() ? absl::StrCat(run->host, ", process ", run->pid) : id;
}

bool IsDead(const std::string& run_id) {
  const std::optional<ProcessName> run = ParseProcessName(run_id);
  return run.has_value() && run->IsHere() && StartOf(absl::StrCat(run->pid)) != absl::StrCat(run->number);
}

bool IsUnreadableClaim(const absl::Status& status) { return status.GetPayload(kUnreadable).has_value(); }

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
  const std::string runs = JoinPath(leases->folder_, "runs");
  leases->runs_folder_ = OpenFile(runs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (leases->runs_folder_ < 0) return ErrorAt(errno, "open", runs);
  OPENSET_RETURN_IF_ERROR(leases->Renew({}));
  leases->SweepDead();
  return leases;
}

Leases::~Leases() {
  while (!held_.empty()) Release(std::string(held_.begin()->first));
  RetryInterrupted([&] { return Calls().Unlink(RunPath(run_id_)); });
  if (runs_folder_ >= 0) close(runs_folder_);
}

std::string Leases::RunningFolder() const { return JoinPath(folder_, "running"); }
std::string Leases::RunPath(const std::string& run_id) const {
  return absl::StrCat(folder_, "/runs/", run_id, kRecord);
}

absl::StatusOr<Leases::Claim> Leases::LastClaim(const std::string& key) const {
  Claim last;
  std::set<std::string> seen;
  int damages = 0;
  for (std::string file = key;;) {
    std::string name;
    if (seen.insert(file).second) {
      OPENSET_ASSIGN_OR_RETURN(std::optional<std::string> claim, ReadClaim(JoinPath(RunningFolder(), file)));
      if (!claim.has_value()) return last;
      name = *std::move(claim);
      last.file = file;
    }
    // Invalid claims, and claims that name each other in a circle, belong to nobody. Every process finds them in the
    // same order, and so takes over at the same file.
    last.name = name.empty() ? absl::StrCat(kDamaged, ++damages) : std::move(name);
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
    OPENSET_ASSIGN_OR_RETURN(const Claim last, LastClaim(key));
    if (!last.name.empty() && RunOf(last.name) == run_id_) {  // a failing disk kept it from being released
      held_[key] = last;
      return "";
    }
    if (!last.name.empty() && IsAlive(RunOf(last.name))) return RunOf(last.name);
    const std::string file = last.name.empty() ? key : absl::StrCat(key, "~", last.name);
    OPENSET_ASSIGN_OR_RETURN(
        const bool is_mine, CreateNonDurableFile(JoinPath(RunningFolder(), file), absl::StrCat(name, "\n"), temporary));
    if (is_mine) {
      held_[key] = {file, name};
      return "";
    }
    // Another process was faster. If its claim is not visible yet (NFS caches names for a while), the action is still
    // not ours.
    OPENSET_ASSIGN_OR_RETURN(const Claim now, LastClaim(key));
    if (now.name == last.name) return "another process";
  }
}

void Leases::Release(const std::string& key) {
  const auto held = held_.find(key);
  if (held == held_.end()) return;
  const std::string name = held->second.name;
  held_.erase(held);
  // A claim that was taken over belongs to the process that did so.
  const absl::StatusOr<Claim> last = LastClaim(key);
  if (!last.ok() || last->name != name) return;
  // The chain begins at KEY. The files of takeovers remain, so that late takeovers of the same claims fail.
  RetryInterrupted([&] { return Calls().Unlink(JoinPath(RunningFolder(), key)); });
}

std::string Leases::OwnerOf(const std::string& key) {
  const absl::StatusOr<Claim> last = LastClaim(key);
  if (!last.ok() || last->name.empty()) return "";
  const std::string run = RunOf(last->name);
  return IsAlive(run) ? run : "";
}

bool Leases::IsAlive(const std::string& run_id) {
  if (run_id == run_id_) return true;
  if (!IsRunId(run_id) || IsDead(run_id)) return false;
  const RunState state = ReadState(RunPath(run_id), run_id);
  const int64_t sequence = state.has_sequence() ? state.sequence() : -1;  // if there is no state
  const absl::Duration lease = state.has_lease_seconds() ? absl::Seconds(state.lease_seconds()) : options_.lease;
  const absl::Duration now = options_.clock();
  const auto [sighting, is_new] = seen_.try_emplace(run_id, Sighting{sequence, now});
  if (sighting->second.sequence != sequence) sighting->second = {sequence, now};
  return now - sighting->second.since < lease;
}

absl::Status Leases::Renew(RunState state) {
  state.set_id(run_id_);
  state.set_host(HostName());
  state.set_user_id(UserId());
  state.set_user_name(UserName());
  state.set_pid(getpid());
  state.set_sequence(++sequence_);
  state.set_lease_seconds(static_cast<int32_t>(std::max<int64_t>(1, absl::ToInt64Seconds(options_.lease))));
  state.set_started_at_seconds(started_at_seconds_);
  state.set_updated_at_seconds(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
  // Written atomically, since readers may come at any time; not synced, since no process outlasts a power cut.
  return WriteNonDurableFile(RunPath(run_id_), EncodeRecord(state), TemporaryName(JoinPath(folder_, "tmp/run")));
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
  // A chain is taken over and released, never just removed: another process may be about to take it over.
  for (const std::string& file : ListFolder(RunningFolder()).value_or(std::vector<std::string>{})) {
    const size_t takeover = file.find('~');
    if (takeover == std::string::npos) {
      const absl::StatusOr<Claim> last = LastClaim(file);
      if (!last.ok() || !IsClaimName(last->name) || !IsDead(RunOf(last->name))) continue;
      const absl::StatusOr<std::string> owner = TryClaimOne(file);
      if (owner.ok() && owner->empty()) Release(file);
    } else if (const std::string from = file.substr(takeover + 1);
               (IsClaimName(from) || IsDamageName(from)) &&
               !FileExists(JoinPath(RunningFolder(), file.substr(0, takeover)))) {
      // The rest of a chain that is gone: after a day, nobody is still looking at what it took over.
      struct stat info = {};
      const std::string path = JoinPath(RunningFolder(), file);
      if (StatFile(path, &info) == 0 && absl::Now() - absl::FromTimeT(info.st_mtime) > absl::Hours(24)) {
        Calls().Unlink(path);
      }
    }
  }
  for (const std::string& file : ListFolder(JoinPath(folder_, "runs")).value_or(std::vector<std::string>{})) {
    absl::string_view name = file;
    if (!absl::ConsumeSuffix(&name, kRecord) || !IsRunId(std::string(name))) continue;
    const std::string run(name);
    struct stat info = {};
    const bool is_old =
        StatFile(RunPath(run), &info) == 0 && absl::Now() - absl::FromTimeT(info.st_mtime) > absl::Hours(7 * 24);
    if (IsDead(run) || is_old) Calls().Unlink(RunPath(run));
  }
}

bool IsRunOf(const RunState& run, const std::string& experiment, const std::vector<std::string>& overrides) {
  return run.experiment() == experiment &&
         std::equal(run.overrides().begin(), run.overrides().end(), overrides.begin(), overrides.end());
}

namespace {

// The states of the runs whose processes are dead, or of all others.
std::vector<RunState> StatesOf(const Store& store, bool dead) {
  std::vector<RunState> runs;
  const std::string folder = JoinPath(store.folder(), "runs");
  for (const std::string& file : ListFolder(folder).value_or(std::vector<std::string>{})) {
    absl::string_view name = file;
    if (!absl::ConsumeSuffix(&name, kRecord) || !IsRunId(std::string(name)) || IsDead(std::string(name)) != dead)
      continue;
    RunState state = ReadState(JoinPath(folder, file), std::string(name));
    if (!std::isfinite(state.seconds_left())) state.clear_seconds_left();
    for (RunningAction& action : *state.mutable_running()) {  // a diverging training reports such numbers
      if (!action.has_progress()) continue;
      WorkProgress& progress = *action.mutable_progress();
      if (!std::isfinite(progress.loss())) progress.clear_loss();
      if (!std::isfinite(progress.metric_value())) progress.clear_metric_value();
      if (!std::isfinite(progress.images_per_second())) progress.clear_images_per_second();
    }
    if (state.has_id() && FindProblems(state).empty()) runs.push_back(std::move(state));
  }
  return runs;
}

}  // namespace

std::vector<RunState> RunsOf(const Store& store) { return StatesOf(store, /*dead=*/false); }

std::vector<RunState> KilledRunsOf(const Store& store) { return StatesOf(store, /*dead=*/true); }

}  // namespace openset
