// Pins each action to its own CPUs.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_PINS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_PINS_H_

#include <sys/types.h>

#include <vector>

namespace openset {

// Divides the CPUs of this process among actions.
class CpuPins {
 public:
  // `slots`: how many single-threaded actions run at the same time. Nothing is pinned unless this is the number of
  // CPUs: with fewer slots, other programs may use the machine too, and the system chooses free CPUs better.
  explicit CpuPins(int slots);

  bool pins() const { return pins_; }

  // Takes the first `count` CPUs that nobody has taken; fewer, or none, if not enough are left.
  std::vector<int> Take(int count);
  void GiveBack(const std::vector<int>& cpus);

  // Binds all current threads of the process, and those that they will start, to these CPUs; if `cpus` is empty, to all
  // CPUs of this process. Does nothing if the system refuses.
  void Pin(pid_t process, const std::vector<int>& cpus) const;

 private:
  std::vector<int> all_, free_;  // ascending
  bool pins_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_PINS_H_
