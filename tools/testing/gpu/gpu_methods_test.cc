// Compares methods on a simulated GPU (core/tensor/testing/memory_gpu.h) with the CPU: training, a stop and a
// resumption within it, inference, and the fit of scores; and states the work of host and GPU in a step of each method.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/random.h"
#include "core/tensor/testing/memory_gpu.h"
#include "core/tensor/torch.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/catalog.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/infer/inference.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/study/study.h"
#include "experiments/train/training.h"
#include "experiments/train/training_run.h"
#include "experiments/worker/action_context.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/worker.proto.h"
#include "models/checkpoint.h"

namespace openset {
namespace {

const at::Device kGpu(at::kCUDA, 1);

constexpr char kTable[] = "tools/testing/gpu/testdata/gpu_steps.tsv";

// 96 training images of 16x16 in three steps, of which a training takes two.
constexpr char kSpec[] = R"(
name: "methods"
task: "fashion_and_gradients"
split: 0
seed: 0
override {
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  model { vgg32 { width: 4 feature_dim: 8 } }
  pretraining { training { epochs: 1 batch_size: 32 max_steps: 2 } }
  training { epochs: 1 batch_size: 32 max_steps: 2 }
}
axis { path: "open_set.confusing_images.width" value: "4" method: "arpl_cs" }
train_limit_per_class: 16
test_limit_per_class: 8
metric { accuracy {} }
metric { auroc {} }
)";

// Whether this is the form with all methods.
bool IsLong() {
  const char* form = std::getenv("OPENSET_METHODS");
  return form != nullptr && std::string(form) == "all";
}

// A line of GpuWork.sequence.
constexpr char kCopyToDevice[] = "copy to the device";

// The GPU's operations are the CPU's kernels, in any precision. TF32 has the CPU's layout, so the bits differ only
// where the code treats GPUs differently, which the code of the four methods doesn't.
double Tolerance() { return IsLong() ? 1e-4 : 0; }

// In FP32, convolutions sum in another order. The mean loss of two steps differs by less than this, but weights may
// differ by as much as Adam's step, which follows the sign of gradients near 0.
constexpr double kLossTolerance = 0.01;

std::vector<std::string> AllMethods() {
  std::vector<std::string> names = NamesIn({*RunfilesFolder() + "/openset/experiments/methods"});
  // These are fitted to features, on the CPU.
  const auto of_features = [](const std::string& name) {
    return name == "logistic_regression" || name == "nearest_mean";
  };
  names.erase(std::remove_if(names.begin(), names.end(), of_features), names.end());
  return names;
}

constexpr char kGradients[] = R"(
name: "gradients"
class_name: ["some", "others"]
channels: 3 height: 32 width: 32
layout {
  part { name: "train" samples: 1000 samples_per_class: 500 cifar_binary { file { path: "gradients/train.bin" } } }
  part { name: "test" samples: 200 samples_per_class: 100 cifar_binary { file { path: "gradients/test.bin" } } }
}
)";

// Images in colour, each from one value at the top left to others at the right and at the bottom, with noise.
std::string Gradients(const std::string& part, int images) {
  RandomStream random(0, part);
  std::string bytes;
  for (int i = 0; i < images; ++i) {
    bytes.push_back(static_cast<char>(i % 2));
    for (int c = 0; c < 3; ++c) {
      const double start = random.Uniform(40, 216), right = random.Uniform(-40, 40), down = random.Uniform(-40, 40);
      for (int y = 0; y < 32; ++y) {
        for (int x = 0; x < 32; ++x) {
          const double value = start + (right * x + down * y) / 32 + 10 * random.Normal();
          bytes.push_back(static_cast<char>(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0))));
        }
      }
    }
  }
  return bytes;
}

