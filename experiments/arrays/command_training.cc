#include "experiments/arrays/command_training.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/npz.h"
#include "core/files/formats/safetensors.h"
#include "core/files/input_file.h"
#include "core/files/remove_tree.h"
#include "core/process/steady_clock.h"
#include "core/process/subprocess.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "data/augment/augment.pb.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "eval/files/named_arrays.h"
#include "eval/files/sample_set.h"
#include "eval/files/score_file.h"
#include "experiments/arrays/sample_file.h"
#include "experiments/spec/command_sources.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/spec/trial.proto.h"
#include "google/protobuf/util/json_util.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

using ::nlohmann::ordered_json;

constexpr char kTrialFile[] = "trial.json", kProgressFile[] = "progress.jsonl", kStateFolder[] = "state";
constexpr absl::Duration kGrace = absl::Seconds(10);
constexpr int64_t kMostProgressBytes = int64_t{64} << 20;

// A part of the samples: the file that the program gets, and the one that it writes for it.
struct Part {
  const char* name;
  const char* samples;
  const char* outputs;
};
constexpr Part kTest = {"test", "test.npz", "outputs.npz"};
constexpr Part kFit = {"fit", "train.npz", "fit.npz"};
constexpr Part kValidation = {"validation", "validation.npz", "validation_outputs.npz"};

constexpr const char* kWeightFiles[] = {"checkpoint.safetensors", "checkpoint.pth"};

// ---- What the program gets.

template <typename Groups>
std::vector<std::string> NamesOf(const Groups& groups) {
  std::vector<std::string> names;
  for (const UnknownGroup& group : groups) names.push_back(group.name());
  return names;
}

// Writes the samples of a part. Returns what identifies its rows.
template <typename Unknown>
absl::StatusOr<SampleFile> WriteSamples(const std::string& path, const Selection& known, const Unknown& unknown,
                                        const google::protobuf::RepeatedPtrField<ShiftedGroup>& shifted,
                                        const ArrayContext& context) {
  SampleFile file(*context.catalog, context.data_folders);
  const auto add = [&](const Selection& selection, int64_t group) -> absl::Status {
    OPENSET_RETURN_IF_ERROR(CountChecked(selection, context).status());
    return file.Add(selection, group);
  };
  OPENSET_RETURN_IF_ERROR(add(known, -1));
  for (int g = 0; g < unknown.size(); ++g) OPENSET_RETURN_IF_ERROR(add(unknown[g].selection(), g));
  for (const ShiftedGroup& group : shifted) OPENSET_RETURN_IF_ERROR(add(group.selection(), -1));
  OPENSET_RETURN_IF_ERROR(file.Write(path, NamesOf(unknown)));
  return file;
}

// A message as JSON, with the names and the defaults of the schema.
ordered_json JsonOf(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) return nullptr;
  return ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
}

ordered_json TrialJson(const TrainAction& action, const ArrayContext& context) {
  ordered_json json;
  json["format"] = 1;
  json["seed"] = action.seed();
  json["device"] = action.execution().device() == ExecutionSpec::CUDA ? "cuda" : "cpu";
  json["precision"] = ExecutionSpec::Precision_Name(action.execution().precision());
  json["threads"] = action.execution().threads();
  ordered_json names = ordered_json::array();
  if (const auto info = context.catalog->Find(action.data().data_set()); info.ok()) {
    for (const int class_id : action.data().class_id()) names.push_back((*info)->class_name(class_id));
  }
  json["class_names"] = names;
  ordered_json parameters = ordered_json::object();
  for (const ParameterSpec& parameter : action.training().command().parameter()) {
    parameters[parameter.name()] = parameter.value();
  }
  json["parameters"] = parameters;
  ordered_json& method = json["method"];
  method["model"] = JsonOf(action.model());
  method["input"] = JsonOf(action.input());
  method["augmentation"] = ordered_json::array();
  for (const AugmentationSpec& augmentation : action.augmentation()) {
    method["augmentation"].push_back(JsonOf(augmentation));
  }
  if (action.has_open_set()) method["open_set"] = JsonOf(action.open_set());
  if (action.has_loss()) method["loss"] = JsonOf(action.loss());
  method["training"] = JsonOf(action.training());
  return json;
}

// ---- The program runs.

