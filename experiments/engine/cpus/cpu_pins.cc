#include "experiments/engine/cpus/cpu_pins.h"

#include <sched.h>

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"

namespace openset {

CpuPins::CpuPins(int slots) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) all_.push_back(cpu);
    }
  }
  free_ = all_;
  pins_ = slots > 1 && slots == static_cast<int>(all_.size());
}

std::vector<int> CpuPins::Take(int count) {
  if (!pins_) return {};
  const auto end = free_.begin() + std::min<size_t>(count, free_.size());
  std::vector<int> taken(free_.begin(), end);
  free_.erase(free_.begin(), end);
  return taken;
}

void CpuPins::GiveBack(const std::vector<int>& cpus) {
  free_.insert(free_.end(), cpus.begin(), cpus.end());
  std::sort(free_.begin(), free_.end());
}

void CpuPins::Pin(pid_t process, const std::vector<int>& cpus) const {
  if (!pins_) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus.empty() ? all_ : cpus) CPU_SET(cpu, &set);
  const std::string tasks = absl::StrCat("/proc/", process, "/task");
  for (const std::string& name : ListFolder(tasks).value_or(std::vector<std::string>{})) {
    int thread = 0;
    if (absl::SimpleAtoi(name, &thread)) sched_setaffinity(thread, sizeof(set), &set);
  }
}

}  // namespace openset