void Write(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

// Makes a folder with methods.textproto, the study of these methods, and its task: fashion_mnist_6_4 with the images
// above as external images. Returns its path.
std::string MakeStudy(const std::string& name, const std::vector<std::string>& methods) {
  const std::string folder = JoinPath(::testing::TempDir(), name);
  std::filesystem::remove_all(folder);
  std::string task = ReadFile(*RunfilesFolder() + "/openset/data/tasks/fashion_mnist_6_4.textproto").value_or("");
  EXPECT_EQ(absl::StrReplaceAll({{"data_set: \"cifar10\"", "data_set: \"gradients\""},
                                 {"name: \"fashion_mnist_6_4\"", "name: \"fashion_and_gradients\""}},
                                &task),
            2);
  Write(folder + "/data/tasks/fashion_and_gradients.textproto", task);
  Write(folder + "/data/catalog/gradients.textproto", kGradients);
  Write(folder + "/data/gradients/train.bin", Gradients("train", 1000));
  Write(folder + "/data/gradients/test.bin", Gradients("test", 200));
  std::string spec = kSpec;
  for (const std::string& method : methods) absl::StrAppend(&spec, "method: '", method, "'\n");
  Write(folder + "/methods.textproto", spec);
  return folder;
}

// The study of these methods, on one device.
class Place {
 public:
  // `folder`: of MakeStudy().
  Place(const std::string& folder, at::Device device, ExecutionSpec::Precision precision = ExecutionSpec::FP32)
      : device_(device), precision_(precision), store_(absl::StrCat(folder, "/", device.str(), precision)) {
    const std::string shipped = *RunfilesFolder() + "/openset";
    const std::vector<std::string> data_folders = {JoinPath(folder, "data"), shipped + "/data/packaged"};
    SpecFolders folders = SpecFoldersBelow(shipped);
    AddSpecFolders(SpecFoldersBelow(folder), &folders);
    StudyOptions options;
    options.changes.set = {"execution.precision=" + ExecutionSpec::Precision_Name(precision)};
    options.expand.default_device = device.is_cpu() ? ExecutionSpec::CPU : ExecutionSpec::CUDA;
    options.data_folders = data_folders;
    auto study = Study::Load(JoinPath(folder, "methods.textproto"), folders, store_, options);
    EXPECT_THAT(study, IsOk());
    study_ = *std::move(study);
    auto catalog = Catalog::Open({shipped + "/data/catalog", JoinPath(folder, "data/catalog")});
    EXPECT_THAT(catalog, IsOk());
    images_ = std::make_unique<ImageCache>(*catalog, data_folders);
  }

  const Plan& plan() const { return study_->plan(); }
  ExecutionSpec::Precision precision() const { return precision_; }
  const Store& store() const { return store_; }

  ActionContext Context(const std::string& key, const Store& store) const {
    ActionContext context{key, {}, store, device_, images_.get(), [](const WorkProgress&) {}};
    return context;
  }

  absl::Status Do(const Action& action) const {
    const WorkRequest request = plan().RequestOf(action);
    ActionContext context = Context(action.key, store_);
    context.inputs = request.action().input();
    if (request.action().has_train()) return Train(request.action().train(), context);
    if (request.action().has_evaluate()) return EvaluateTrial(action.key, request.action(), request.trial(), store_);
    std::vector<InferRequest> requests = {{request.key(), request.action()}};
    for (const WorkRequest& other : request.passenger()) requests.push_back({other.key(), other.action()});
    return Infer(requests, context);
  }

  TensorMap Checkpoint(const Store& store, const std::string& key) const {
    const auto tensors = LoadTensors(JoinPath(store.CheckpointFolder(key), kCheckpointFile));
    EXPECT_THAT(tensors, IsOk());
    return tensors.value_or(TensorMap());
  }

  // The mean loss of each epoch; empty without training.
  std::vector<double> Losses(const std::string& key) const {
    const auto summary = store_.LoadTrainSummary(key);
    EXPECT_THAT(summary, IsOk());
    std::vector<double> losses;
    for (const EpochSummary& epoch : summary->epoch()) losses.push_back(epoch.loss());
    return losses;
  }

  // That a training which is stopped after its first step goes on to the same bits.
  void ExpectSameResumed(const Action& action, const std::string& folder) const {
    const ActionSpec spec = plan().RequestOf(action).action();
    const TrainAction& train = spec.train();
    if (!train.has_training() || spec.input_size() > 0) return;
    const Store store(folder);
    ActionContext context = Context(action.key, store);
    context.poll = [] { return true; };
    ASSERT_THAT(Train(train, context), StatusIs(absl::StatusCode::kCancelled));
    ASSERT_THAT(Train(train, Context(action.key, store)), IsOk());
    const TensorMap resumed = Checkpoint(store, action.key), whole = Checkpoint(store_, action.key);
    ASSERT_EQ(resumed.size(), whole.size());
    for (const auto& [name, tensor] : whole) EXPECT_THAT(resumed.at(name), TensorEq(tensor)) << name;
  }

  // The operations of the GPU and its host in an epoch of three steps.
  GpuWork WorkOfEpoch(TrainAction action) const {
    action.mutable_training()->clear_max_steps();
    ConfigureExecution(action.execution());
    const ActionContext context = Context("work", store_);
    auto run = TrainingRun::Make(action, context);
    EXPECT_THAT(run, IsOk());
    ForgetGpuWork();
    EXPECT_THAT((*run)->FinishEpoch(), IsOk());
    return GpuWorkSoFar();
  }

  // What happens in the order of an epoch of six steps: in each step, and for each batch in the thread that makes them.
  struct Sequences {
    std::vector<std::vector<std::string>> step, batch;
  };
  Sequences SequencesOf(TrainAction action) const {
    action.mutable_training()->clear_max_steps();
    action.mutable_training()->set_batch_size(16);
    ConfigureExecution(action.execution());
    const ActionContext context = Context("sequences", store_);
    auto run = TrainingRun::Make(action, context);
    EXPECT_THAT(run, IsOk());
    Sequences sequences;
    ForgetGpuWork(/*record_sequence=*/true);
    size_t before = 0;
    do {
      BeginGpuStep();
      EXPECT_THAT((*run)->Step(), IsOk());
      const std::vector<std::string> all = GpuWorkSoFar().sequence["main"];
      sequences.step.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
      before = all.size();
    } while (!(*run)->between_epochs());
    const GpuWork work = GpuWorkSoFar();
    for (const std::string& line : work.sequence.at("other")) {
      // A batch begins with the one copy of what it needs.
      if (line == kCopyToDevice) sequences.batch.emplace_back();
      if (!sequences.batch.empty()) sequences.batch.back().push_back(line);
    }
    EXPECT_EQ(sequences.batch.size(), sequences.step.size());
    ForgetGpuWork();
    return sequences;
  }

 private:
  const at::Device device_;
  const ExecutionSpec::Precision precision_;
  const Store store_;
  std::unique_ptr<Study> study_;
  std::unique_ptr<ImageCache> images_;
};

double largest_difference = 0, largest_loss_difference = 0;

// Relative to the largest value, or 1.
void ExpectNear(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  if (actual.numel() == 0) return;
  const at::Tensor difference = (actual.to(at::kDouble) - expected.to(at::kDouble)).abs();
  const double relative = difference.max().item<double>() / std::max(1.0, expected.abs().max().item<double>());
  EXPECT_LE(relative, Tolerance()) << what;
  largest_difference = std::max(largest_difference, relative);
}

void ExpectNearLosses(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t e = 0; e < actual.size(); ++e) {
    const double relative = std::abs(actual[e] - expected[e]) / std::max(1.0, std::abs(expected[e]));
    EXPECT_LE(relative, kLossTolerance) << "epoch " << e;
    largest_loss_difference = std::max(largest_loss_difference, relative);
  }
}

