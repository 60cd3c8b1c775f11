// Expected numbers of complete runs. They are bit-identical on one kind of processor and differ slightly between kinds.
#ifndef OPENSET_TOOLS_TESTING_GOLDEN_NUMBERS_H_
#define OPENSET_TOOLS_TESTING_GOLDEN_NUMBERS_H_

#include <string>

#include "nlohmann/json.hpp"

namespace openset {

// The properties by which libraries choose their kernels: the processor's vendor, family and model, and LibTorch's CPU
// capability. "GenuineIntel 6/143 AVX512"; with --config=sse "... DEFAULT, oneDNN SSE41".
std::string Processor();

// The entry of this processor in tools/testing/testdata/`file`; null if it has none. To add one, run the test and copy
// the file that KeepNumbers() writes.
nlohmann::json GoldenNumbers(const std::string& file);

// Writes {Processor(): numbers} to `file` in the test's outputs (bazel-testlogs/.../test.outputs).
void KeepNumbers(const std::string& file, const nlohmann::json& numbers);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_GOLDEN_NUMBERS_H_
