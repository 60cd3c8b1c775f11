#include "experiments/engine/cpus/cpu_slots.h"

namespace openset {

int CpuSlots::Begin(ActionId action, const Stage& stage, const Demand& demand) {
  const int threads = demand.cpu_threads;
  const int slots = threads + (stage.CanUseMoreCpus(threads) ? scheduler_.Widen(action) : 0);
  // An action on a GPU has no use for more CPUs.
  if (demand.gpu_shares == 0 && stage.CanTakeMoreCpus(threads)) growing_[action] = slots;
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
