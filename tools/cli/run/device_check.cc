#include "tools/cli/run/device_check.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/files/temporary_folder.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "experiments/action/action.h"
#include "experiments/action/stage.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/plan/plan.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "experiments/worker/cpu_precision.h"
#include "tools/cli/devices/devices.h"
#include "tools/cli/run/engine_options.h"

namespace openset {
namespace {

constexpr int kClasses = 4, kImages = 160, kChannels = 3, kSide = 16;

constexpr char kCatalog[] = R"(
name: "device_check"
class_name: ["first", "second", "third", "fourth"]
channels: 3 height: 16 width: 16
layout {
  part { name: "train" samples: 160 samples_per_class: 40 cifar_binary { file { path: "train.bin" } } }
  part { name: "test" samples: 160 samples_per_class: 40 cifar_binary { file { path: "test.bin" } } }
}
)";

constexpr char kTask[] = R"(
name: "device_check"
data_set: "device_check"
split { known: [0, 1] unknown: [2] }
external { data_set: "device_check" class_id: 3 }
)";

constexpr char kStudy[] = R"(
name: "device_check"
task: "device_check"
split: 0
seed: 0
method: ["softmax", "openauc", "outlier_exposure", "arpl_cs", "odin", "mahalanobis", "knn"]
override {
  model { vgg32 { width: 4 feature_dim: 8 } }
  input { size: 16 channels: 3 mean: 0.5 std: 0.25 }
  augmentation { resize {} }
  augmentation { rand_augment { ops: 1 magnitude: 9 } }
  augmentation { random_crop { padding: 2 } }
  augmentation { horizontal_flip {} }
  training { epochs: 1 batch_size: 32 max_steps: 2 }
}
axis { path: "open_set.confusing_images.width" value: "4" method: "arpl_cs" }
validation_per_class: 8
search {
  method: "softmax"
  axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.01"] }
  criterion { auroc {} }
}
metric { accuracy {} }
metric { auroc {} }
)";

// Noise around a grey that depends on the class.
std::string Images(const std::string& part) {
  RandomStream random(0, part);
  std::string bytes;
  for (int i = 0; i < kImages; ++i) {
    const int label = i % kClasses;
    bytes.push_back(static_cast<char>(label));
    for (int p = 0; p < kChannels * kSide * kSide; ++p) {
      const double value = 48 * (label + 1) + 40 * random.Normal();
      bytes.push_back(static_cast<char>(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0))));
    }
  }
  return bytes;
}

std::string StudyFile(const std::string& folder) { return JoinPath(folder, "device_check.textproto"); }

absl::Status WriteStudy(const std::string& folder) {
  for (const char* name : {"catalog", "tasks"}) OPENSET_RETURN_IF_ERROR(MakeFolders(JoinPath(folder, name)));
  for (const auto& [path, content] : {std::pair<std::string, std::string>{"catalog/device_check.textproto", kCatalog},
                                      {"tasks/device_check.textproto", kTask},
                                      {"device_check.textproto", kStudy},
                                      {"train.bin", Images("train")},
                                      {"test.bin", Images("test")}}) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, path), content));
  }
  return absl::OkStatus();
}

std::vector<ExecutionSpec::Precision> PrecisionsOf(ExecutionSpec::Device device) {
  if (device == ExecutionSpec::CUDA) return {ExecutionSpec::FP32, ExecutionSpec::TF32, ExecutionSpec::BF16};
  ExecutionSpec bf16;
  bf16.set_device(device);
  bf16.set_precision(ExecutionSpec::BF16);
  if (!CheckCpuPrecision(bf16).ok()) return {ExecutionSpec::FP32};
  return {ExecutionSpec::FP32, ExecutionSpec::BF16};
}

// How a study was run once.
struct Pass : EngineObserver {
  void OnFinish(ActionId id, const absl::Status& status) override {
    if (!status.ok()) problems[id] = OneLine(status.message());
  }
  void OnSkip(ActionId id) override { problems[id] = "not tried, because it needs what failed"; }

  std::unique_ptr<Study> study;
  std::map<ActionId, std::string> problems;
};

// "train softmax, learning_rate 0.1".
std::string NameOf(const Action& action, const Plan& plan) {
  const Trial& trial = plan.TrialOf(action);
  std::string name = absl::StrCat(KindName(action.kind), " ", trial.method().name());
  for (const AxisValue& axis : trial.axis()) absl::StrAppend(&name, ", ", axis.name(), " ", axis.value());
  return name;
}

