#include "experiments/worker/execution.h"

#include <cstdlib>

#include "core/tensor/torch_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::StrEq;

TEST(ExecutionTest, TheProcessIsMadeRepeatableWhateverItsEnvironmentSays) {
  setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0", /*overwrite=*/1);
  ExecutionSpec spec;
  spec.set_threads(2);
  ConfigureExecution(spec);
  EXPECT_THAT(std::getenv("CUBLAS_WORKSPACE_CONFIG"), StrEq(":4096:8"));
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

}  // namespace
}  // namespace openset
