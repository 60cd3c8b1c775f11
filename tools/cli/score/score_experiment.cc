

#include "tools/cli/score/score_experiment.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "data/splits/class_splits.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/model_files.h"
#include "google/protobuf/util/message_differencer.h"

namespace openset {
namespace {

constexpr char kRequestFile[] = "score.textproto";

std::string ModelPath(const ScoreRequest& request) {
  return std::filesystem::path(JoinPath(request.folder(), request.model())).lexically_normal().string();
}

}  // namespace

ScoreRequest JoinedRequest(const ScoreRequest& request, const std::vector<std::string>& scored,
                           const ScoreRequest& kept) {
  const auto are_alike = [](ScoreRequest a, ScoreRequest b, bool on_one_place) {
    for (ScoreRequest* one : {&a, &b}) {
      one->clear_methods();
      one->clear_also();
      if (!on_one_place) one->clear_task(), one->clear_split();
    }
    return google::protobuf::util::MessageDifferencer::Equals(a, b);
  };
  if (!are_alike(request, kept, /*on_one_place=*/false)) return request;
  ScoreRequest joined = kept;
  std::vector<ScoreRequest*> parts = {&joined};
  for (ScoreRequest& also : *joined.mutable_also()) parts.push_back(&also);
  for (ScoreRequest* part : parts) {
    if (!are_alike(request, *part, /*on_one_place=*/true)) continue;
    if (request.methods().empty()) part->clear_methods();
    if (part->methods().empty()) return joined;  // all
    for (const std::string& method : scored) {
      if (std::count(part->methods().begin(), part->methods().end(), method) == 0) part->add_methods(method);
    }
    return joined;
  }
  *joined.add_also() = request;
  return joined;
}

absl::Status KeepScoreRequest(const ScoreRequest& request, const Study& study) {
  const std::string folder = study.store().ReportFolder(study.name());
  OPENSET_RETURN_IF_ERROR(study.store().Make());
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  return WriteFileAtomically(JoinPath(folder, kRequestFile), ToText(request));
}

absl::StatusOr<ScoreRequest> FindScoreRequest(const Store& store, const std::string& name) {
  ScoreRequest request;
  OPENSET_RETURN_IF_ERROR(ReadTextProto(JoinPath(store.ReportFolder(name), kRequestFile), &request).status());
  return request;
}

absl::Status CheckScoreName(const ScoreRequest& request, const Store& store, const std::string& name) {
  const absl::StatusOr<ScoreRequest> kept = FindScoreRequest(store, name);
  if (!kept.ok() || ModelPath(*kept) == ModelPath(request) || !FileExists(ModelPath(*kept))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--model: ", "the store ", store.folder(),
                                                 " has results of another model under '", name, "', ", ModelPath(*kept),
                                                 ": rename the file, or name another store (--store)"));
}

namespace {

// The preprocessing of torchvision's ImageNet weights.
constexpr char kImageNet[] = "size: 224 test_shorter_side: 256 mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225]";
constexpr char kSwin[] =
    "size: 224 test_shorter_side: 232 test_filter: BICUBIC mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225]";
// The preprocessing of timm's weights of vit_base_patch16_224.
constexpr char kVit[] = "size: 224 test_shorter_side: 248 test_filter: BICUBIC mean: 0.5 std: 0.5";
constexpr char kSmall[] = "size: 32 test_shorter_side: 32";

struct Row {
  const char* name;
  const char* backbone;
  const char* input;
};

constexpr Row kRows[] = {
    {"resnet18", "resnet_imagenet { variant: RESNET18 }", kImageNet},
    {"resnet34", "resnet_imagenet { variant: RESNET34 }", kImageNet},
    {"resnet50", "resnet_imagenet { variant: RESNET50 }", kImageNet},
    {"resnet101", "resnet_imagenet { variant: RESNET101 }", kImageNet},
    {"resnet152", "resnet_imagenet { variant: RESNET152 }", kImageNet},
    {"densenet121", "densenet {}", kImageNet},
    {"swin_t", "swin_transformer {}", kSwin},
    {"vit_base_patch16_224", "vision_transformer {}", kVit},
    {"wrn28_10", "wide_resnet {}", kSmall},
    {"wrn40_2", "wide_resnet { blocks: 6 widening: 2 }", kSmall},
    {"resnet18_cifar", "resnet_cifar { variant: RESNET18 }", kSmall},
    {"resnet20_cifar", "resnet_cifar { variant: RESNET20 }", kSmall},
};

}  // namespace

