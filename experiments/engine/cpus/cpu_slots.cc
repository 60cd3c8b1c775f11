#include "experiments/engine/cpus/cpu_slots.h"

namespace openset {

int CpuSlots::Begin(ActionId action, const Stage& stage, const Demand& demand) {
  const int threads = demand.cpu_threads;
  if (!stage.CanUseMoreCpus(threads)) return threads;
  const int slots = threads + scheduler_.Widen(action);
  // Actions on a GPU can't use CPU slots that become free later.
  if (demand.gpu_shares == 0) growing_[action] = slots;
  return slots;
}

void CpuSlots::GiveFree() {
  if (growing_.empty()) return;
  auto& [action, slots] = *growing_.begin();
  const int more = scheduler_.Widen(action);
  if (more == 0) return;
  slots += more;
  engine_.GiveCpus(action, slots);
}

}  // namespace openset
