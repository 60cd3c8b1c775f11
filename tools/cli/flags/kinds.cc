#include "tools/cli/flags/kinds.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "data/augment/augment.pb.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/published/published.pb.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/spec/resolve/resolve_method.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {

std::vector<std::string> MethodNames(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    names.push_back(absl::StrJoin(absl::StrSplit(argument, ','), "+", [](std::string* out, absl::string_view path) {
      absl::StrAppend(out, std::filesystem::path(std::string(path)).stem().string());
    }));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) return arguments;
  }
  return names;
}

namespace {

using google::protobuf::Descriptor;
using google::protobuf::OneofDescriptor;

// The first sentence. "et al.", "vs." and text in brackets don't end it.
std::string FirstSentence(const std::string& text) {
  const std::string line = absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar("\n "), absl::SkipEmpty()), " ");
  int depth = 0;
  for (size_t end = 0; end + 1 < line.size(); ++end) {
    depth += (line[end] == '(') - (line[end] == ')');
    if (line[end] != '.' || line[end + 1] != ' ' || depth > 0) continue;
    const absl::string_view before = absl::string_view(line).substr(0, end);
    if (!absl::EndsWith(before, " al") && !absl::EndsWith(before, " vs")) return line.substr(0, end + 1);
  }
  return line;
}

// The schema's short comment after a member ("unknown = positive"), which distinguishes it from others of the same
// message.
std::string WordsBehind(const std::string& comment) {
  const std::vector<std::string> lines = absl::StrSplit(comment, '\n', absl::SkipEmpty());
  if (lines.empty() || absl::EndsWith(lines.back(), ".")) return "";
  return std::string(absl::StripAsciiWhitespace(lines.back()));
}

// The path of a file of openset, without the installation's folder.
std::string ShownPath(const std::string& file) {
  for (const char* top : {"/experiments/", "/data/"}) {
    const size_t place = file.rfind(absl::StrCat("openset", top));
    if (place != std::string::npos) return file.substr(place + std::string("openset/").size());
  }
  return file;
}

// A kind whose entries are the files of folders, each a `Message`.
template <typename Message>
Kind FileKind(const std::string& name, const std::string& what, const std::vector<std::string>& folders,
              std::function<std::string(const Message&)> line, const SchemaComments& comments) {
  const auto read = [name, folders](const std::string& entry, Message* message) -> absl::StatusOr<std::string> {
    OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile(name, entry, folders, ""));
    OPENSET_RETURN_IF_ERROR(ReadTextProto(path, message, Completeness::kPartial).status());
    return path;
  };
  Kind kind{name, what, nullptr, nullptr};
  kind.list = [=]() -> absl::StatusOr<std::vector<KindEntry>> {
    std::vector<KindEntry> entries;
    for (const std::string& entry : NamesIn(folders)) {
      Message message;
      OPENSET_RETURN_IF_ERROR(read(entry, &message).status());
      entries.push_back({entry, line(message)});
    }
    return entries;
  };
  kind.left_out = [folders] {
    std::vector<std::string> lines;
    NamesIn(folders, &lines);
    return lines;
  };
  kind.show = [=, &comments](const std::string& entry) -> absl::StatusOr<std::string> {
    Message message;
    OPENSET_ASSIGN_OR_RETURN(const std::string path, read(entry, &message));
    return absl::StrCat("# From ", ShownPath(path), "\n\n", ToCommentedText(message, comments));
  };
  return kind;
}

Kind MethodKind(const SpecFolders& folders, const SchemaComments& comments) {
  Kind kind = FileKind<MethodSpec>(
      "method", "combinations of the parts below; a spec's `method`", folders.methods,
      [](const MethodSpec& method) { return absl::StrCat(method.title(), ": ", FirstSentence(method.reference())); },
      comments);
  kind.show = [folders, &comments](const std::string& name) -> absl::StatusOr<std::string> {
    OPENSET_ASSIGN_OR_RETURN(LoadedMethod method, LoadMethod(name, folders, ""));
    std::string text = "# Put together from\n";
    for (const MethodLayer& layer : method.layers) absl::StrAppend(&text, "#   ", ShownPath(layer.source.file()), "\n");
    FillDefaults(&method.spec);
    return absl::StrCat(text, "\n", ToCommentedText(method.spec, comments));
  };
  return kind;
}