// The CPU time of a process group, in clock ticks.
int64_t TicksOf(pid_t group) {
  int64_t ticks = 0;
  for (const std::string& name : ListFolder("/proc").value_or(std::vector<std::string>())) {
    int process = 0;
    if (!absl::SimpleAtoi(name, &process)) continue;
    const std::optional<ProcessStat> stat = StatOf(process);
    if (stat.has_value() && stat->group == group) ticks += stat->cpu_ticks;
  }
  return ticks;
}

// Reads the lines that the program appends to progress.jsonl: {"epoch": 1, "epochs": 5, "loss": 0.4}, epoch from 1.
class ProgressReader {
 public:
  explicit ProgressReader(std::string path) : path_(std::move(path)) {}

  // Whether there are new lines.
  bool Read() {
    const int64_t size = FileSize(path_);
    if (size == size_ || size > kMostProgressBytes) return false;
    size_ = size;
    const absl::StatusOr<std::string> text = ReadFile(path_, kMostProgressBytes);
    if (!text.ok()) return false;
    epochs_.clear();
    for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipWhitespace())) {
      const nlohmann::json json = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
      if (json.is_object()) Take(json);
    }
    return true;
  }

  const WorkProgress& now() const { return now_; }
  const std::vector<EpochSummary>& epochs() const { return epochs_; }

 private:
  void Take(const nlohmann::json& json) {
    const auto number = [&json](const char* name) -> std::optional<double> {
      const auto found = json.find(name);
      if (found == json.end() || !found->is_number()) return std::nullopt;
      return found->get<double>();
    };
    const std::optional<double> epoch = number("epoch"), epochs = number("epochs"), loss = number("loss");
    constexpr double kMost = 1e6;
    if (epoch.has_value() && *epoch >= 1 && *epoch <= kMost) {
      now_.set_epoch(static_cast<int>(*epoch));
      if (epochs_.empty() || epochs_.back().epoch() != now_.epoch() - 1) {
        epochs_.emplace_back().set_epoch(now_.epoch() - 1);
      }
      if (loss.has_value()) epochs_.back().set_loss(*loss);
    }
    if (epochs.has_value() && *epochs >= 1 && *epochs <= kMost) now_.set_epochs(static_cast<int>(*epochs));
    if (loss.has_value()) now_.set_loss(*loss);
    if (now_.epochs() > 0) now_.set_fraction(std::min(1.0, static_cast<double>(now_.epoch()) / now_.epochs()));
    now_.set_what(now_.has_epoch() ? absl::StrCat("epoch ", now_.epoch(), "/", now_.epochs()) : "runs");
  }

  const std::string path_;
  int64_t size_ = 0;
  WorkProgress now_;
  std::vector<EpochSummary> epochs_;
};

// ": " and the last line of the action's log, to which the program writes; "" if there is none.
std::string LastLine(const ArrayContext& context) {
  const std::string text = ReadEnd(context.store.LogPath(context.key), 4096);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipWhitespace());
  return lines.empty() ? "" : absl::StrCat(": ", OneLine(lines.back()));
}

std::map<std::string, std::string> EnvironmentOf(const TrainAction& action, const std::string& folder,
                                                 const ArrayContext& context) {
  const std::string threads = absl::StrCat(std::max(1, action.execution().threads()));
  std::map<std::string, std::string> environment = {{"OPENSET_TRIAL", JoinPath(folder, kTrialFile)},
                                                    {"OMP_NUM_THREADS", threads},
                                                    {"MKL_NUM_THREADS", threads},
                                                    {"OPENBLAS_NUM_THREADS", threads},
                                                    {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"},
                                                    {"PYTHONHASHSEED", "0"},
                                                    {"PYTHONUNBUFFERED", "1"}};
  if (!context.cuda_device.has_value()) {
    environment["CUDA_VISIBLE_DEVICES"] = "";
  } else if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr && *visible != '\0') {
    const std::vector<std::string> names = absl::StrSplit(visible, ',');  // ours is an index into them
    environment["CUDA_VISIBLE_DEVICES"] = names[std::min<size_t>(*context.cuda_device, names.size() - 1)];
  } else {
    environment["CUDA_VISIBLE_DEVICES"] = absl::StrCat(*context.cuda_device);
  }
  return environment;
}

