#include "experiments/spec/spec_changes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/proto/field_path.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "eval/metrics/metric.h"
#include "experiments/spec/method.proto.h"
#include "google/protobuf/descriptor.h"

namespace openset {
namespace {

struct Setting {
  std::string path;
  std::string value;
  bool is_of_method;
};

absl::Status Invalid(const std::string& flag, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", message));
}

absl::StatusOr<Setting> ParseSetting(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Invalid(absl::StrCat("--set=", text), "write PATH=VALUE, --set=training.epochs=5");
  }
  Setting setting{text.substr(0, equals), text.substr(equals + 1), false};
  const std::vector<std::string> parts = absl::StrSplit(setting.path, absl::ByAnyChar(".["));
  setting.is_of_method = MethodSpec::descriptor()->FindFieldByName(parts[0]) != nullptr &&
                         ExperimentSpec::descriptor()->FindFieldByName(parts[0]) == nullptr;
  if (parts.back() == "file") {
    return Invalid(absl::StrCat("--set=", text), "name files in a spec or a method, where their content is looked at");
  }
  return setting;
}

// What an assignment that failed probably meant: "; did you mean training.epochs=5?"; or "".
std::string Meant(const Setting& setting) {
  std::string meant;
  const std::string usual = UsualPath(setting.path);
  if (usual != setting.path) meant = absl::StrCat("; did you mean ", usual, "=", setting.value, "?");
  if (absl::StrContains(setting.value, ',') && !absl::StrContains(setting.value, '[') &&
      !absl::StrContains(setting.value, '{')) {
    absl::StrAppend(&meant, "; to try each of several values, --axis=", usual, "=", setting.value);
  }
  return meant;
}

// "0..4"
absl::Status AddSeeds(absl::string_view range, const std::string& flag, ExperimentSpec* spec) {
  constexpr uint64_t kMost = 100000;
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(range, absl::MaxSplits("..", 1));
  uint64_t first = 0, last = 0;
  const bool is_range = absl::StrContains(range, "..");
  if (!absl::SimpleAtoi(ends.first, &first) || !absl::SimpleAtoi(is_range ? ends.second : ends.first, &last) ||
      last < first) {
    return Invalid(flag, absl::StrCat("'", range, "' is neither a seed nor a range of seeds; write 0..4 or 0,3"));
  }
  if (last - first >= kMost - spec->seed_size()) {
    return Invalid(flag, absl::StrCat("'", range, "': there may be at most ", kMost, " seeds"));
  }
  for (uint64_t more = 0; more <= last - first; ++more) spec->add_seed(first + more);
  return absl::OkStatus();
}

// "auroc: 1.0", also with further fields of Until ("auroc: 1.0 max_seeds: 3"), or the fields of Until.
absl::Status SetUntil(const std::string& text, ExperimentSpec* spec) {
  const std::string flag = absl::StrCat("--until=", text);
  spec->clear_until();
  if (absl::StrContains(text, '{')) {
    const absl::Status set = SetField("until", absl::StrCat("{ ", text, " }"), spec);
    return set.ok() ? set : Invalid(flag, set.message());
  }
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const std::pair<absl::string_view, absl::string_view> number_and_more =
      absl::StrSplit(absl::StripAsciiWhitespace(parts.second), absl::MaxSplits(absl::ByAnyChar(" ,"), 1));
  double difference = 0;
  if (!absl::SimpleAtod(number_and_more.first, &difference)) {
    return Invalid(flag,
                   "write METRIC: DIFFERENCE, such as --until='auroc: 1.0' or 'auroc: 1.0 max_seeds: 3', or the "
                   "fields of `until`");
  }
  if (const absl::string_view more = absl::StripAsciiWhitespace(number_and_more.second); !more.empty()) {
    const absl::Status set = SetField("until", absl::StrCat("{ ", more, " }"), spec);
    if (!set.ok()) return Invalid(flag, set.message());
  }
  std::vector<std::string> names;
  for (const MetricSpec& metric : spec->metric()) names.push_back(MetricName(metric));
  const absl::string_view given = absl::StripAsciiWhitespace(parts.first);
  const std::optional<std::string> name = ResolveSynonym(given, names);
  if (!name.has_value()) return Invalid(flag, UnknownName("metric of this study", std::string(given), names));
  const auto named = std::find(names.begin(), names.end(), *name);
  *spec->mutable_until()->mutable_metric() = spec->metric(static_cast<int>(named - names.begin()));
  spec->mutable_until()->set_difference(difference);
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> SpecChanges::Texts() const {
  std::vector<std::string> texts;
  for (const std::string& one : set) texts.push_back(absl::StrCat("--set=", one));
  if (!seeds.empty()) texts.push_back(absl::StrCat("--seeds=", seeds));
  if (!methods.empty()) texts.push_back(absl::StrCat("--methods=", absl::StrJoin(methods, ",")));
  for (const std::string& one : axis) texts.push_back(absl::StrCat("--axis=", one));
  if (!until.empty()) texts.push_back(absl::StrCat("--until=", until));
  return texts;
}

absl::Status CheckTags(const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    if (const std::string problem = NameProblem(tag); !problem.empty()) return Invalid("--tag", problem);
    if (std::count(tags.begin(), tags.end(), tag) > 1) {
      return Invalid("--tag", absl::StrCat("'", tag, "' is given twice"));
    }
  }
  return absl::OkStatus();
}

std::string VariantName(const std::string& study, absl::Span<const std::string> overrides) {
  if (overrides.empty()) return study;
  constexpr size_t kMostLength = 60, kDigits = 8;
  std::string readable;
  bool is_plain = true;
  for (absl::string_view change : overrides) {
    // So that two changes never look alike, other fields keep their whole path, axes are marked, and there is one "=".
    const bool is_axis = absl::ConsumePrefix(&change, "--axis=");
    if (is_axis || absl::ConsumePrefix(&change, "--set=")) absl::ConsumePrefix(&change, "training.");
    absl::ConsumePrefix(&change, "--");
    std::string until;  // "until=auroc-1.0"
    if (absl::StartsWith(change, "until=") && !absl::StrContains(change, '{')) {
      until = absl::StrReplaceAll(change, {{": ", "-"}, {":", "-"}});
      change = until;
    }
    is_plain &= std::count(change.begin(), change.end(), '=') == 1;
    absl::StrAppend(&readable, "+", is_axis ? "axis-" : "", change);
  }
  is_plain &= std::all_of(readable.begin(), readable.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("_.,+-=", static_cast<char>(c));
  });
  if (is_plain && readable.size() <= kMostLength) return absl::StrCat(study, readable);
  return absl::StrCat(study, "+", Sha256Hex(absl::StrJoin(overrides, "\n")).substr(0, kDigits));
}