at::Tensor Row(const std::vector<float>& values) { return at::tensor(values); }

void ExpectSame(const Place& cpu, const Action& on_cpu, const Place& gpu, const Action& on_gpu) {
  if (gpu.precision() == ExecutionSpec::FP32) {
    if (on_cpu.kind == ActionKind::kTrain) ExpectNearLosses(gpu.Losses(on_gpu.key), cpu.Losses(on_cpu.key));
    return;
  }
  if (on_cpu.kind == ActionKind::kTrain) {
    const TensorMap expected = cpu.Checkpoint(cpu.store(), on_cpu.key);
    const TensorMap actual = gpu.Checkpoint(gpu.store(), on_gpu.key);
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [name, tensor] : expected) ExpectNear(actual.at(name), tensor, name);
  } else if (on_cpu.kind == ActionKind::kInfer) {
    const auto expected = ReadOutputs(JoinPath(cpu.store().OutputsFolder(on_cpu.key), kOutputsFile));
    const auto actual = ReadOutputs(JoinPath(gpu.store().OutputsFolder(on_gpu.key), kOutputsFile));
    ASSERT_THAT(expected, IsOk());
    ASSERT_THAT(actual, IsOk());
    EXPECT_EQ(actual->label, expected->label);
    ExpectNear(Row(actual->logits), Row(expected->logits), "logits");
    ExpectNear(Row(actual->features), Row(expected->features), "features");
    ExpectNear(Row(actual->perturbed_features), Row(expected->perturbed_features), "perturbed features");
    ExpectNear(Row(actual->member_uncertainty), Row(expected->member_uncertainty), "uncertainty");
  }
}

