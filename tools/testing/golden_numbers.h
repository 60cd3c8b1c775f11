// Numbers of whole runs, which repeat to the bit on one kind of processor and differ a little between kinds.
#ifndef OPENSET_TOOLS_TESTING_GOLDEN_NUMBERS_H_
#define OPENSET_TOOLS_TESTING_GOLDEN_NUMBERS_H_

#include <string>

#include "nlohmann/json.hpp"

namespace openset {

// What libraries choose their kernels by: vendor, family and model of the processor and LibTorch's CPU capability, as
// in "GenuineIntel 6/143 AVX512"; with --config=sse "... DEFAULT, oneDNN SSE41".
std::string Processor();

// The entry of this processor in tools/testing/testdata/`file`; null if it has none. To add one: run the test and
// take what KeepNumbers() leaves.
nlohmann::json GoldenNumbers(const std::string& file);

// Leaves {Processor(): numbers} as `file` in the test's outputs (bazel-testlogs/.../test.outputs).
void KeepNumbers(const std::string& file, const nlohmann::json& numbers);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_GOLDEN_NUMBERS_H_
