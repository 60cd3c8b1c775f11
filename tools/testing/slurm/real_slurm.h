// A Slurm cluster of one node for tests, made of this machine's munged, slurmctld and slurmd (Debian: slurm-wlm,
// munge).
#ifndef OPENSET_TOOLS_TESTING_SLURM_REAL_SLURM_H_
#define OPENSET_TOOLS_TESTING_SLURM_REAL_SLURM_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace openset {

// Runs while the object exists. Slurm's commands find it through the environment (SLURM_CONF).
class RealSlurm {
 public:
  // Tries to start it, with this number of CPUs.
  explicit RealSlurm(int cpus);
  ~RealSlurm();
  RealSlurm(const RealSlurm&) = delete;
  RealSlurm& operator=(const RealSlurm&) = delete;

  // Why it does not run; "" if it does.
  const std::string& problem() const { return problem_; }

 private:
  std::string TryToStart(int cpus);
  pid_t Start(const std::vector<std::string>& arguments);

  std::string folder_;  // short, for sockets' names
  std::vector<pid_t> daemons_;
  std::string problem_;  // last: starting fills the others
};

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_SLURM_REAL_SLURM_H_