// Runs the command until it ends or is stopped. However this process ends, by SIGKILL too, the command and all that it
// started in its group end with it: a process of the group waits for the end of a pipe whose other end is ours.
absl::Status Wait(const TrainAction& action, const std::string& folder, const ArrayContext& context,
                  ProgressReader* progress) {
  const std::string& run = action.training().command().run();
  SpawnOptions options;
  options.environment = EnvironmentOf(action, folder, context);
  options.output = STDERR_FILENO;  // to the action's log
  options.has_own_group = true;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError(absl::StrCat("pipe2: ", std::strerror(errno)));
  const absl::Cleanup close_ends = [&ends] {
    close(ends[0]);
    close(ends[1]);
  };
  options.channel = ends[0];
  constexpr char kScript[] =
      "cd \"$0\" && { { read end; kill -KILL -$$; } <&3 >/dev/null 2>&1 & } && exec /bin/sh -c \"$1\" 3<&-";
  OPENSET_ASSIGN_OR_RETURN(const pid_t process, Spawn({"/bin/sh", "-c", kScript, folder, run}, options));
  absl::Duration asked = absl::InfiniteDuration();  // when it was asked to stop
  int64_t ticks = -1;
  context.report(progress->now());
  while (true) {
    const std::optional<ProcessEnd> end = WaitForEnd(process, absl::Milliseconds(500));
    const bool is_stopped = asked != absl::InfiniteDuration();
    if (end.has_value()) {
      kill(-process, SIGKILL);  // what it has left behind
      progress->Read();
      if (is_stopped) return absl::CancelledError("stopped; what the command left in state/ is kept");
      if (end->ok()) return absl::OkStatus();
      return absl::AbortedError(
          absl::StrCat("training.command: '", OneLine(run), "' ", end->Text(), LastLine(context)));
    }
    if (!is_stopped && context.poll()) {
      asked = SteadyNow();
      kill(-process, SIGTERM);
    } else if (is_stopped && SteadyNow() - asked > kGrace) {
      kill(-process, SIGKILL);
    }
    const bool spoke = progress->Read();
    const int64_t now = TicksOf(process);
    if (spoke || now != ticks) context.report(progress->now());  // otherwise it may hang, which the engine notices
    ticks = now;
  }
}

// ---- What the program has written.

// Reads the outputs for the rows of `samples`. `path` is the program's file.
absl::StatusOr<SampleSet> ReadRows(const std::string& path, const SampleFile& samples, int classes) {
  const auto problem = [&path](absl::string_view text) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", text));
  };
  OPENSET_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpz(path));
  const auto logits = arrays.find("logits");
  if (logits == arrays.end() || logits->second.shape.size() != 2) return problem("needs an array 'logits' [N, K]");
  if (logits->second.shape[0] != samples.size()) {
    return problem(absl::StrCat("has ", logits->second.shape[0], " rows of logits for ", samples.size(), " samples"));
  }
  if (logits->second.shape[1] < classes) {
    return problem(absl::StrCat("has ", logits->second.shape[1], " outputs for ", classes, " known classes"));
  }
  const auto sample_set_of = [&path](const NpzArrays& from) -> absl::StatusOr<SampleSet> {
    OPENSET_ASSIGN_OR_RETURN(ScoreFile file,
                             ScoreFileOf(path, NamedArrays(path, from), ScoreDirection::kHigherIsUnknown));
    return SampleSetOf(std::move(file));
  };
  if (arrays.count("label") > 0) {
    OPENSET_ASSIGN_OR_RETURN(const SampleSet theirs,
                             sample_set_of({{"label", arrays["label"]}, {"logits", arrays["logits"]}}));
    for (int64_t i = 0; i < samples.size(); ++i) {
      if (theirs.label[i] == samples.label()[i]) continue;
      return problem(absl::StrCat("row ", i, " has the label ", theirs.label[i], ", and the sample has ",
                                  samples.label()[i], ": keep the order of the samples, or leave 'label' out"));
    }
  }
  for (const char* known : {"group", "group_names", "class_id", "class_names", "sample", "path"}) arrays.erase(known);
  arrays["label"] = MakeNpy(samples.label(), {samples.size()});
  return sample_set_of(arrays);
}

// The arrays of outputs, by name; `visit` gets the values and the number of columns (0: one value for each row).
template <typename Values, typename Visit>
void ForEachArray(Values* outputs, const Visit& visit) {
  visit("logits", &outputs->logits);
  visit("features", &outputs->features);
  visit("head_weight", &outputs->head_weight);
  visit("head_bias", &outputs->head_bias);
  visit("member_uncertainty", &outputs->member_uncertainty);
  visit("label", &outputs->label);
  visit("class_id", &outputs->class_id);
  visit("group", &outputs->group);
  visit("prediction", &outputs->prediction);
  visit("cluster", &outputs->cluster);
}