absl::StatusOr<NamedNetwork> FindNamedNetwork(const std::string& name) {
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    NamedNetwork network;
    const std::string model = absl::StrCat(row.backbone, " head { linear {} }");
    CHECK(ParseTextProto(model, "a named network", &network.model).ok());
    CHECK(ParseTextProto(row.input, "a named network", &network.input).ok());
    return network;
  }
  return absl::InvalidArgumentError(UnknownName("network", name, NamedNetworks()));
}

std::vector<std::string> NamedNetworks() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

namespace {

absl::Status Invalid(const std::string& flag, const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", message));
}

// The parts of a method that depend on the model.
struct Given {
  ModelSpec model;
  InputSpec input;
};

// Which tensors of a file of weights are used: --key and --outputs.
absl::Status SetTensors(const ScoreRequest& request, ModelSpec* model) {
  if (request.key().empty() && request.outputs_size() == 0) return absl::OkStatus();
  if (!model->has_weights()) {
    return Invalid(request.key().empty() ? "outputs" : "key", "a method file says so itself of a TorchScript network");
  }
  if (!request.key().empty()) model->mutable_weights()->set_key(request.key());
  if (request.outputs_size() > 0) *model->mutable_weights()->mutable_output() = request.outputs();
  return absl::OkStatus();
}

// The model of a method file, with other weights if the request has them.
absl::StatusOr<Given> FromMethod(const ScoreRequest& request, const SpecFolders& folders) {
  if (!request.head().empty() || request.features()) {
    return absl::InvalidArgumentError(
        "--head and --features are for a TorchScript file; a method file defines its model");
  }
  const ModelFiles files = request.weights().empty() ? ModelFiles::kFind : ModelFiles::kAsWritten;
  OPENSET_ASSIGN_OR_RETURN(const LoadedMethod method,
                           LoadMethod(request.model(), folders, request.folder(), {}, files));
  Given given{method.spec.model(), method.spec.input()};
  if (!request.weights().empty()) {
    if (given.model.has_torch_script()) return Invalid("weights", "a TorchScript network has its own");
    given.model.clear_weights();
    given.model.mutable_weights()->set_file(request.weights());
  } else if (given.model.has_weights()) {
    given.model.mutable_weights()->clear_head();  // SKIP is only for trainings
  } else if (!given.model.has_torch_script()) {
    return Invalid("model", absl::StrCat(request.model(),
                                         " names no trained weights: give --weights=FILE, or "
                                         "set model.weights in it"));
  }
  OPENSET_RETURN_IF_ERROR(SetTensors(request, &given.model));
  return given;
}

// A network that is known by its name, and the file of its weights.
absl::StatusOr<Given> FromNetwork(const ScoreRequest& request) {
  absl::StatusOr<NamedNetwork> network = FindNamedNetwork(request.network());
  if (!network.ok()) return Annotate(network.status(), "--network");
  if (!request.head().empty() || request.features()) {
    return Invalid("network", "--head and --features are for a TorchScript file");
  }
  if (!request.weights().empty()) return Invalid("weights", "with --network, --model is the file of the weights");
  if (absl::EndsWith(request.model(), ".textproto")) {
    return Invalid("network", "a method file defines its own model; leave --network out");
  }
  Given given{network->model, network->input};
  if (request.has_size()) given.input.clear_test_shorter_side();  // it is for the default size
  given.model.mutable_weights()->set_file(request.model());
  OPENSET_RETURN_IF_ERROR(SetTensors(request, &given.model));
  return given;
}

absl::StatusOr<Given> FromScript(const ScoreRequest& request) {
  if (!request.weights().empty()) {
    return Invalid("weights", "applies only to a method file; a TorchScript network has its own weights");
  }
  if (!request.key().empty()) return Invalid("key", "is for a file of weights; a TorchScript network has no keys");
  Given given;
  TorchScriptSpec* script = given.model.mutable_torch_script();
  script->set_file(request.model());
  if (!request.head().empty()) script->set_head(request.head());
  script->set_features(request.features());
  for (const int place : request.outputs()) script->add_output(place);
  return given;
}

// Checks the model and its input; errors name the flag.
absl::Status Complete(const ScoreRequest& request, const std::vector<int>& splits, Given* given) {
  if (request.has_size()) given->input.set_size(request.size());
  if (request.has_channels()) given->input.set_channels(request.channels());
  if (!request.mean().empty()) *given->input.mutable_mean() = {request.mean().begin(), request.mean().end()};
  if (!request.std().empty()) *given->input.mutable_std() = {request.std().begin(), request.std().end()};
  FillDefaults(&given->input);
  for (const FieldProblem& problem : FindProblems(given->input)) {
    return Invalid(problem.path.substr(0, problem.path.find('[')), problem.message);
  }
  for (const auto& [flag, count] : {std::pair{"mean", given->input.mean_size()}, {"std", given->input.std_size()}}) {
    if (count <= 1 || count == given->input.channels()) continue;
    return Invalid(flag, absl::StrCat("has ", count, " values for ", given->input.channels(), " channels"));
  }
  const auto invalid_file = [&request](const FieldProblem& problem) {
    const bool of_flag = absl::StartsWith(problem.path, "model.weights") && !request.weights().empty();
    return Invalid(of_flag ? "weights" : "model", problem.message);
  };
  for (const FieldProblem& problem : ResolveModelFiles(request.folder(), &given->model)) {
    return invalid_file(problem);
  }
  if (!IsOfSplit(given->model)) return absl::OkStatus();
  for (const FieldProblem& problem : ResolveSplitFiles(splits, &given->model)) return invalid_file(problem);
  if (splits.size() == 1) given->model = ModelOfSplit(given->model, splits[0]);  // otherwise it is made from them later
  return absl::OkStatus();
}

absl::StatusOr<Given> GivenModel(const ScoreRequest& request, const SpecFolders& folders,
                                 const std::vector<int>& splits) {
  if (request.model().empty()) return Invalid("model", "give a TorchScript file, or a method file (.textproto)");
  if (absl::EndsWith(request.model(), ".safetensors") && request.network().empty()) {
    return Invalid("model",
                   absl::StrCat("a safetensors file has weights, but no network: name it with --network (",
                                absl::StrJoin(NamedNetworks(), ", "),
                                "), or give a method file with --model=FILE.textproto and the weights with --weights=",
                                request.model()));
  }
  for (const char* end : {".pt2", ".onnx"}) {
    if (!absl::EndsWith(request.model(), end)) continue;
    return Invalid("model", absl::StrCat("openset does not run ", end,
                                         " files: in Python, openset.collect(model, loader) runs any network and "
                                         "writes the outputs that 'openset eval' reads"));
  }
  OPENSET_ASSIGN_OR_RETURN(Given given, !request.network().empty()                      ? FromNetwork(request)
                                        : absl::EndsWith(request.model(), ".textproto") ? FromMethod(request, folders)
                                                                                        : FromScript(request));
  OPENSET_RETURN_IF_ERROR(Complete(request, splits, &given));
  return given;
}

// The request and the other scores of the same store.
std::vector<const ScoreRequest*> PartsOf(const ScoreRequest& request) {
  std::vector<const ScoreRequest*> parts = {&request};
  for (const ScoreRequest& also : request.also()) parts.push_back(&also);
  return parts;
}

// The names of the methods that one part requests; none for all.
absl::StatusOr<std::vector<std::string>> AskedOf(const ScoreRequest& part, const SpecFolders& folders,
                                                 const std::vector<std::string>& known) {
  std::vector<std::string> asked;
  for (const std::string& typed : part.methods()) {
    const std::string& name = asked.emplace_back(MeantMethod(typed, folders));
    const std::string method = name.substr(0, name.find('+'));  // presets come after it
    if (std::count(known.begin(), known.end(), method) == 0) {
      return Invalid("methods", UnknownName("method", method, known));
    }
  }
  return asked;
}

// The method that needs no training and has the score of `name`; "" if there is none.
absl::StatusOr<std::string> SameScoreAs(const std::string& name, const SpecFolders& folders, const Given& given) {
  OPENSET_ASSIGN_OR_RETURN(const LoadedMethod method, LoadMethod(name, folders, ""));
  std::vector<LoadedMethod> methods;
  for (const std::string& known : MethodNames(folders)) {
    OPENSET_ASSIGN_OR_RETURN(methods.emplace_back(), LoadMethod(known, folders, ""));
  }
  OPENSET_ASSIGN_OR_RETURN(const PostHocMethods post_hoc, MakePostHoc(std::move(methods), given.model, given.input));
  for (const LoadedMethod& other : post_hoc.methods) {
    if (other.spec.score().kind_case() == method.spec.score().kind_case() &&
        other.spec.inference().kind_case() == method.spec.inference().kind_case()) {
      return other.spec.name();
    }
  }
  return "";
}

struct AskedMethods {
  PostHocMethods made;  // of all parts, each once
  std::vector<std::vector<std::string>>
      of_part;  // for each part the names (MethodSpec.name) of its methods; {} for all
};

absl::StatusOr<AskedMethods> Methods(const ScoreRequest& request, const SpecFolders& folders, const Given& given) {
  const std::vector<std::string> known = MethodNames(folders);
  std::vector<LoadedMethod> methods;
  std::map<std::string, std::string> name_of;  // as requested -> as loaded
  std::vector<std::vector<std::string>> of_part;
  for (const ScoreRequest* part : PartsOf(request)) {
    OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> asked, AskedOf(*part, folders, known));
    for (const std::string& name : asked.empty() ? known : asked) {
      if (name_of.count(name) > 0) continue;
      OPENSET_ASSIGN_OR_RETURN(methods.emplace_back(), LoadMethod(name, folders, ""));
      name_of[name] = methods.back().spec.name();
    }
    for (std::string& name : asked) name = name_of[name];
    of_part.push_back(std::move(asked));
  }
  absl::StatusOr<PostHocMethods> made = MakePostHoc(std::move(methods), given.model, given.input);
  if (!made.ok()) return Annotate(made.status(), "--model");
  const bool all = std::any_of(of_part.begin(), of_part.end(), [](const auto& names) { return names.empty(); });
  for (const PostHocMethods::Skipped& skipped : made->skipped) {
    if (all) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::string alike, SameScoreAs(skipped.name, folders, given));
    return Invalid("methods",
                   absl::StrCat(skipped.name, " ", skipped.why,
                                alike.empty() ? "" : absl::StrCat("; ", alike, " is its score without that training")));
  }
  return AskedMethods{*std::move(made), std::move(of_part)};
}

