// Keeping each action on CPUs of its own.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_PINS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_PINS_H_

#include <sys/types.h>

#include <vector>

namespace openset {

// The CPUs of this process, to be shared out.
class CpuPins {
 public:
  // `slots`: how many actions of one thread run at the same time. Nothing is pinned unless that is as many as there are
  // CPUs: with fewer, others may use the machine too, and they choose better what is free.
  explicit CpuPins(int slots);

  bool pins() const { return pins_; }

  // So many CPUs that nobody has, the first ones; fewer, or none, if there are no more.
  std::vector<int> Take(int count);
  void GiveBack(const std::vector<int>& cpus);

  // Binds all threads that the process has now, and those that they will start, to these CPUs; none: to all of ours.
  // Changes nothing where the system refuses.
  void Pin(pid_t process, const std::vector<int>& cpus) const;

 private:
  std::vector<int> all_, free_;  // ascending
  bool pins_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CPUS_CPU_PINS_H_
