// How often tests try a fault.
#ifndef OPENSET_CORE_TESTING_FAULT_ROUNDS_H_
#define OPENSET_CORE_TESTING_FAULT_ROUNDS_H_

#include <cstdlib>
#include <string>

namespace openset {

// `often` with OPENSET_FAULTS=long in the environment: as often as the project states, which takes minutes. Else
// `seldom`, so that tests stay short.
inline int Times(int often, int seldom) {
  const char* form = std::getenv("OPENSET_FAULTS");
  return form != nullptr && std::string(form) == "long" ? often : seldom;
}

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_FAULT_ROUNDS_H_
