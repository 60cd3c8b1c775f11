#include "tools/cli/score/score_experiment.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/logging.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "core/text/wrapped_text.h"
#include "data/readers/feature_file.h"
#include "data/sets/feature_data_set.h"
#include "data/splits/class_splits.h"
#include "data/splits/task_problems.h"
#include "eval/files/sample_set.h"
#include "eval/files/score_file.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/output_kind.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/model_files.h"
#include "google/protobuf/util/message_differencer.h"

namespace openset {
namespace {

constexpr char kRequestFile[] = "score.textproto";

std::string ModelPath(const ScoreRequest& request) { return AbsolutePath(JoinPath(request.folder(), request.model())); }

}  // namespace

ScoreRequest JoinedRequest(const ScoreRequest& request, const std::vector<std::string>& scored,
                           const ScoreRequest& kept) {
  const auto are_alike = [](ScoreRequest a, ScoreRequest b, bool on_one_place) {
    for (ScoreRequest* one : {&a, &b}) {
      one->clear_methods();
      one->clear_also();
      if (on_one_place) continue;
      one->clear_task();
      one->clear_split();
      one->clear_fit_part();
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
      if (!absl::c_linear_search(part->methods(), method)) part->add_methods(method);
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
                                                 ": name these results (--name=NAME), or another store (--store)"));
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
absl::Status Complete(const ScoreRequest& request, const std::vector<int>& splits, const std::vector<uint64_t>& seeds,
                      Given* given) {
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
  for (const FieldProblem& problem : ResolveModelFiles(request.folder(), &given->model)) return invalid_file(problem);
  if (!IsOfSplit(given->model)) return absl::OkStatus();
  for (const FieldProblem& problem : ResolveSplitFiles(splits, seeds, &given->model)) return invalid_file(problem);
  // Otherwise it is made from them later.
  if (splits.size() == 1 && seeds.size() == 1) given->model = ModelOfSplit(given->model, splits[0], seeds[0]);
  return absl::OkStatus();
}

// "score_resnet50" for "../nets/ResNet50.pt".
std::string NameOf(const ScoreRequest& request) {
  if (request.has_name()) return absl::StrCat("score_", request.name());
  std::string stem = std::filesystem::path(request.model()).stem().string();
  // "net" of "net_{split}_{seed}".
  for (const char* place : {"{split}", "{seed}"}) {
    for (const char* before : {"_", "-", "."}) stem = absl::StrReplaceAll(stem, {{absl::StrCat(before, place), ""}});
    stem = absl::StrReplaceAll(stem, {{place, ""}});
  }
  std::string name = absl::StrCat("score_", stem.empty() ? "outputs" : stem);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  return absl::AsciiStrToLower(name.substr(0, kMostNameBytes));
}

bool IsOutputsFile(const std::string& model) {
  const std::string name = absl::AsciiStrToLower(model);
  return absl::EndsWith(name, ".npz") || absl::EndsWith(name, ".csv") || absl::EndsWith(name, ".tsv");
}

// Outputs that were computed elsewhere.
absl::StatusOr<Given> FromOutputs(const ScoreRequest& request) {
  for (const auto& [flag, is_given] : {std::pair{"network", !request.network().empty()},
                                       {"weights", !request.weights().empty()},
                                       {"key", !request.key().empty()},
                                       {"head", !request.head().empty()},
                                       {"features", request.features()},
                                       {"outputs", request.outputs_size() > 0},
                                       {"size", request.has_size()},
                                       {"channels", request.has_channels()},
                                       {"mean", !request.mean().empty()},
                                       {"std", !request.std().empty()}}) {
    if (is_given) return Invalid(flag, "is for a network; --model is a file of outputs");
  }
  Given given;
  given.model.mutable_outputs()->set_file(request.model());
  if (!request.fit().empty()) given.model.mutable_outputs()->set_fit_file(request.fit());
  return given;
}

// Adds the numbers of the files and folders that match the rest of a pattern, `folder` being what matches its start.
void Match(const std::string& folder, const std::vector<std::string>& rest, std::string split, std::string seed,
           OutputFiles* found) {
  if (rest.empty()) {
    int number = 0;
    uint64_t seed_number = 0;
    if (absl::SimpleAtoi(split, &number)) found->splits.insert(number);
    if (absl::SimpleAtoi(seed, &seed_number)) found->seeds.insert(seed_number);
    return;
  }
  const std::vector<std::string> others(rest.begin() + 1, rest.end());
  std::vector<std::string> names = {rest[0]};
  if (absl::StrContains(rest[0], '{')) names = ListFolder(folder).value_or(std::vector<std::string>());
  for (const std::string& name : names) {
    if (!FileExists(JoinPath(folder, name))) continue;
    // Numbers that the name has at the places of the pattern.
    size_t at = 0;
    std::string split_here = split, seed_here = seed;
    bool fits = true;
    for (absl::string_view pattern = rest[0]; fits && !pattern.empty();) {
      const bool is_split = absl::ConsumePrefix(&pattern, "{split}");
      if (is_split || absl::ConsumePrefix(&pattern, "{seed}")) {
        const size_t begin = at;
        while (at < name.size() && absl::ascii_isdigit(static_cast<unsigned char>(name[at]))) ++at;
        const std::string digits = name.substr(begin, at - begin);
        std::string& number = is_split ? split_here : seed_here;
        const bool is_plain = !digits.empty() && (digits == "0" || digits[0] != '0') && digits.size() < 10;
        fits = is_plain && (number.empty() || number == digits);
        number = digits;
      } else {
        fits = at < name.size() && name[at] == pattern[0];
        ++at;
        pattern.remove_prefix(1);
      }
    }
    if (fits && at == name.size()) Match(JoinPath(folder, name), others, split_here, seed_here, found);
  }
}

}  // namespace

OutputFiles FindNumberedFiles(const std::string& pattern) {
  OutputFiles found;
  Match("/", absl::StrSplit(pattern, '/', absl::SkipEmpty()), "", "", &found);
  return found;
}

namespace {

// The splits and seeds of the files that --model names; split and seed 0 if it is one file.
absl::StatusOr<OutputFiles> FindOutputFiles(const ScoreRequest& request) {
  const std::string path = ModelPath(request);
  OutputFiles found;
  if (absl::StrContains(path, '{')) {
    found = FindNumberedFiles(path);
    if (found.splits.empty() && found.seeds.empty()) {
      return Invalid("model", absl::StrCat("no file is called ", path, " with numbers for {split} and {seed}"));
    }
  }
  if (found.splits.empty()) found.splits.insert(request.split());
  if (found.seeds.empty()) found.seeds.insert(0);
  return found;
}

// The task that a file of outputs is: its known classes, and its groups of unknown samples.
absl::StatusOr<TaskSpec> TaskOfOutputs(const ScoreRequest& request, const OutputFiles& files, const Catalog& catalog) {
  if (!absl::EndsWith(absl::AsciiStrToLower(request.model()), ".npz")) {
    return Invalid("task", "name the task: only .npz files say enough to go without");
  }
  TaskSpec task;
  task.set_name(NameOf(request).substr(std::strlen("score_")));
  // All seeds of a split have the same samples; an action compares its labels with this file's.
  const std::string file = absl::StrReplaceAll(ModelPath(request), {{"{seed}", absl::StrCat(*files.seeds.begin())}});
  task.set_data_set(absl::StrCat(kFeaturesPrefix, file));
  task.set_test_only(true);
  task.add_test_part(kAllSamples);
  const int most = *files.splits.rbegin();
  for (int s = 0; s <= most; ++s) {
    ClassSplit* split = task.add_split();
    // A number without a file has the classes of the first one; no trial uses it.
    const int with_file = files.splits.count(s) > 0 ? s : *files.splits.begin();
    const TaskSpec of_split = TaskOfSplit(task, with_file);
    absl::StatusOr<const DataSetInfo*> info = catalog.Find(of_split.data_set());
    if (!info.ok()) return Annotate(info.status(), "--model");
    for (int c = 0; c < KnownClasses(**info); ++c) split->add_known(c);
    if (task.unknown_size() > 0) continue;
    AddUnknownGroups(**info, &task);
    for (UnknownSource& source : *task.mutable_unknown()) source.set_data_set(task.data_set());  // with {split}
  }
  FillDefaults(&task);
  return task;
}

// Refuses files that only Python runs or reads, before anything else is asked for.
absl::Status CheckRuns(const ScoreRequest& request) {
  const std::string path = JoinPath(request.folder(), request.model());
  std::error_code error;
  if (!request.model().empty() && std::filesystem::is_directory(path, error)) {
    return Invalid("model", absl::StrCat(OneLine(request.model()), " is a folder: name a file in it: outputs (.npz, ",
                                         ".csv), a TorchScript network, or a method file (.textproto)"));
  }
  for (const char* place : {"{split}", "{seed}"}) {
    if (!absl::StrContains(request.model(), place) || IsOutputsFile(request.model())) continue;
    return Invalid(
        "model", absl::StrCat(OneLine(request.model()), ": ", place,
                              " is for files of outputs (.npz). For a network for each split, write a method file with "
                              "model { weights { file: \"net_{split}.pth\" } }, and name it: --model=FILE.textproto"));
  }
  // A file of torch.save() or torch.jit.save(), whatever its name, is a zip archive.
  const std::string conversion = ConversionText(request.model());
  if (!conversion.empty() && request.network().empty() && FileExists(path) && !NpzNames(path).ok()) {
    return Invalid("model", absl::StrCat(OneLine(request.model()), " is no network that openset reads; if it has ",
                                         "outputs", conversion));
  }
  for (const char* end : {".pt2", ".onnx"}) {
    if (!absl::EndsWith(request.model(), end)) continue;
    std::string input;  // as given
    if (request.has_size()) absl::StrAppend(&input, ", size=", request.size());
    if (request.has_channels()) absl::StrAppend(&input, ", channels=", request.channels());
    if (!request.mean().empty()) absl::StrAppend(&input, ", mean=[", absl::StrJoin(request.mean(), ", "), "]");
    if (!request.std().empty()) absl::StrAppend(&input, ", std=[", absl::StrJoin(request.std(), ", "), "]");
    if (!request.fit_part().empty()) absl::StrAppend(&input, ", fit_part='", request.fit_part(), "'");
    return Invalid("model", absl::StrCat("openset does not run ", end, " files; in Python, openset.collect('",
                                         request.model(), "', task='", request.task().empty() ? "TASK" : request.task(),
                                         "', split=", request.split(), input,
                                         ", store='openset-store') does, and measures every score"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Given> GivenModel(const ScoreRequest& request, const SpecFolders& folders,
                                 const std::vector<int>& splits, const std::vector<uint64_t>& seeds) {
  if (request.model().empty()) {
    return Invalid("model", "give a file of outputs (.npz), a TorchScript file, or a method file (.textproto)");
  }
  if (!request.fit().empty() && !IsOutputsFile(request.model())) {
    return Invalid("fit", "is for outputs (--model=FILE.npz); networks are passed over the task's training images");
  }
  if (absl::EndsWith(request.model(), ".safetensors") && request.network().empty()) {
    return Invalid("model",
                   absl::StrCat("a safetensors file has weights, but no network: name it with --network (",
                                absl::StrJoin(NamedNetworks(), ", "),
                                "), or give a method file with --model=FILE.textproto and the weights with --weights=",
                                request.model()));
  }
  OPENSET_ASSIGN_OR_RETURN(Given given, IsOutputsFile(request.model())                  ? FromOutputs(request)
                                        : !request.network().empty()                    ? FromNetwork(request)
                                        : absl::EndsWith(request.model(), ".textproto") ? FromMethod(request, folders)
                                                                                        : FromScript(request));
  OPENSET_RETURN_IF_ERROR(Complete(request, splits, seeds, &given));
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
    const std::string& name = asked.emplace_back(SuggestedMethod(typed, folders));
    const std::string method = name.substr(0, name.find('+'));  // presets come after it
    if (!absl::c_linear_search(known, method)) {
      return Invalid("methods", UnknownName("method", method, known, "openset list methods"));
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

// Whether the logits of a file are log-probabilities.
bool HasLogProbabilities(const std::string& file) {
  const absl::StatusOr<NpzArrays> arrays = ReadNpz(file, {"logits"});
  if (!arrays.ok() || arrays->count("logits") == 0) return false;
  const NpyArray& logits = arrays->at("logits");
  const absl::StatusOr<std::vector<float>> values = ToFloat(logits);
  return values.ok() && logits.shape.size() == 2 && KindOf(*values, logits.shape[1]) == OutputKind::kLogProbabilities;
}

// Leaves out the scores that a file of outputs can't have: those that would take an output for the unknown for a class,
// if the file says that it has one, that read the level of the logits, if it has log-probabilities, and of the
// disagreement of several passes, if it has none.
void LeaveOutByFile(const ScoreRequest& request, const OutputFiles& files, PostHocMethods* methods) {
  if (!IsOutputsFile(request.model())) return;
  const std::string file = absl::StrReplaceAll(ModelPath(request), {{"{split}", absl::StrCat(*files.splits.begin())},
                                                                    {"{seed}", absl::StrCat(*files.seeds.begin())}});
  // What is wrong with a file is said where it is read. A table has nothing but logits.
  const absl::StatusOr<std::vector<std::string>> names = NpzNames(file);
  const auto has = [&](const char* name) { return names.ok() && absl::c_linear_search(*names, name); };
  absl::StatusOr<SampleSet> samples = absl::NotFoundError("");
  if (has("num_classes")) samples = ReadSampleSet({file});
  const OutputKind kind =
      has("logits") && HasLogProbabilities(file) ? OutputKind::kLogProbabilities : OutputKind::kLogits;
  std::vector<LoadedMethod> left;
  for (LoadedMethod& method : methods->methods) {
    const ScoreSpec& score = method.spec.score();
    std::string why;
    if (samples.ok()) why = ExtraOutputText(score, samples->num_outputs, samples->num_classes);
    if (!CheckLevel(score, kind).ok()) {
      why = "reads the level of the logits, and the file has log-probabilities, which have none";
    }
    if (TraitsOf(score).member_uncertainty() && !has("member_uncertainty")) {
      why = "needs an array 'member_uncertainty' in the file of outputs";
    }
    if (why.empty()) {
      left.push_back(std::move(method));
    } else {
      methods->skipped.push_back({method.spec.name(), std::move(why)});
    }
  }
  methods->methods = std::move(left);
}

struct AskedMethods {
  PostHocMethods made;  // of all parts, each once
  std::vector<std::vector<std::string>>
      of_part;  // for each part the names (MethodSpec.name) of its methods; {} for all
};

absl::StatusOr<AskedMethods> Methods(const ScoreRequest& request, const SpecFolders& folders, const OutputFiles& files,
                                     const Given& given) {
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
  LeaveOutByFile(request, files, &*made);
  const bool all = absl::c_any_of(of_part, [](const auto& names) { return names.empty(); });
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
                                                const OutputFiles& files, const Catalog& catalog) {
  if (part.task().empty() && IsOutputsFile(part.model())) {
    OPENSET_ASSIGN_OR_RETURN(TaskSpec task, TaskOfOutputs(part, files, catalog));
    return std::pair{std::move(task), *files.splits.begin()};
  }
  if (part.task().empty()) return Invalid("task", "name the task, or give its file");
  absl::StatusOr<TaskSpec> task = LoadTask(part.task(), folders, part.folder(), catalog);
  if (!task.ok()) return Annotate(task.status(), "--task");
  OPENSET_RETURN_IF_ERROR(ReplaceFitPart(part.fit_part(), catalog, &*task), "--fit_part");
  if (absl::StrContains(part.model(), "{split}")) {
    if (*files.splits.rbegin() >= CountSplits(*task)) {
      return Invalid("model", absl::StrCat("there is a file of split ", *files.splits.rbegin(), ", and task ",
                                           task->name(), " has the splits 0 to ", CountSplits(*task) - 1));
    }
    return std::pair{*std::move(task), *files.splits.begin()};
  }
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
      if (!names.empty() && !absl::c_linear_search(names, name)) continue;
      experiment->only.insert({places[p].first, name, places[p].second});
    }
  }
  if (experiment->spec.split_size() > 1 && !IsOfSplit(experiment->methods[0].spec.model())) {
    experiment->spec.mutable_report()->add_row("method");
    experiment->spec.mutable_report()->add_row("split");
    experiment->spec.mutable_report()->add_column("metric");
  }
}

}  // namespace

absl::StatusOr<ScoreExperiment> MakeScoreExperiment(const ScoreRequest& request, const SpecFolders& known) {
  OPENSET_RETURN_IF_ERROR(CheckRuns(request));
  if (request.has_name()) {
    if (const std::string problem = NameProblem(request.name()); !problem.empty()) return Invalid("name", problem);
  }
  const std::vector<const ScoreRequest*> parts = PartsOf(request);
  SpecFolders folders = known;
  for (const ScoreRequest* part : parts) AddLibraryOfTask(JoinPath(part->folder(), part->task()), &folders);
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  std::vector<TaskSpec> tasks;
  std::vector<std::pair<std::string, int>> places;  // task and split of each part
  std::set<int> splits;
  OutputFiles files{{}, {0}};
  if (IsOutputsFile(request.model())) {
    OPENSET_ASSIGN_OR_RETURN(files, FindOutputFiles(request));
  }
  for (const ScoreRequest* part : parts) {
    OPENSET_ASSIGN_OR_RETURN(auto task, TaskOf(*part, folders, files, catalog));
    places.emplace_back(task.first.name(), task.second);
    splits.insert(task.second);
    const auto has_name = [&](const TaskSpec& known) { return known.name() == task.first.name(); };
    if (absl::c_none_of(tasks, has_name)) tasks.push_back(std::move(task.first));
  }
  if (absl::StrContains(request.model(), "{split}")) splits = files.splits;
  OPENSET_ASSIGN_OR_RETURN(const Given given, GivenModel(request, folders, {splits.begin(), splits.end()},
                                                         {files.seeds.begin(), files.seeds.end()}));
  OPENSET_ASSIGN_OR_RETURN(AskedMethods asked, Methods(request, folders, files, given));
  PostHocMethods& methods = asked.made;

  ExperimentSpec spec;
  spec.set_name(NameOf(request));
  spec.set_question("Which score on the outputs of this model detects unknown classes best?");
  for (const TaskSpec& task : tasks) {
    spec.add_task(tasks.size() == 1 && !request.task().empty() ? request.task() : task.name());
  }
  for (const LoadedMethod& method : methods.methods) spec.add_method(method.spec.name());
  for (const int split : splits) spec.add_split(split);
  for (const uint64_t seed : files.seeds) spec.add_seed(seed);
  MetricSpec* const first = spec.add_metric();
  first->mutable_auroc();
  // Wide enough for a table, and fast: compare takes ten times as many.
  first->mutable_interval()->set_replicates(1000);
  spec.add_metric()->mutable_accuracy();
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

std::string SkippedText(const std::vector<PostHocMethods::Skipped>& skipped) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> names;
  for (const PostHocMethods::Skipped& method : skipped) {
    if (names.count(method.why) == 0) reasons.push_back(method.why);
    names[method.why].push_back(method.name);
  }
  std::string text;
  for (const std::string& why : reasons) {
    absl::StrAppend(&text, Wrapped(absl::StrCat("left out: ", absl::StrJoin(names[why], ", "), " (", why, ")")), "\n");
  }
  return text;
}

}  // namespace openset
