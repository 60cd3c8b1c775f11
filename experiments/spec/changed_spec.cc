#include "experiments/spec/changed_spec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/proto/field_path.h"
#include "core/proto/text_proto.h"
#include "experiments/spec/method.proto.h"
#include "google/protobuf/descriptor.h"

namespace openset {
namespace {

constexpr size_t kMostCompared = 20'000'000;  // cells of the table below

std::vector<std::string> LinesOf(const ExperimentSpec& spec) {
  return absl::StrSplit(ToText(spec), '\n', absl::SkipEmpty());
}

// Marks the lines that are not in a longest common subsequence of `lines` and `written`.
std::vector<SpecLine> Compared(const std::vector<std::string>& written, const std::vector<std::string>& lines) {
  std::vector<SpecLine> marked;
  for (const std::string& line : lines) marked.push_back({line, false});
  const size_t columns = lines.size() + 1;
  if ((written.size() + 1) * columns > kMostCompared) return marked;
  std::vector<int> common((written.size() + 1) * columns);  // of the lines from an index on
  for (size_t w = written.size(); w-- > 0;) {
    for (size_t l = lines.size(); l-- > 0;) {
      common[w * columns + l] = written[w] == lines[l]
                                    ? common[(w + 1) * columns + l + 1] + 1
                                    : std::max(common[(w + 1) * columns + l], common[w * columns + l + 1]);
    }
  }
  size_t w = 0;
  for (size_t l = 0; l < lines.size(); ++l) {
    while (w < written.size() && written[w] != lines[l] &&
           common[(w + 1) * columns + l] >= common[w * columns + l + 1]) {
      ++w;
    }
    const bool same = w < written.size() && written[w] == lines[l];
    marked[l].changed = !same;
    w += same;
  }
  return marked;
}

}  // namespace

std::vector<SpecLine> ChangedSpecLines(const ExperimentSpec& written, ExperimentSpec changed,
                                       absl::Span<const std::string> laid_over) {
  std::vector<SpecLine> elsewhere;
  for (const std::string& flag : laid_over) {
    absl::string_view setting = flag;
    if (!absl::ConsumePrefix(&setting, "--set=")) continue;
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(setting, absl::MaxSplits('=', 1));
    const std::string first = absl::StrCat(parts.first.substr(0, parts.first.find_first_of(".[")));
    if (ExperimentSpec::descriptor()->FindFieldByName(first) != nullptr) continue;  // ChangeSpec() has set it
    if (!SetField(parts.first, parts.second, changed.mutable_override()).ok()) {
      elsewhere.push_back({absl::StrCat("# ", flag), true});
    }
  }
  std::vector<SpecLine> lines = Compared(LinesOf(written), LinesOf(changed));
  lines.insert(lines.end(), elsewhere.begin(), elsewhere.end());
  return lines;
}

}  // namespace openset
