// Finds operators that make the host wait for the device.
#ifndef OPENSET_CORE_TESTING_SYNCHRONISATION_CHECK_H_
#define OPENSET_CORE_TESTING_SYNCHRONISATION_CHECK_H_

#include <functional>
#include <string>
#include <vector>

namespace openset {

// Returns the operators that `run` calls, in forward and backward passes on this thread, whose result or shape on the
// host depends on values on the device: item(), nonzero(), indexing with a mask, equal() and the like. Also finds them
// on the CPU, where they cost nothing. Does not find copies from the device to the host.
std::vector<std::string> SynchronisingOperators(const std::function<void()>& run);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_SYNCHRONISATION_CHECK_H_