// The task and split of a part.
absl::StatusOr<std::pair<TaskSpec, int>> TaskOf(const ScoreRequest& part, const SpecFolders& folders,
                                                const Catalog& catalog) {
  if (part.task().empty()) return Invalid("task", "name the task, or give its file");
  absl::StatusOr<TaskSpec> task = LoadTask(part.task(), folders, part.folder(), catalog);
  if (!task.ok()) return Annotate(task.status(), "--task");
  if (!part.has_split() && CountSplits(*task) > 1) {
    return Invalid("split", absl::StrCat("task ", task->name(), " has ", CountSplits(*task),
                                         " splits: pass the model's split, 0 to ", CountSplits(*task) - 1));
  }
  if (part.split() < 0 || part.split() >= CountSplits(*task)) {
    return Invalid("split", absl::StrCat("task ", task->name(), " has the splits 0 to ", CountSplits(*task) - 1));
  }
  return std::pair{*std::move(task), part.split()};
}

// Restricts an experiment of several parts to the methods of each, and separates splits if one network has all.
void RestrictTo(const std::vector<std::vector<std::string>>& methods_of_part,
                const std::vector<std::pair<std::string, int>>& places, Experiment* experiment) {
  for (size_t p = 0; p < places.size(); ++p) {
    const std::vector<std::string>& names = methods_of_part[p];
    for (const LoadedMethod& method : experiment->methods) {
      const std::string& name = method.spec.name();
      if (!names.empty() && std::count(names.begin(), names.end(), name) == 0) continue;
      experiment->only.insert({places[p].first, name, places[p].second});
    }
  }
  if (experiment->spec.split_size() > 1 && !IsOfSplit(experiment->methods[0].spec.model())) {
    experiment->spec.mutable_report()->add_row("method");
    experiment->spec.mutable_report()->add_row("split");
    experiment->spec.mutable_report()->add_column("metric");
  }
}