// The fields next to the member in every message of its family: lambda of a loss term, interval of a metric.
std::string FieldsBeside(const Descriptor& family, const SchemaComments& comments) {
  std::string text;
  for (int f = 0; f < family.field_count(); ++f) {
    const google::protobuf::FieldDescriptor& field = *family.field(f);
    if (field.containing_oneof() != nullptr) continue;
    if (text.empty()) text = absl::StrCat("\nBeside it, of every ", family.name(), ":\n\n");
    const std::string takes = FieldRulesText(field);
    absl::StrAppend(&text, field.name(), takes.empty() ? "" : absl::StrCat("   ", takes), "\n");
    for (absl::string_view line : absl::StrSplit(comments.Of(field), '\n', absl::SkipEmpty())) {
      absl::StrAppend(&text, "  # ", absl::StripAsciiWhitespace(line), "\n");
    }
  }
  return text;
}

// A kind whose entries are the members of a oneof.
template <typename Message>
Kind MemberKind(const std::string& name, const std::string& what, const SchemaComments& comments) {
  const OneofDescriptor* members = Message::descriptor()->oneof_decl(0);
  Kind kind{name, what, nullptr, nullptr};
  kind.list = [members, &comments]() -> absl::StatusOr<std::vector<KindEntry>> {
    std::vector<KindEntry> entries;
    for (int m = 0; m < members->field_count(); ++m) {
      const google::protobuf::FieldDescriptor& field = *members->field(m);
      std::string comment = comments.Of(*field.message_type());
      const std::string words = comment.empty() ? "" : WordsBehind(comments.Of(field));
      if (comment.empty()) comment = comments.Of(field);
      entries.push_back(
          {field.name(), absl::StrCat(FirstSentence(comment), words.empty() ? "" : absl::StrCat(" (", words, ")"))});
    }
    return entries;
  };
  kind.show = [members, &comments](const std::string& entry) -> absl::StatusOr<std::string> {
    for (int m = 0; m < members->field_count(); ++m) {
      if (members->field(m)->name() != entry) continue;
      const Descriptor& message = *members->field(m)->message_type();
      return absl::StrCat("# ", message.name(), ", ", message.file()->name(), "\n", SchemaText(message, comments),
                          FieldsBeside(*members->containing_type(), comments));
    }
    return absl::NotFoundError(entry);
  };
  return kind;
}

Kind MetricKind(const SchemaComments& comments) {
  Kind kind = MemberKind<MetricSpec>("metric", "numbers computed from scores and predictions", comments);
  kind.show = [show = kind.show](const std::string& name) -> absl::StatusOr<std::string> {
    OPENSET_ASSIGN_OR_RETURN(const std::string text, show(name));
    MetricSpec spec;
    MetricSpec::GetReflection()->MutableMessage(&spec, MetricSpec::descriptor()->FindFieldByName(name));
    const Display display = DisplayOf(spec);
    const std::string better = BetterText(display);
    return absl::StrCat("# Shown as \"", LabelWithUnit(display), "\"; unit of the value: ", display.value_unit, "; ",
                        better.empty() ? "no quality" : absl::StrCat(better, " is better"), "\n", text);
  };
  return kind;
}

}  // namespace

absl::StatusOr<SchemaComments> LoadSchemaComments() {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  return SchemaComments::Load(JoinPath(runfiles, "openset/tools/schemas.binpb"));
}