// The outputs for the rows of `samples`.
Outputs MakeOutputs(const SampleSet& read, const SampleFile& samples) {
  Outputs outputs;
  outputs.num_outputs = read.num_outputs;
  outputs.feature_dim = read.feature_dim;
  outputs.logits.assign(read.logits.begin(), read.logits.end());
  outputs.features.assign(read.features.begin(), read.features.end());
  outputs.head_weight = read.head_weight;
  outputs.head_bias = read.head_bias;
  outputs.member_uncertainty = read.member_uncertainty;
  outputs.prediction.assign(read.prediction.begin(), read.prediction.end());
  outputs.cluster = read.cluster.empty() ? samples.cluster() : read.cluster;
  outputs.label = samples.label();
  outputs.class_id = samples.class_id();
  outputs.group = samples.group();
  return outputs;
}

template <typename T>
constexpr ArrayType TypeOf() {
  return std::is_same_v<T, float> ? ArrayType::kF32 : ArrayType::kI64;
}

// Adds the arrays of a part, which must outlive `content`.
void AddArrays(const char* part, const Outputs& outputs, Safetensors* content) {
  ForEachArray(&outputs, [&](const char* name, const auto* values) {
    using Element = typename std::decay_t<decltype(*values)>::value_type;
    if (values->empty()) return;
    content->arrays[absl::StrCat(part, ".", name)] = {
        TypeOf<Element>(),
        {static_cast<int64_t>(values->size())},
        {reinterpret_cast<const char*>(values->data()), values->size() * sizeof(Element)}};
  });
}

