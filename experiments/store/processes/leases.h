// Leases decide which process works on which action, so that no two processes do the same work. They need no lock
// server, and they work over NFS and when a host crashes.
//
//   runs/ID.rec           the state of a process (RunState), which it rewrites regularly as its sign of life
//   running/KEY           the claim on an action: one line with the claim's name, ID+NUMBER
//   running/KEY~CLAIM     the claim of a process that took over from CLAIM, whose process is dead
//
// link(2) creates a claim, so only one process can win it. A claim never changes. It is valid while its process lives.
// On the same machine, openset checks whether the process exists. For another machine, it waits until the sign of life
// has not changed for the time stated in it, measured by its own clock. Clocks of different machines are never
// compared, so wrong clocks do no harm. A takeover names the claim that it replaces, so a second takeover of the same
// claim fails.
//
// An invalid file in the place of a claim is taken over at once, and so are claims that name each other in a circle. An
// invalid state, or one with a lease time that no process writes, counts as absent: a process that wants the action
// waits for its own lease time.
//
// A process that was suspended longer than its lease loses its claims (Lost()). If it commits a result anyway, nothing
// changes: the first writer wins, and both results have the same bits.
#ifndef OPENSET_EXPERIMENTS_STORE_PROCESSES_LEASES_H_
#define OPENSET_EXPERIMENTS_STORE_PROCESSES_LEASES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/store.h"

namespace openset {

// HOST.MACHINE.PID.START. MACHINE (8 hexadecimal digits) distinguishes boots and process namespaces. START
// distinguishes processes that had the same PID one after the other.
std::string ThisRunId();

// "HOST, process PID" for such an id.
std::string RunName(const std::string& id);

// Whether the process is known to have ended; only for processes of this machine.
bool IsDead(const std::string& run_id);

// Whether TryClaim() failed because the system can't open or read a claim that exists (a stale entry of a network file
// system, too many open files, another user's file that this one may not read). Nobody can say who has the action; the
// claims on other actions are unaffected. The message has the claim's path and the system's reason.
bool IsUnreadableClaim(const absl::Status& status);

// See DeploySpec.lease_seconds (experiments/engine/deploy.proto).
inline constexpr absl::Duration kLongestLease = absl::Minutes(10);

struct LeaseOptions {
  absl::Duration lease = absl::Minutes(2);
  // A clock that never steps, with any starting point. Absent: the system's.
  std::function<absl::Duration()> clock;
  // An id in the form of ThisRunId(). Absent: ThisRunId().
  std::string run_id;
};

// The leases of one process. Not thread-safe.
class Leases {
 public:
  // Writes the first sign of life and removes what dead processes of this machine left. Errors: a write error
  // (core/files/files.h); a read error (core/files/system_calls.h) if runs/ can't be opened.
  static absl::StatusOr<std::unique_ptr<Leases>> Begin(const Store& store, LeaseOptions options = {});
  // Releases all claims and removes runs/ID.rec.
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  const std::string& run_id() const { return run_id_; }
  absl::Duration lease() const { return options_.lease; }

  // Claims all of these actions, or none. Returns "" if it succeeds, otherwise the id of the run that has one of them.
  // It also succeeds for actions that this process already holds: a failing disk may have kept a claim from being
  // released. Errors: a write error; a read error of a claim that exists but can't be read (IsUnreadableClaim()).
  // Doesn't wait and try again.
  absl::StatusOr<std::string> TryClaim(const std::vector<std::string>& keys);
  void Release(const std::string& key);

  // The run with a valid claim on the action; "" if there is none.
  std::string OwnerOf(const std::string& key);

  // Writes a sign of life with `state`. Call it several times within lease(). Errors: a write error.
  absl::Status Renew(RunState state);
  // Whether the store still exists, judged by the last sign of life. An unmounted file system leaves an empty folder.
  bool IsStoreThere() const;
  // The claims of this process that others have taken over. Forgets them.
  std::vector<std::string> Lost();

 private:
  Leases(const Store& store, LeaseOptions options);

  struct Claim {
    std::string file;  // its name in running/; "" if there is none
    std::string name;  // the file's content
  };
  struct Sighting {
    int64_t sequence;
    absl::Duration since;
  };

  // Returns the latest claim, which nobody has taken over.
  absl::StatusOr<Claim> LastClaim(const std::string& key) const;
  absl::StatusOr<std::string> TryClaimOne(const std::string& key);
  bool IsAlive(const std::string& run_id);
  void SweepDead();
  std::string RunningFolder() const;
  std::string RunPath(const std::string& run_id) const;

  const std::string folder_;  // of the store
  LeaseOptions options_;
  const std::string run_id_;
  const double started_at_seconds_;
  int runs_folder_ = -1;  // a descriptor of runs/, by which AskToStop() recognises this process
  int64_t sequence_ = 0;
  int64_t claims_ = 0;
  std::map<std::string, Claim> held_;     // by key
  std::map<std::string, Sighting> seen_;  // of other runs
};

// The states of the runs on a store. Leaves out runs that are known to be dead, and states that break the rules of
// their schema: they are untrusted.
std::vector<RunState> RunsOf(const Store& store);
// The last states of processes of this machine that ended without removing them (killed, or out of memory). The next
// Leases::Begin() on this machine removes them.
std::vector<RunState> KilledRunsOf(const Store& store);

// Whether the run is of this study with these changes by the command line (TrialSpec.overrides).
bool IsRunOf(const RunState& run, const std::string& experiment, const std::vector<std::string>& overrides);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_PROCESSES_LEASES_H_