absl::Status ChangeSpec(const SpecChanges& changes, ExperimentSpec* spec) {
  if (!changes.until.empty()) OPENSET_RETURN_IF_ERROR(SetUntil(changes.until, spec));
  for (const std::string& text : changes.set) {
    OPENSET_ASSIGN_OR_RETURN(const Setting setting, ParseSetting(text));
    if (setting.is_of_method) continue;
    const absl::Status set = SetField(setting.path, setting.value, spec);
    if (!set.ok()) return Invalid(absl::StrCat("--set=", text), absl::StrCat(set.message(), Meant(setting)));
  }
  if (!changes.seeds.empty()) {
    spec->clear_seed();
    for (const absl::string_view range : absl::StrSplit(changes.seeds, ',')) {
      OPENSET_RETURN_IF_ERROR(AddSeeds(range, absl::StrCat("--seeds=", changes.seeds), spec));
    }
  }
  for (const std::string& text : changes.axis) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return Invalid(absl::StrCat("--axis=", text), "write PATH=VALUE,VALUE, --axis=training.epochs=5,10");
    }
    Axis* axis = spec->add_axis();
    axis->set_path(text.substr(0, equals));
    const std::string first = axis->path().substr(0, axis->path().find_first_of(".["));
    if (MethodSpec::descriptor()->FindFieldByName(first) == nullptr) {
      if (ExperimentSpec::descriptor()->FindFieldByName(first) != nullptr) {
        return Invalid(absl::StrCat("--axis=", text),
                       absl::StrCat("'", first, "' is a field of the study, not of a method: --set '", axis->path(),
                                    "=[", text.substr(equals + 1), "]'"));
      }
      const std::string usual = UsualPath(axis->path());
      return Invalid(absl::StrCat("--axis=", text),
                     absl::StrCat("a method has no field '", first, "'",
                                  usual == axis->path() ? "" : absl::StrCat("; did you mean ", usual, "?")));
    }
    for (const absl::string_view value : absl::StrSplit(absl::string_view(text).substr(equals + 1), ',')) {
      axis->add_value(std::string(value));
    }
  }
  if (!changes.methods.empty()) spec->mutable_method()->Assign(changes.methods.begin(), changes.methods.end());
  return absl::OkStatus();
}

absl::Status ChangeMethods(const SpecChanges& changes, const std::vector<LoadedMethod*>& methods) {
  for (const std::string& text : changes.set) {
    OPENSET_ASSIGN_OR_RETURN(const Setting setting, ParseSetting(text));
    if (!setting.is_of_method) continue;
    absl::Status first;
    bool any = false;
    for (LoadedMethod* method : methods) {
      const absl::Status set = SetField(setting.path, setting.value, &method->spec);
      any = any || set.ok();
      if (!set.ok() && first.ok())
        first = Invalid(absl::StrCat("--set=", text, ": ", method->spec.name()),
                        absl::StrCat(set.message(), Meant(setting)));
    }
    if (!any && !methods.empty()) return first;
  }
  return absl::OkStatus();
}

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
                                       absl::Span<const std::string> overrides) {
  std::vector<SpecLine> elsewhere;
  for (const std::string& flag : overrides) {
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