// The part of a training's samples that an inference is about; null: none.
const Part* PartOf(const InferAction& action, const TrainAction& train) {
  const std::string known = MessageDigest(action.known());
  if (action.unknown_size() > 0 || known == MessageDigest(train.samples().test_known())) return &kTest;
  if (known == MessageDigest(train.data())) return &kFit;
  if (train.samples().has_validation_known() && known == MessageDigest(train.samples().validation_known())) {
    return &kValidation;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<CommandResult> RunTrainingCommand(const TrainAction& action, const ArrayContext& context) {
  const CommandSpec& command = action.training().command();
  if (!context.allow_commands) {
    return absl::PermissionDeniedError(
        absl::StrCat("training.command: '", OneLine(command.run()), "' runs only with --allow_commands"));
  }
  const std::string folder = context.store.WorkFolder(context.key), state = JoinPath(folder, kStateFolder);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  // Only state/ stays from an earlier attempt.
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> left, ListFolder(folder));
  for (const std::string& name : left) {
    if (name != kStateFolder) OPENSET_RETURN_IF_ERROR(RemoveTree(JoinPath(folder, name)));
  }
  OPENSET_RETURN_IF_ERROR(CopySources(command, folder));
  if (!FileExists(state)) {
    OPENSET_RETURN_IF_ERROR(MakeFolders(state));
    const std::string before = JoinPath(context.store.WorkFolder(context.continued_key), kStateFolder);
    if (!context.continued_key.empty() && FileExists(before)) {
      std::error_code error;
      std::filesystem::copy(before, state, std::filesystem::copy_options::recursive, error);
      if (error) return absl::UnavailableError(absl::StrCat("cannot copy ", before, ": ", error.message()));
    }
  }
  const CommandSamples& samples = action.samples();
  const google::protobuf::RepeatedPtrField<UnknownGroup> no_unknown;
  const google::protobuf::RepeatedPtrField<ShiftedGroup> no_shifted;
  const auto write = [&](const Part& part, const Selection& known, const auto& unknown, const auto& shifted) {
    return WriteSamples(JoinPath(folder, part.samples), known, unknown, shifted, context);
  };
  std::vector<std::pair<const Part*, SampleFile>> parts;
  const bool is_network = !action.model().has_outputs();  // which openset passes over all samples but those to train on
  if (!is_network) {
    OPENSET_ASSIGN_OR_RETURN(SampleFile test,
                             write(kTest, samples.test_known(), samples.test_unknown(), samples.test_shifted()));
    parts.emplace_back(&kTest, std::move(test));
  }
  OPENSET_ASSIGN_OR_RETURN(SampleFile train, write(kFit, action.data(), no_unknown, no_shifted));
  parts.emplace_back(&kFit, std::move(train));
  if (samples.has_validation_known()) {
    OPENSET_ASSIGN_OR_RETURN(SampleFile validation,
                             write(kValidation, samples.validation_known(), samples.validation_unknown(), no_shifted));
    parts.emplace_back(&kValidation, std::move(validation));
  }
  if (action.has_external()) {
    OPENSET_RETURN_IF_ERROR(
        WriteSamples(JoinPath(folder, "external.npz"), action.external(), no_unknown, no_shifted, context).status());
  }
  OPENSET_RETURN_IF_ERROR(
      WriteFileAtomically(JoinPath(folder, kTrialFile), JsonText(TrialJson(action, context), 2) + "\n"));

  ProgressReader progress(JoinPath(folder, kProgressFile));
  const absl::Status end = Wait(action, folder, context, &progress);
  for (const char* large : {"test.npz", "train.npz", "validation.npz", "external.npz"}) {
    RemoveTree(JoinPath(folder, large)).IgnoreError();
  }
  OPENSET_RETURN_IF_ERROR(end);

  CommandResult result;
  result.epochs = progress.epochs();
  if (is_network) {
    for (const char* name : kWeightFiles) {
      result.weights = JoinPath(folder, name);
      if (FileExists(result.weights)) return result;
    }
    return absl::InvalidArgumentError(absl::StrCat("training.command: '", OneLine(command.run()), "' ended without ",
                                                   absl::StrJoin(kWeightFiles, " or "),
                                                   ", the weights of the network"));
  }
  std::vector<Outputs> outputs;
  outputs.reserve(parts.size());
  Safetensors content;
  content.metadata["key"] = context.key;
  for (const auto& [part, rows] : parts) {
    const std::string path = JoinPath(folder, part->outputs);
    if (!FileExists(path)) {
      if (part != &kTest) continue;
      return absl::InvalidArgumentError(absl::StrCat("training.command: '", OneLine(command.run()), "' ended without ",
                                                     part->outputs, ", the outputs for ", part->samples));
    }
    OPENSET_ASSIGN_OR_RETURN(const SampleSet read, ReadRows(path, rows, action.data().class_id_size()));
    for (const std::string& hint : read.hints) result.notes.push_back(absl::StrCat(part->outputs, ": ", hint));
    outputs.push_back(MakeOutputs(read, rows));
    AddArrays(part->name, outputs.back(), &content);
  }
  OPENSET_ASSIGN_OR_RETURN(result.checkpoint, EncodeSafetensors(content));
  return result;
}

absl::StatusOr<Outputs> OutputsOfCommand(const InferAction& action, const TrainAction& train,
                                         const std::string& checkpoint) {
  OPENSET_ASSIGN_OR_RETURN(const Safetensors content, DecodeSafetensors(checkpoint));
  const Part* part = PartOf(action, train);
  if (part == nullptr) return absl::NotFoundError("the command got other samples than this inference has");
  Outputs outputs;
  absl::Status status;
  ForEachArray(&outputs, [&](const char* name, auto* values) {
    using Element = typename std::decay_t<decltype(*values)>::value_type;
    const auto found = content.arrays.find(absl::StrCat(part->name, ".", name));
    if (found == content.arrays.end()) return;
    if (found->second.type != TypeOf<Element>()) {
      status = absl::DataLossError(absl::StrCat("the checkpoint's array ", found->first, " is of another type"));
      return;
    }
    values->resize(found->second.data.size() / sizeof(Element));
    std::memcpy(values->data(), found->second.data.data(), found->second.data.size());
  });
  OPENSET_RETURN_IF_ERROR(status);
  if (outputs.label.empty()) {
    return absl::NotFoundError(absl::StrCat("training.command wrote no ", part->outputs,
                                            ", which this score needs: the "
                                            "outputs for the samples of ",
                                            part->samples, ", in their order"));
  }
  const auto rows = static_cast<int64_t>(outputs.label.size());
  outputs.num_outputs = static_cast<int64_t>(outputs.logits.size()) / rows;
  outputs.feature_dim = static_cast<int64_t>(outputs.features.size()) / rows;
  outputs.group_names = NamesOf(action.unknown());
  return outputs;
}

}  // namespace openset
