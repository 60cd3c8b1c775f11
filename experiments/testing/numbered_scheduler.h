// For tests of the scheduler: gives actions their ids in the order in which they are added.
#ifndef OPENSET_EXPERIMENTS_TESTING_NUMBERED_SCHEDULER_H_
#define OPENSET_EXPERIMENTS_TESTING_NUMBERED_SCHEDULER_H_

#include <vector>

#include "experiments/engine/scheduler.h"

namespace openset {

class NumberedScheduler : public Scheduler {
 public:
  using Scheduler::Scheduler;

  ActionId Add(const Demand& demand, const Priority& priority, const std::vector<ActionId>& inputs) {
    const ActionId id{size_++};
    Scheduler::Add(id, demand, priority, inputs);
    return id;
  }
  int size() const { return size_; }

 private:
  int size_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_NUMBERED_SCHEDULER_H_
