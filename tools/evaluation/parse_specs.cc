#include "tools/evaluation/parse_specs.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/names/level_name.h"

namespace openset {
namespace {

// The parts between commas outside braces.
std::vector<std::string> SplitOutsideBraces(absl::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '{') - (c == '}');
    if (c == ',' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

std::vector<std::string> MembersOf(const google::protobuf::Descriptor& family) {
  const google::protobuf::OneofDescriptor* kind = family.FindOneofByName("kind");
  std::vector<std::string> names;
  for (int i = 0; i < kind->field_count(); ++i) names.push_back(kind->field(i)->name());
  return names;
}

// Parses "NAME" or "NAME { fields }" into the oneof `kind` of `spec`.
absl::Status ParseMember(absl::string_view flag, absl::string_view what, absl::string_view text,
                         google::protobuf::Message* spec) {
  const absl::string_view name = absl::StripAsciiWhitespace(text.substr(0, text.find_first_of(" {")));
  const std::vector<std::string> known = MembersOf(*spec->GetDescriptor());
  const std::optional<std::string> meant = MeantName(name, known);
  if (!meant.has_value()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", UnknownName(what, name, known)));
  const bool has_fields = text.find('{') != absl::string_view::npos;
  absl::StatusOr<TextSource> source =
      ParseTextProto(absl::StrCat(*meant, has_fields ? text.substr(name.size()) : " {}"), std::string(flag), spec);
  if (!source.ok()) return source.status();
  return CheckRules(*spec, *source);
}

}  // namespace

absl::StatusOr<std::vector<MetricSpec>> ParseMetrics(absl::string_view flag, absl::string_view text) {
  if (absl::StripAsciiWhitespace(text).empty()) return AllMetrics();
  std::vector<MetricSpec> metrics;
  for (const std::string& part : SplitOutsideBraces(text)) {
    absl::string_view member = absl::StripAsciiWhitespace(part);
    const size_t equals = member.substr(0, member.find('{')).find('=');
    absl::string_view name;
    if (equals != absl::string_view::npos) {
      name = absl::StripAsciiWhitespace(member.substr(0, equals));
      member = absl::StripAsciiWhitespace(member.substr(equals + 1));
    }
    MetricSpec& metric = metrics.emplace_back();
    if (std::optional<MetricSpec> at_level = MetricOfLevelName(member); at_level.has_value()) {
      metric = *std::move(at_level);
    } else {
      OPENSET_RETURN_IF_ERROR(ParseMember(flag, "metric", member, &metric));
    }
    if (!name.empty()) metric.set_name(std::string(name));
  }
  OPENSET_RETURN_IF_ERROR(Annotate(CheckMetrics(metrics), flag));
  return metrics;
}

std::string MeantMetric(absl::string_view name) {
  if (MetricOfLevelName(name).has_value()) return std::string(name);
  return MeantName(name, MembersOf(*MetricSpec::descriptor())).value_or(std::string(name));
}

absl::StatusOr<ScoreSpec> ParseScore(absl::string_view flag, absl::string_view text) {
  ScoreSpec spec;
  OPENSET_RETURN_IF_ERROR(ParseMember(flag, "score", absl::StripAsciiWhitespace(text), &spec));
  return spec;
}

}  // namespace openset
