#include "tools/cli/serve/routes.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/text/hex.h"

namespace openset {
namespace {

constexpr size_t kLongestPath = 100;

bool IsPage(absl::string_view text) {
  return !text.empty() && text.size() <= 6 && text[0] != '0' && absl::c_all_of(text, absl::ascii_isdigit);
}

}  // namespace

Route RouteOf(absl::string_view target) {
  const absl::string_view path = target.substr(0, target.find('?'));
  if (path.empty() || path[0] != '/' || path.size() > kLongestPath) return {};
  if (path == "/") return {Route::kOverview};
  if (path == "/failures") return {Route::kFailures};
  if (path == "/live.json") return {Route::kLive};
  if (path == "/status.json") return {Route::kStatus};
  if (path == "/metrics") return {Route::kMetrics};
  if (path == "/health") return {Route::kHealth};
  if (path == "/favicon.ico") return {Route::kIcon};
  const std::vector<absl::string_view> words = absl::StrSplit(path.substr(1), '/');
  const size_t count = words.size();
  if (count < 2) return {};
  const std::string id(words[1]);
  if (words[0] == "study" && IsHex(id, 16)) {
    if (count == 2) return {Route::kStudy, id};
    if (words[2] != "records") return {};
    if (count == 3) return {Route::kRecords, id};
    int page = 0;
    if (count == 4 && IsPage(words[3]) && absl::SimpleAtoi(words[3], &page)) return {Route::kRecords, id, page};
  }
  if (words[0] == "record" && count == 2 && IsSha256(id)) return {Route::kRecord, id};
  return {};
}

std::string StudyId(const std::string& name) { return Sha256Hex(name).substr(0, 16); }

}  // namespace openset