// Identifies the bytes of an action's result.
absl::StatusOr<std::string> DigestOf(const Action& action, const Study& study) {
  const Store& store = study.store();
  switch (action.kind) {
    case ActionKind::kTrain:
      return Sha256HexOfFile(JoinPath(store.CheckpointFolder(action.key), kCheckpointFile));
    case ActionKind::kInfer:
      return Sha256HexOfFile(JoinPath(store.OutputsFolder(action.key), kOutputsFile));
    case ActionKind::kEvaluate: {
      OPENSET_ASSIGN_OR_RETURN(TrialRecord record, store.LoadRecord(action.key));
      record.clear_provenance();
      return Sha256Hex(record.SerializeAsString());
    }
    case ActionKind::kChoose: {
      const int tuned = study.plan().searches[action.search].tuned;
      if (tuned < 0) return absl::NotFoundError("nothing was chosen");
      return study.plan().trial_id(tuned);
    }
  }
  return absl::InternalError("an action of no kind");
}

// What is wrong with an action's two results; "" if nothing is.
std::string ProblemOf(const Action& action, const Pass& first, const Pass& second) {
  for (const Pass* pass : {&first, &second}) {
    const auto problem = pass->problems.find(action.id);
    if (problem != pass->problems.end()) return problem->second;
  }
  // The tuned trials of two choices may differ.
  const std::vector<Action>& again = second.study->plan().actions;
  const auto same = std::find_if(again.begin(), again.end(), [&](const Action& other) {
    return other.kind == action.kind && other.key == action.key && other.search == action.search;
  });
  if (same == again.end()) return "not done the second time, because another learning rate was chosen";
  const absl::StatusOr<std::string> a = DigestOf(action, *first.study), b = DigestOf(*same, *second.study);
  for (const auto* digest : {&a, &b}) {
    if (!digest->ok()) return OneLine(digest->status().message());
  }
  return *a == *b ? "" : "gave other bytes the second time";
}

}  // namespace

absl::StatusOr<std::vector<CheckedKind>> CheckDevice(const std::string& device, RunConfig config) {
  config.deployment.set_devices(device);
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, FindDevices(config));
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("check"));
  OPENSET_RETURN_IF_ERROR(WriteStudy(folder.path()));
  config.data_folders = {folder.path()};
  SpecFolders folders = SpecFoldersBelow(JoinPath(runfiles, "openset"));
  AddSpecFolders(SpecFoldersBelow(folder.path()), &folders);
  const std::vector<ExecutionSpec::Precision> precisions = PrecisionsOf(devices.default_device);

  std::vector<std::vector<Pass>> passes;  // the first and the second, of each precision
  for (const char* name : {"first", "second"}) {
    const Store store(JoinPath(folder.path(), name));
    OPENSET_ASSIGN_OR_RETURN(const LocalEngineOptions engine_options, EngineOptions(config, folders.catalog));
    LocalEngine engine(store, engine_options);
    std::vector<Pass>& runs = passes.emplace_back();
    for (const ExecutionSpec::Precision precision : precisions) {
      StudyOptions options;
      options.expand.default_device = devices.default_device;
      options.expand.device_kind = devices.kind;
      options.data_folders = config.data_folders;
      options.changes.set = {absl::StrCat("execution.precision=", ExecutionSpec::Precision_Name(precision))};
      // Between precisions, only the arithmetic of the network differs.
      if (precision != ExecutionSpec::FP32) options.changes.methods = {"softmax", "arpl_cs", "odin"};
      Pass& run = runs.emplace_back();
      OPENSET_ASSIGN_OR_RETURN(run.study, Study::Load(StudyFile(folder.path()), folders, store, options));
      ExecuteOptions execute;
      execute.deploy.set_retries(0);
      const absl::Status ran = run.study->Run(execute, &engine, &run);
      if (!ran.ok() && !absl::IsAborted(ran)) return ran;
    }
  }

  std::vector<CheckedKind> checked;
  for (size_t p = 0; p < precisions.size(); ++p) {
    const Pass &first = passes[0][p], &second = passes[1][p];
    for (const ActionKind kind : kActionKinds) {
      CheckedKind& one = checked.emplace_back();
      one.precision = precisions[p];
      one.kind = kind;
      for (const Action& action : first.study->plan().actions) {
        if (action.kind != kind) continue;
        ++one.actions;
        const std::string problem = ProblemOf(action, first, second);
        if (!problem.empty()) one.problems.push_back(absl::StrCat(NameOf(action, first.study->plan()), ": ", problem));
      }
    }
  }
  return checked;
}

std::string DeviceCheckText(const std::string& device, const std::vector<CheckedKind>& checked) {
  Table table;
  table.header = {"device", "precision", "action", "twice the same"};
  table.left_columns = 3;
  std::string problems;
  for (const CheckedKind& one : checked) {
    const std::string& precision = ExecutionSpec::Precision_Name(one.precision);
    table.rows.push_back(
        {device, precision, KindName(one.kind), absl::StrCat(one.actions - one.problems.size(), " of ", one.actions)});
    for (const std::string& line : one.problems) {
      absl::StrAppend(&problems, OneLine(absl::StrCat(device, ", ", precision, ": ", line)), "\n");
    }
  }
  return ToText(table) + problems;
}

}  // namespace openset
