// Hostile model files, for the program and its worker. try_case.h lists the checks.
#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "tools/testing/hostile/model_cases.h"
#include "tools/testing/hostile/try_case.h"

namespace openset {
namespace {

TEST(HostileModels, GetErrorsWithinLimits) {
  for (const HostileCase& one : ModelCases()) EXPECT_EQ(TryCase(one), "") << absl::CHexEscape(one.what);
}

}  // namespace
}  // namespace openset