// "score_resnet50" for "../nets/ResNet50.pt".
std::string NameOf(const std::string& model) {
  std::string name = absl::StrCat("score_", std::filesystem::path(model).stem().string());
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  return absl::AsciiStrToLower(name.substr(0, kMostNameBytes));
}

}  // namespace

absl::StatusOr<ScoreExperiment> MakeScoreExperiment(const ScoreRequest& request, const SpecFolders& folders) {
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  const std::vector<const ScoreRequest*> parts = PartsOf(request);
  std::vector<TaskSpec> tasks;
  std::vector<std::pair<std::string, int>> places;  // task and split of each part
  std::set<int> splits;
  for (const ScoreRequest* part : parts) {
    OPENSET_ASSIGN_OR_RETURN(auto task, TaskOf(*part, folders, catalog));
    places.emplace_back(task.first.name(), task.second);
    splits.insert(task.second);
    const auto has_name = [&](const TaskSpec& known) { return known.name() == task.first.name(); };
    if (std::none_of(tasks.begin(), tasks.end(), has_name)) tasks.push_back(std::move(task.first));
  }
  OPENSET_ASSIGN_OR_RETURN(const Given given, GivenModel(request, folders, {splits.begin(), splits.end()}));
  OPENSET_ASSIGN_OR_RETURN(AskedMethods asked, Methods(request, folders, given));
  PostHocMethods& methods = asked.made;

  ExperimentSpec spec;
  spec.set_name(NameOf(request.model()));
  spec.set_question("Which score on the outputs of this model detects unknown classes best?");
  for (const TaskSpec& task : tasks) spec.add_task(tasks.size() == 1 ? request.task() : task.name());
  for (const LoadedMethod& method : methods.methods) spec.add_method(method.spec.name());
  for (const int split : splits) spec.add_split(split);
  spec.add_seed(0);
  spec.add_metric()->mutable_accuracy();
  spec.add_metric()->mutable_auroc();
  spec.add_metric()->mutable_aupr_unknown();
  spec.add_metric()->mutable_fpr_at_95tpr();
  spec.add_metric()->mutable_aurc();
  spec.add_metric()->mutable_openauc();
  if (request.train_limit() > 0) spec.set_train_limit_per_class(request.train_limit());
  if (request.test_limit() > 0) spec.set_test_limit_per_class(request.test_limit());
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ParseTextProto(ToText(spec), "openset score", &spec));
  Experiment experiment{spec,   std::move(source), std::move(tasks), std::move(methods.methods), std::move(catalog),
                        folders};
  if (parts.size() > 1) RestrictTo(asked.of_part, places, &experiment);
  return ScoreExperiment{std::move(experiment), std::move(methods.skipped)};
}

}  // namespace openset