std::vector<Kind> AllKinds(const SpecFolders& folders, const SchemaComments& comments) {
  std::vector<Kind> kinds;
  kinds.push_back(MethodKind(folders, comments));
  kinds.push_back(FileKind<MethodSpec>(
      "preset", "recipes that change methods: METHOD+PRESET", folders.presets,
      [](const MethodSpec& preset) { return FirstSentence(preset.note()); }, comments));
  kinds.push_back(FileKind<TaskSpec>(
      "task", "known and unknown classes, split by split; a spec's `task`", folders.tasks,
      [](const TaskSpec& task) { return task.has_title() ? task.title() : FirstSentence(task.reference()); },
      comments));
  kinds.push_back(FileKind<DataSetInfo>(
      "data", "data sets, their files and classes", folders.catalog,
      [](const DataSetInfo& data) { return data.title(); }, comments));
  kinds.push_back(FileKind<ExperimentSpec>(
      "spec", "studies that come with openset: openset run NAME", folders.specs,
      [](const ExperimentSpec& spec) { return spec.question(); }, comments));
  kinds.push_back(FileKind<PublishedTable>(
      "published", "published numbers, to compare with ours; a spec's report.published", folders.published,
      [](const PublishedTable& table) { return absl::StrCat(table.paper(), ", ", table.table()); }, comments));
  kinds.push_back(MemberKind<ScoreSpec>("score", "unknown scores, larger = more unknown", comments));
  kinds.push_back(MetricKind(comments));
  kinds.push_back(MemberKind<LossTermSpec>("loss", "terms of the training objective", comments));
  kinds.push_back(MemberKind<ModelSpec>("model", "networks", comments));
  kinds.push_back(MemberKind<HeadSpec>("head", "last layers of networks", comments));
  kinds.push_back(MemberKind<AugmentationSpec>("augmentation", "transforms of training images", comments));
  kinds.push_back(
      MemberKind<OpenSetSpec>("source", "open-set sources: samples that stand for unknown classes", comments));
  kinds.push_back(MemberKind<OptimizerSpec>("optimizer", "optimisers of trainings", comments));
  kinds.push_back(MemberKind<ScheduleSpec>("schedule", "learning rates, epoch by epoch", comments));
  kinds.push_back(MemberKind<InferenceSpec>("inference", "how a trained network computes outputs", comments));
  return kinds;
}

std::string PluralOf(const Kind& kind) {
  if (kind.name == "data" || kind.name == "published") return kind.name;
  return absl::StrCat(kind.name, kind.name == "loss" ? "es" : "s");
}

absl::StatusOr<const Kind*> FindKind(const std::vector<Kind>& kinds, const std::string& name,
                                     const std::vector<std::string>& more) {
  // The words of other programs.
  const std::map<std::string, std::string> others = {
      {"datasets", "data"},  {"dataset", "data"},     {"studies", "spec"},
      {"study", "spec"},     {"experiments", "spec"}, {"experiment", "spec"},
      {"networks", "model"}, {"network", "model"},    {"opensetsources", "source"}};
  const std::string folded = FoldedName(name);
  const auto other = others.find(folded);
  std::vector<std::string> names;
  for (const Kind& kind : kinds) {
    const bool is_it = folded == kind.name || folded == PluralOf(kind);
    if (is_it || (other != others.end() && other->second == kind.name)) return &kind;
    names.push_back(PluralOf(kind));
  }
  names.insert(names.end(), more.begin(), more.end());
  return absl::InvalidArgumentError(UnknownName("kind", name, names));
}

absl::StatusOr<std::string> ShowEntry(const Kind& kind, const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<KindEntry> entries, kind.list());
  std::vector<std::string> names;
  for (const KindEntry& entry : entries) names.push_back(entry.name);
  // A method's name may be followed by presets.
  const size_t plus =
      kind.name == "method" && ResolveSynonym(name, names) == std::nullopt ? name.find('+') : std::string::npos;
  const std::optional<std::string> meant = ResolveSynonym(name.substr(0, plus), names);
  if (meant.has_value()) {
    const std::string whole = plus == std::string::npos ? *meant : absl::StrCat(*meant, name.substr(plus));
    OPENSET_ASSIGN_OR_RETURN(const std::string text, kind.show(whole));
    if (FoldedName(whole) == FoldedName(name)) return text;
    return absl::StrCat("# ", name, " is called ", whole, " here.\n\n", text);
  }
  return absl::InvalidArgumentError(UnknownName(kind.name, name, names, absl::StrCat("openset list ", PluralOf(kind))));
}

}  // namespace openset
