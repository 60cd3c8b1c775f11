#include "experiments/worker/execution.h"

#include <cstdlib>
#include <string>

#include "core/tensor/torch_runtime.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using ::testing::StrEq;

TEST(ExecutionTest, MakesTheProcessRepeatableInAnyEnvironment) {
  setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0", /*overwrite=*/1);
  ExecutionSpec spec;
  spec.set_threads(2);
  ConfigureExecution(spec);
  EXPECT_THAT(std::getenv("CUBLAS_WORKSPACE_CONFIG"), StrEq(":4096:8"));
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
  EXPECT_FALSE(at::globalContext().allowTF32CuDNN());
}

TEST(ExecutionTest, ProductsAreRoundedToTf32OnlyIfTheSpecSaysSo) {
  ExecutionSpec spec;
  spec.set_precision(ExecutionSpec::TF32);
  ConfigureExecution(spec);
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  EXPECT_TRUE(at::globalContext().allowTF32CuDNN());
  spec.set_precision(ExecutionSpec::FP32);
  ConfigureExecution(spec);  // the next action of the worker
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
  EXPECT_FALSE(at::globalContext().allowTF32CuDNN());
}

// oneDNN computes convolutions: other kernels than LibTorch's give other bits.
TEST(ExecutionTest, NamesTheKernelsOfBothLibraries) {
  const auto kernels = [](const char* isa) {
    setenv("ONEDNN_MAX_CPU_ISA", isa, /*overwrite=*/1);
    StageProvenance provenance;
    DescribeExecution(ExecutionSpec(), at::Device("cpu"), &provenance);
    return provenance.cpu_capability();
  };
  const std::string own = at::get_cpu_capability();
  EXPECT_EQ(kernels("sse41"), own + ", oneDNN SSE41");
  for (const char* none : {"", "ALL", "default", "no\nname", own.c_str()}) EXPECT_EQ(kernels(none), own) << none;
  unsetenv("ONEDNN_MAX_CPU_ISA");
}

}  // namespace
}  // namespace openset
