#include "tools/testing/golden_numbers.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"

namespace openset {
namespace {

// LibTorch's own rule (aten/src/ATen/native/DispatchStub.cpp).
std::string Capability(const std::set<std::string>& flags) {
  const auto has = [&](const char* flag) { return flags.count(flag) > 0; };
  if (has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq") && has("fma")) return "AVX512";
  if (has("avx2") && has("fma")) return "AVX2";
  return "DEFAULT";
}

}  // namespace

std::string Processor() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> info;  // of the first processor
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::pair<std::string, std::string> entry = absl::StrSplit(line, absl::MaxSplits(':', 1));
    info[std::string(absl::StripAsciiWhitespace(entry.first))] = std::string(absl::StripAsciiWhitespace(entry.second));
  }
  const std::set<std::string> flags = absl::StrSplit(info["flags"], ' ');
  std::string capability = Capability(flags);
  if (const char* lowered = std::getenv("ATEN_CPU_CAPABILITY")) capability = absl::AsciiStrToUpper(lowered);
  if (const char* lowered = std::getenv("ONEDNN_MAX_CPU_ISA")) absl::StrAppend(&capability, ", oneDNN ", lowered);
  return absl::StrCat(info["vendor_id"], " ", info["cpu family"], "/", info["model"], " ", capability);
}

nlohmann::json GoldenNumbers(const std::string& file) {
  const nlohmann::json golden = nlohmann::json::parse(*ReadFile(absl::StrCat("tools/testing/testdata/", file)));
  return golden.value(Processor(), nlohmann::json());
}

void KeepNumbers(const std::string& file, const nlohmann::json& numbers) {
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr) return;
  std::ofstream(JoinPath(folder, file)) << nlohmann::json{{Processor(), numbers}}.dump(1) << "\n";
}

}  // namespace openset
