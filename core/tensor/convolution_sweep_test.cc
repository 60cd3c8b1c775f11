// LibTorch's convolutions with each instruction set of this CPU, under glibc's malloc checker, which stops the program
// at the first block with a write beyond its end.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/process/subprocess.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

[[maybe_unused]] constexpr char kChecker[] = "libc_malloc_debug.so.0";

// The last lines of a log, or all of it.
std::string EndOf(const std::string& log) {
  constexpr size_t kLongest = 1000;
  return log.size() <= kLongest ? log : log.substr(log.size() - kLongest);
}

struct Result {
  ProcessEnd end;
  std::string log;
};

Result Sweep(const std::string& one_dnn, const std::string& aten, std::vector<std::string> arguments) {
  const std::string log = absl::StrCat(testing::TempDir(), "/sweep_", one_dnn, ".log");
  std::filesystem::remove(log);
  std::map<std::string, std::string> environment = {
      {"OMP_NUM_THREADS", "1"}, {"ONEDNN_MAX_CPU_ISA", one_dnn}, {"ATEN_CPU_CAPABILITY", aten}};
#ifndef __SANITIZE_ADDRESS__  // which checks more
  environment["LD_PRELOAD"] = kChecker;
  environment["MALLOC_CHECK_"] = "3";
#endif
  arguments.insert(arguments.begin(), RunfilesFolder().value() + "/openset/core/tensor/convolution_sweep");
  auto process = Subprocess::Start(arguments, environment, log);
  EXPECT_TRUE(process.ok()) << process.status();
  return {(*process)->Wait(), ReadFile(log).value_or("")};
}

void ExpectRight(const std::string& one_dnn, const std::string& aten) {
  const bool all = std::string(std::getenv("OPENSET_SWEEP")) == "long";
  const Result result = Sweep(one_dnn, aten, all ? std::vector<std::string>{"long"} : std::vector<std::string>{});
  EXPECT_TRUE(result.end.ok()) << result.end.Text() << "\n" << EndOf(result.log);
  const std::vector<std::string> lines = absl::StrSplit(result.log, '\n');
  EXPECT_TRUE(absl::StrContains(result.log, ", 0 shapes wrong")) << EndOf(result.log);
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, "wrong: ")) ADD_FAILURE() << line;
    if (absl::StrContains(line, "computed")) std::cout << line << "\n";
  }
}

// LibTorch believes the environment variable; oneDNN never uses more than the CPU has.
TEST(ConvolutionSweep, Sse41) { ExpectRight("SSE41", "default"); }

TEST(ConvolutionSweep, Avx2) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no AVX2 here";
  ExpectRight("AVX2", "avx2");
}

TEST(ConvolutionSweep, Avx512) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "no AVX-512 here";
  ExpectRight("AVX512_CORE", "avx512");
}

TEST(ConvolutionSweep, WhatThisCpuHas) { ExpectRight("DEFAULT", ""); }

// The checker works, and oneDNN still has the bug. Without the bug, the guard can be removed.
TEST(ConvolutionSweep, WithoutTheGuardTheCheckerStopsIt) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no AVX2 here";
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "LibTorch's own code is not built for AddressSanitizer";
#else
  const Result result = Sweep("AVX2", "avx2", {"unguarded"});
  EXPECT_NE(result.end.signal, 0) << result.end.Text() << "\n" << EndOf(result.log);
#endif
}

}  // namespace
}  // namespace openset