// "same" if all sequences are equal, as a CUDA graph needs, or the first operation that differs, also by the place of a
// tensor that an earlier step made. A graph can't hold what waits for the device or reads the host's memory either.
std::string WhereTheyDiffer(const std::vector<std::vector<std::string>>& sequences, size_t allowed_copies) {
  const auto differs = [](const std::string& line, const std::string& first) {
    std::cout << "  '" << line << "' was '" << first << "'\n";
    return line.substr(0, line.find(' '));
  };
  for (const std::vector<std::string>& sequence : sequences) {
    size_t copies = 0;
    for (size_t i = 0; i < sequence.size(); ++i) {
      const std::string& line = sequence[i];
      if (line.rfind("wait: ", 0) == 0 || (line == kCopyToDevice && ++copies > allowed_copies)) return line;
      const std::vector<std::string>& first = sequences.front();
      if (i >= first.size()) return differs(line, "");
      if (first[i] != line) return differs(line, first[i]);
    }
    if (sequence.size() < sequences.front().size()) return differs(sequences.front()[sequence.size()], "");
  }
  return "same";
}

// The learning rate is set before the part of a step that a graph would hold. The first step also starts the epoch, and
// the last one ends it.
std::string WhereStepsDiffer(std::vector<std::vector<std::string>> steps) {
  std::vector<std::vector<std::string>> inner(steps.begin() + 1, steps.end() - 1);
  for (std::vector<std::string>& step : inner) {
    if (!step.empty() && step.front().rfind("aten::fill_.Scalar ", 0) == 0) step.erase(step.begin());
  }
  return WhereTheyDiffer(inner, /*allowed_copies=*/0);
}

// The columns of the table, for an epoch of three steps; then whether the steps and the batches of an epoch of six are
// the same sequence of operations.
constexpr char kHeader[] =
    "method\tmain waits\tautograd waits\tother waits\tcopies to GPU\tcopies to host\toperations\tsteps\tbatches";

std::vector<int64_t> ColumnsOf(const GpuWork& work) {
  return {work.Waits("main"),    work.Waits("autograd"), work.Waits("other"),
          work.copies_to_device, work.copies_to_host,    work.Operations()};
}

struct GoldenRow {
  std::vector<int64_t> counts;
  std::vector<std::string> words;
};

std::map<std::string, GoldenRow> GoldenTable() {
  std::map<std::string, GoldenRow> table;
  const std::string text = ReadFile(*RunfilesFolder() + "/openset/" + kTable).value_or("");
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    GoldenRow& row = table[cells[0]];
    for (size_t c = 1; c < cells.size(); ++c) {
      int64_t count = 0;
      if (absl::SimpleAtoi(cells[c], &count)) {
        row.counts.push_back(count);
      } else {
        row.words.push_back(cells[c]);
      }
    }
  }
  return table;
}

