// Code that must not make the host wait for the device.
#ifndef OPENSET_CORE_TESTING_SYNCHRONISATION_CHECK_H_
#define OPENSET_CORE_TESTING_SYNCHRONISATION_CHECK_H_

#include <functional>
#include <string>
#include <vector>

namespace openset {

// The operators `run` calls, in forward and backward passes on this thread, whose result or its shape is on the host
// and depends on values on the device: item(), nonzero(), indexing with a mask, equal() and the like. On the CPU they
// cost nothing, so that this is how a test on the CPU finds them. Copies from the device to the host are not found.
std::vector<std::string> SynchronisingOperators(const std::function<void()>& run);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_SYNCHRONISATION_CHECK_H_
