// The time of readers by the number of items in their input, from 2,500 to 160,000. Target: the same time for each
// item, so that the fitted complexity is N (or N log N), not N^2.
//
//   bazel run -c opt //core/files:large_input_benchmark
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/files/formats/pickle.h"
#include "core/files/formats/safetensors.h"
#include "core/files/temporary_folder.h"

namespace openset {
namespace {

std::string SafetensorsOf(int64_t names) {
  Safetensors content;
  for (int64_t i = 0; i < names; ++i) content.arrays[absl::StrCat("layer.", i)] = {ArrayType::kU8, {1}, "x"};
  return EncodeSafetensors(content).value();
}

void BM_Safetensors(benchmark::State& state) {
  const std::string bytes = SafetensorsOf(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(DecodeSafetensors(bytes).ok());
  state.SetComplexityN(state.range(0));
}

void BM_Npz(benchmark::State& state) {
  const TemporaryFolder folder = TemporaryFolder::Make("npz_benchmark").value();
  const std::string path = JoinPath(folder.path(), "many.npz");
  NpzArrays arrays;
  for (int64_t i = 0; i < state.range(0); ++i) arrays[absl::StrCat(i)] = MakeNpy(std::vector<float>{1}, {1});
  if (!WriteNpz(path, arrays).ok()) std::abort();
  for (auto _ : state) benchmark::DoNotOptimize(ReadNpz(path).ok());
  state.SetComplexityN(state.range(0));
}

void BM_Pickle(benchmark::State& state) {
  std::string bytes = "\x80\x02}(";
  for (int64_t i = 0; i < state.range(0); ++i) absl::StrAppend(&bytes, "K\x01]");
  absl::StrAppend(&bytes, "u.");
  for (auto _ : state) benchmark::DoNotOptimize(ReadPickle(bytes, {}).ok());
  state.SetComplexityN(state.range(0));
}

BENCHMARK(BM_Safetensors)->RangeMultiplier(8)->Range(2500, 160000)->Complexity()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Npz)->RangeMultiplier(8)->Range(2500, 160000)->Complexity()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Pickle)->RangeMultiplier(8)->Range(2500, 160000)->Complexity()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace openset