TEST(MethodsOnAGpu, EqualTheCpuAndResume) {
  const std::string folder =
      MakeStudy("equal", IsLong() ? AllMethods()
                                  : std::vector<std::string>{"arpl_cs", "augmix", "crl_openauc", "outlier_exposure"});
  const Place cpu(folder, at::kCPU);
  const Place gpu(folder, kGpu), tf32(folder, kGpu, ExecutionSpec::TF32);
  const std::vector<ActionId> actions = cpu.plan().NeededActions();
  ASSERT_EQ(gpu.plan().NeededActions(), actions);
  ASSERT_EQ(tf32.plan().NeededActions(), actions);
  for (const ActionId id : actions) {
    const Action& on_cpu = cpu.plan()[id];
    if (on_cpu.is_passenger()) continue;
    SCOPED_TRACE(absl::StrCat(cpu.plan().TrialOf(on_cpu).method().name(), ", action ", static_cast<int>(id)));
    const absl::Status expected = cpu.Do(on_cpu);
    // After so little training, some scores can't be fitted.
    ASSERT_TRUE(expected.ok() || on_cpu.kind == ActionKind::kEvaluate) << expected;
    for (const Place* place : {&gpu, &tf32}) {
      SCOPED_TRACE(ExecutionSpec::Precision_Name(place->precision()));
      const Action& on_gpu = place->plan()[id];
      ForgetGpuWork();
      ASSERT_EQ(place->Do(on_gpu).code(), expected.code());
      EXPECT_EQ(GpuWorkSoFar().Operations() > 0, on_cpu.kind != ActionKind::kEvaluate);
      for (const ActionId done : cpu.plan().DoneWith(on_cpu)) {
        ExpectSame(cpu, cpu.plan()[done], *place, place->plan()[done]);
      }
      if (on_cpu.kind == ActionKind::kTrain) {
        place->ExpectSameResumed(on_gpu,
                                 absl::StrCat(folder, "/resumed", static_cast<int>(id), "/", place->precision()));
      }
    }
  }
  std::cout << "largest difference from the CPU: " << largest_difference
            << ", of the loss in FP32: " << largest_loss_difference << "\n";
}

// The cost of an epoch for each method that trains, and whether a CUDA graph could hold its steps.
TEST(MethodsOnAGpu, CostNoMoreThanTheTable) {
  const std::string folder = MakeStudy("cost", AllMethods());
  const Place gpu(folder, kGpu);
  std::map<std::string, GoldenRow> golden = GoldenTable();
  std::string table = absl::StrCat(kHeader, "\n");
  std::string by_operation = "method\toperation\tcount\n";  // to find operations that can be saved
  std::set<std::string> counted;
  for (const ActionId id : gpu.plan().NeededActions()) {
    const Action& action = gpu.plan()[id];
    if (action.kind != ActionKind::kTrain) continue;
    if (action.role != ActionRole::kMain) {
      ASSERT_THAT(gpu.Do(action), IsOk());
      continue;
    }
    if (action.member > 0) continue;
    const TrainAction train = gpu.plan().RequestOf(action).action().train();
    const std::string method = gpu.plan().TrialOf(action).method().name();
    if (!train.has_training() || !counted.insert(method).second) continue;
    SCOPED_TRACE(method);
    const GpuWork work = gpu.WorkOfEpoch(train);
    const std::vector<int64_t> columns = ColumnsOf(work);
    absl::StrAppend(&table, method);
    for (const int64_t count : columns) absl::StrAppend(&table, "\t", count);
    const Place::Sequences sequences = gpu.SequencesOf(train);
    const std::vector<std::string> words = {WhereStepsDiffer(sequences.step),
                                            WhereTheyDiffer(sequences.batch, /*allowed_copies=*/1)};
    absl::StrAppend(&table, "\t", absl::StrJoin(words, "\t"), "\n");
    for (const auto& [name, count] : work.operations)
      absl::StrAppend(&by_operation, method, "\t", name, "\t", count, "\n");
    const GoldenRow& allowed = golden[method];
    ASSERT_EQ(allowed.words.size(), words.size());
    // Which operation differs first may depend on where the other thread's tensors are.
    for (size_t w = 0; w < words.size(); ++w) EXPECT_EQ(words[w] == "same", allowed.words[w] == "same") << words[w];
    EXPECT_EQ(allowed.counts.size(), columns.size()) << "add its line to " << kTable;
    for (size_t c = 0; c < allowed.counts.size(); ++c) EXPECT_LE(columns[c], allowed.counts[c]) << "column " << c + 1;
    if (HasFailure()) {
      for (const auto& [wait, count] : work.waits) std::cout << "  " << count << "  " << wait << "\n";
    }
  }
  // If it has become smaller, write it into the file.
  std::cout << table;
  if (const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR"); outputs != nullptr) {
    EXPECT_THAT(WriteFileAtomically(JoinPath(outputs, "gpu_steps.tsv"), table), IsOk());
    EXPECT_THAT(WriteFileAtomically(JoinPath(outputs, "gpu_operations.tsv"), by_operation), IsOk());
  }
}

}  // namespace
}  // namespace openset
