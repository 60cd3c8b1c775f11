#include "tools/cli/kinds.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "data/augment/augment.pb.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/published/published.pb.h"
#include "experiments/spec/experiment.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/resolve_method.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::OneofDescriptor;

// Names of the literature and of other libraries -> ours.
const std::map<std::string, std::string>& Synonyms() {
  static const auto* synonyms = new std::map<std::string, std::string>{
      {"msp", "max_softmax"},
      {"maximum_softmax_probability", "max_softmax"},
      {"mls", "max_logit"},
      {"maxlogit", "max_logit"},
      {"ebo", "energy"},
      {"md", "mahalanobis"},
      {"mds", "mahalanobis"},
      {"rmd", "relative_mahalanobis"},
      {"rmds", "relative_mahalanobis"},
      {"fpr95", "fpr_at_95tpr"},
      {"fpr@95", "fpr_at_95tpr"},
      {"fpr@95tpr", "fpr_at_95tpr"},
      {"auc", "auroc"},
      {"acc", "accuracy"},
      {"aupr_out", "aupr_unknown"},
      {"aupr_in", "aupr_known"},
      {"oe", "outlier_exposure"},
      {"ce", "cross_entropy"},
      {"resnet18", "resnet_cifar"},
      {"resnet20", "resnet_cifar"},
      {"resnet50", "resnet_imagenet"},
  };
  return *synonyms;
}

// The first sentence; "et al." and "vs." end none.
std::string FirstSentence(const std::string& text) {
  const std::string line = absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar("\n "), absl::SkipEmpty()), " ");
  size_t end = line.find(". ");
  while (end != std::string::npos &&
         (absl::EndsWith(line.substr(0, end), " al") || absl::EndsWith(line.substr(0, end), " vs"))) {
    end = line.find(". ", end + 1);
  }
  return end == std::string::npos ? line : line.substr(0, end + 1);
}

// A kind whose entries are the files of folders, each a `Message`.
template <typename Message>
Kind FileKind(const std::string& name, const std::string& what, const std::vector<std::string>& folders,
              std::function<std::string(const Message&)> line, const SchemaComments& comments) {
  const auto read = [name, folders](const std::string& entry, Message* message) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile(name, entry, folders, ""));
    return ReadTextProto(path, message, Completeness::kPartial).status();
  };
  Kind kind{name, what, nullptr, nullptr};
  kind.list = [=]() -> absl::StatusOr<std::vector<KindEntry>> {
    std::vector<KindEntry> entries;
    for (const std::string& entry : NamesIn(folders)) {
      Message message;
      OPENSET_RETURN_IF_ERROR(read(entry, &message));
      entries.push_back({entry, line(message)});
    }
    return entries;
  };
  kind.show = [=, &comments](const std::string& entry) -> absl::StatusOr<std::string> {
    Message message;
    OPENSET_RETURN_IF_ERROR(read(entry, &message));
    return ToCommentedText(message, comments);
  };
  return kind;
}

Kind MethodKind(const SpecFolders& folders, const SchemaComments& comments) {
  Kind kind = FileKind<MethodSpec>(
      "method", "compositions of the parts below; a spec's `method`", folders.methods,
      [](const MethodSpec& method) { return absl::StrCat(method.title(), ": ", FirstSentence(method.reference())); },
      comments);
  kind.show = [folders, &comments](const std::string& name) -> absl::StatusOr<std::string> {
    OPENSET_ASSIGN_OR_RETURN(LoadedMethod method, LoadMethod(name, folders, ""));
    std::string text = "# Put together from\n";
    for (const MethodLayer& layer : method.layers) {
      // Those that come with the program without the place it is installed at.
      const std::string& file = layer.source.file();
      const size_t place = file.find("experiments/");
      absl::StrAppend(&text, "#   ", place == std::string::npos ? file : file.substr(place), "\n");
    }
    FillDefaults(&method.spec);
    return absl::StrCat(text, "\n", ToCommentedText(method.spec, comments));
  };
  return kind;
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
      if (comment.empty()) comment = comments.Of(field);
      entries.push_back({field.name(), FirstSentence(comment)});
    }
    return entries;
  };
  kind.show = [members, &comments](const std::string& entry) -> absl::StatusOr<std::string> {
    for (int m = 0; m < members->field_count(); ++m) {
      if (members->field(m)->name() == entry) return SchemaText(*members->field(m)->message_type(), comments);
    }
    return absl::NotFoundError(entry);
  };
  return kind;
}

}  // namespace

