// The number of rounds of tests with faults.
#ifndef OPENSET_CORE_TESTING_FAULT_ROUNDS_H_
#define OPENSET_CORE_TESTING_FAULT_ROUNDS_H_

#include <cstdlib>
#include <string>

namespace openset {

// `often` if the environment has OPENSET_FAULTS=long (the full number of rounds, which takes minutes); otherwise
// `seldom`, so that tests stay short.
inline int Times(int often, int seldom) {
  const char* form = std::getenv("OPENSET_FAULTS");
  return form != nullptr && std::string(form) == "long" ? often : seldom;
}

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_FAULT_ROUNDS_H_
