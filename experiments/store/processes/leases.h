// Which process works on which action, so that no two do the same: without a lock server, over NFS too, and past the
// death of a host.
//
//   runs/ID.rec           what a process says of itself (RunState); it rewrites it as its sign of life
//   running/KEY           the claim on an action: a line with the claim's own name, ID+NUMBER
//   running/KEY~CLAIM     the claim of who took over from CLAIM, whose process is dead
//
// A claim appears by link(2), which one process only can win, and never changes. It holds as long as its process lives:
// on this machine until there is no such process, elsewhere until its sign of life has not changed for the time that it
// states, by the clock of who looks. No two clocks are compared, so that steps of either do no harm; whoever comes
// first to a dead host's action waits for that time. As a takeover names what it takes over, one that comes late fails.
//
// What is no claim, in the place of one, is nobody's, and is taken over at once; so are claims that name each other in
// a circle. A state that is none, or has a lease that no process writes, counts as absent: whoever comes waits for the
// time of its own lease.
//
// A process that slept past its lease finds its claims lost (Lost()). What it commits all the same changes nothing: the
// first writer of a result wins, and both have the same bits.
#ifndef OPENSET_EXPERIMENTS_STORE_PROCESSES_LEASES_H_
#define OPENSET_EXPERIMENTS_STORE_PROCESSES_LEASES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/store.h"

namespace openset {

// HOST.MACHINE.PID.START. MACHINE tells boots and namespaces of processes apart (8 hexadecimal digits), START those
// that had the same number one after the other.
std::string ThisRunId();

// "HOST, process PID" of such an id.
std::string RunName(const std::string& id);

// Whether the process is known to be gone: it was on this machine.
bool IsDead(const std::string& run_id);

// See DeploySpec.lease_seconds (experiments/engine/deploy.proto).
inline constexpr absl::Duration kLongestLease = absl::Minutes(10);

struct LeaseOptions {
  absl::Duration lease = absl::Minutes(2);
  // Since any fixed point of time; does not step. Absent: the system's.
  std::function<absl::Duration()> clock;
  // Absent: ThisRunId(). Of its form.
  std::string run_id;
};

// The leases of one process. Not for several threads.
class Leases {
 public:
  // Writes the first sign of life, and cleans up behind dead processes of this machine. Errors: those of writing.
  static absl::StatusOr<std::unique_ptr<Leases>> Begin(const Store& store, LeaseOptions options = {});
  // Releases what is claimed and removes runs/ID.rec.
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  const std::string& run_id() const { return run_id_; }
  absl::Duration lease() const { return options_.lease; }

  // Claims all of these actions, or none. Returns the id of the run that has one of them; "" if they are claimed, also
  // where this one has had them already, as a disk that fails may keep a claim from being released. Errors: those of
  // writing; kPermissionDenied for a claim that may not be read.
  absl::StatusOr<std::string> TryClaim(const std::vector<std::string>& keys);
  void Release(const std::string& key);

  // The run that has a live claim on the action; "" if there is none.
  std::string OwnerOf(const std::string& key);

  // The sign of life, with what `state` says beside. To be given several times within lease(). Errors: those of
  // writing.
  absl::Status Renew(RunState state);
  // Whether the store is still there, and not an empty folder in its place, as a file system that was unmounted leaves
  // it: the last sign of life is.
  bool IsStoreThere() const;
  // Claims of this process that others have taken over, which forgets them.
  std::vector<std::string> Lost();

 private:
  Leases(const Store& store, LeaseOptions options);

  struct Claim {
    std::string file;  // its name in running/; "" if there is none
    std::string name;  // what the file holds
  };
  struct Sighting {
    int64_t sequence;
    absl::Duration since;
  };

  // The claim that nobody took over.
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
  int64_t sequence_ = 0;
  int64_t claims_ = 0;
  std::map<std::string, Claim> held_;     // by key
  std::map<std::string, Sighting> seen_;  // of other runs
};

// What the runs of a store say of themselves. Left out are those that are known to be dead, and what breaks the rules
// of its schema: anybody who may write into the store may have made it.
std::vector<RunState> RunsOf(const Store& store);

// Whether it is of this experiment with these changes of the command line (TrialSpec.laid_over).
bool IsRunOf(const RunState& run, const std::string& experiment, const std::vector<std::string>& laid_over);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_PROCESSES_LEASES_H_