std::vector<Kind> AllKinds(const SpecFolders& folders, const SchemaComments& comments) {
  std::vector<Kind> kinds;
  kinds.push_back(MethodKind(folders, comments));
  kinds.push_back(FileKind<MethodSpec>(
      "preset", "recipes that are laid over methods: METHOD+PRESET", folders.presets,
      [](const MethodSpec& preset) { return FirstSentence(preset.note()); }, comments));
  kinds.push_back(FileKind<TaskSpec>(
      "task", "known and unknown classes, split by split; a spec's `task`", folders.tasks,
      [](const TaskSpec& task) { return task.has_title() ? task.title() : FirstSentence(task.reference()); },
      comments));
  kinds.push_back(FileKind<DataSetInfo>(
      "data", "data sets, their files and classes", folders.catalog,
      [](const DataSetInfo& data) { return data.title(); }, comments));
  kinds.push_back(FileKind<ExperimentSpec>(
      "spec", "studies that come with the program: openset run NAME", folders.specs,
      [](const ExperimentSpec& spec) { return spec.question(); }, comments));
  kinds.push_back(FileKind<PublishedTable>(
      "published", "numbers of papers, to stand beside ours; a spec's report.published", folders.published,
      [](const PublishedTable& table) { return absl::StrCat(table.paper(), ", ", table.table()); }, comments));
  kinds.push_back(MemberKind<ScoreSpec>("score", "unknown scores, larger = more unknown", comments));
  kinds.push_back(MemberKind<MetricSpec>("metric", "what is measured on scores and predictions", comments));
  kinds.push_back(MemberKind<LossTermSpec>("loss", "terms of the training objective", comments));
  kinds.push_back(MemberKind<ModelSpec>("model", "networks", comments));
  kinds.push_back(MemberKind<AugmentationSpec>("augmentation", "transforms of training images", comments));
  kinds.push_back(
      MemberKind<OpenSetSpec>("source", "open-set sources: samples that stand for unknown classes", comments));
  return kinds;
}

absl::StatusOr<const Kind*> FindKind(const std::vector<Kind>& kinds, const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) {
    const std::string plural = kind.name == "data" || kind.name == "published" ? kind.name
                               : kind.name == "loss"                           ? "losses"
                                                                               : kind.name + "s";
    if (name == kind.name || name == plural) return &kind;
    names.push_back(plural);
  }
  return absl::InvalidArgumentError(UnknownName("kind", name, names));
}

absl::StatusOr<std::string> ShowEntry(const Kind& kind, const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<KindEntry> entries, kind.list());
  std::vector<std::string> names;
  for (const KindEntry& entry : entries) names.push_back(entry.name);
  const auto known = [&names](const std::string& n) { return std::find(names.begin(), names.end(), n) != names.end(); };
  const std::string first = name.substr(0, kind.name == "method" ? name.find('+') : std::string::npos);
  if (known(first)) return kind.show(name);
  const std::string lower = absl::AsciiStrToLower(first);
  if (known(lower)) return kind.show(lower);
  if (const auto synonym = Synonyms().find(lower); synonym != Synonyms().end() && known(synonym->second)) {
    OPENSET_ASSIGN_OR_RETURN(const std::string text, kind.show(synonym->second));
    return absl::StrCat("# ", name, " is called ", synonym->second, " here.\n\n", text);
  }
  return absl::InvalidArgumentError(UnknownName(kind.name, name, names));
}

}  // namespace openset
