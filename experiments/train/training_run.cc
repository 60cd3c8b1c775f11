#include "experiments/train/training_run.h"

#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/logging.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "core/tensor/torch_generator.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/method/training_epochs.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/train/checkpoint.h"
#include "experiments/train/open_set_source.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/input_pipeline.h"
#include "losses/loss.pb.h"
#include "models/layers/layers.h"

namespace openset {

absl::StatusOr<std::unique_ptr<TrainingData>> TrainingData::Make(const TrainAction& action,
                                                                 const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(Batcher batcher,
                           context.images->MakeBatcher(action.data(), action.input().channels(), context.device));
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, TrainingPipelineWithViews(action, context.device));
  return std::unique_ptr<TrainingData>(new TrainingData(action, std::move(batcher), std::move(pipeline)));
}

TrainingData::TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline)
    : seed_(action.seed()),
      batch_size_(action.training().batch_size()),
      drop_last_(action.training().drop_last()),
      batcher_(std::move(batcher)),
      pipeline_(std::move(pipeline)) {}

void TrainingData::UseOpenSet(std::shared_ptr<OpenSetSource> source) {
  source_ = std::move(source);
  most_batches_ = source_->MostSteps(batch_size_);
}

void TrainingData::StartStreams(size_t epoch) {
  stream_.reset();
  pass_ = 0;
  order_.emplace(seed_, absl::StrCat("order/epoch ", epoch));
  augment_.emplace(seed_, absl::StrCat("augment/epoch ", epoch));
  open_.emplace(seed_, absl::StrCat("open_set/epoch ", epoch));
  if (source_ != nullptr) source_->StartEpoch(&*open_);
}

void TrainingData::StartEpoch(size_t epoch) {
  StartStreams(epoch);
  StartPass(/*taken=*/0);
}

void TrainingData::StartPass() {
  ++pass_;
  StartPass(/*taken=*/0);
}

void TrainingData::StartPlainEpoch(size_t epoch) {
  StartStreams(epoch);
  pass_ = 1;
  StartPass(/*taken=*/0);
}

absl::Status TrainingData::ResumeEpoch(size_t epoch, int64_t batches, const BatchStream::State& state) {
  StartStreams(epoch);
  augment_->set_state(state.augment);
  open_->set_state(state.open);
  if (source_ != nullptr) OPENSET_RETURN_IF_ERROR(source_->ResumeEpoch(state.source));
  pass_ = batches / batches_per_pass();
  for (int64_t pass = 0; pass < pass_; ++pass) batcher_.Epoch(batch_size_, drop_last_, &*order_);
  StartPass(batches % batches_per_pass());
  return absl::OkStatus();
}

BatchStream::State TrainingData::state() const {
  BatchStream::State state = stream_->state();
  if (DrawsOpenSet()) return state;
  state.open = open_->state();
  if (source_ != nullptr) state.source = source_->EpochState();
  return state;
}

void TrainingData::StartPass(int64_t taken) {
  stream_.reset();
  std::vector<at::Tensor> batches = batcher_.Epoch(batch_size_, drop_last_, &*order_);
  batches.resize(batches_per_pass());
  batches.erase(batches.begin(), batches.begin() + taken);
  left_ = static_cast<int64_t>(batches.size());
  stream_ = std::make_unique<BatchStream>(batcher_, std::move(batches), pipeline_, &*augment_,
                                          DrawsOpenSet() ? OpenSetDrawing{source_.get(), &*open_} : OpenSetDrawing{});
}

absl::StatusOr<Batch> TrainingData::Next() {
  OPENSET_ASSIGN_OR_RETURN(std::optional<Batch> batch, stream_->Next());
  --left_;
  return *std::move(batch);
}

namespace {

// Names in the file's metadata.
constexpr char kKey[] = "key";
constexpr char kSummary[] = "summary";  // a record (core/proto/record_file.h) in base64

// Over all tensors in the order of their names: the file has no checksum of its own.
std::string DigestOf(const TensorMap& tensors) {
  Sha256 sum;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor bytes = tensor.cpu().contiguous();
    sum.Update(
        absl::StrCat(name, " ", c10::toString(bytes.scalar_type()), " [", absl::StrJoin(bytes.sizes(), ","), "]\n"));
    sum.Update({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
  }
  return ToHex(sum.Finish());
}

}  // namespace

absl::Status SaveTrainingState(const NamedTensors& tensors, const TrainSummary& summary, const std::string& key,
                               const std::string& path) {
  TensorMap map;
  for (const auto& [name, tensor] : tensors) map[name] = tensor.detach();
  TrainSummary with_digest = summary;
  with_digest.set_checkpoint_sha256(DigestOf(map));
  return SaveTensors(map, {{kKey, key}, {kSummary, absl::Base64Escape(EncodeRecord(with_digest))}}, path);
}

absl::StatusOr<SavedTraining> LoadTrainingState(const std::string& path, const std::string& key) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  OPENSET_ASSIGN_OR_RETURN(const Safetensors file, DecodeSafetensors(bytes), path);
  const auto stored_key = file.metadata.find(kKey);
  const auto stored_summary = file.metadata.find(kSummary);
  if (stored_key == file.metadata.end() || stored_summary == file.metadata.end() || stored_key->second != key) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is of another training"));
  }
  SavedTraining saved;
  std::string record;
  if (!absl::Base64Unescape(stored_summary->second, &record)) {
    return absl::DataLossError(absl::StrCat(path, ": its summary is corrupt"));
  }
  OPENSET_RETURN_IF_ERROR(Annotate(DecodeRecord(record, &saved.summary), path));
  for (const auto& [name, array] : file.arrays) saved.tensors[name] = TensorOf(array);
  // Earlier versions wrote none.
  if (saved.summary.has_checkpoint_sha256() && saved.summary.checkpoint_sha256() != DigestOf(saved.tensors)) {
    return absl::DataLossError(absl::StrCat(path, ": its tensors do not match their checksum"));
  }
  saved.summary.clear_checkpoint_sha256();
  return saved;
}

absl::Status CheckTensors(const TensorMap& saved, const NamedTensors& tensors) {
  if (saved.size() != tensors.size()) return absl::InvalidArgumentError("holds other tensors");
  for (const auto& [name, tensor] : tensors) {
    const auto like = saved.find(name);
    if (like == saved.end() || like->second.sizes() != tensor.sizes() ||
        like->second.scalar_type() != tensor.scalar_type()) {
      return absl::InvalidArgumentError(absl::StrCat("has no tensor '", name, "' of the training's shape and type"));
    }
  }
  return absl::OkStatus();
}

namespace {

// Names in State() for the current epoch.
constexpr char kSums[] = "epoch.sums";
constexpr char kSteps[] = "epoch.steps";
constexpr char kGenerator[] = "epoch.generator";  // of dropout
constexpr char kOpen[] = "epoch.open";            // the open set's random stream
constexpr char kAugment[] = "epoch.augment";      // the augmentations'
constexpr char kSource[] = "epoch.source";        // OpenSetSource::EpochState(), if it has any

at::Tensor StreamTensor(const RandomStream::State& state) {
  return at::tensor(std::vector<int64_t>(state.begin(), state.end()), at::kLong);
}

// Returns the value that State() stored. Errors: kInvalidArgument.
absl::StatusOr<RandomStream::State> StreamIn(const TensorMap& saved, const char* name) {
  RandomStream::State state = {};
  const auto found = saved.find(name);
  if (found != saved.end() && CheckTensors({*found}, {{name, StreamTensor(state)}}).ok()) {
    std::copy_n(found->second.const_data_ptr<int64_t>(), state.size(), state.begin());
  }
  if (state == RandomStream::State{}) return absl::InvalidArgumentError(absl::StrCat(name, ": not a random state"));
  return state;
}

// The same; none if it is not there.
absl::StatusOr<std::vector<int64_t>> SourceIn(const TensorMap& saved) {
  const auto found = saved.find(kSource);
  if (found == saved.end()) return std::vector<int64_t>();
  const at::Tensor& values = found->second;
  if (values.scalar_type() != at::kLong || values.dim() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(kSource, ": is not a list of whole numbers"));
  }
  const int64_t* begin = values.const_data_ptr<int64_t>();
  return std::vector<int64_t>(begin, begin + values.numel());
}

// The same. Precondition: it exists.
absl::StatusOr<int64_t> StepsIn(const TensorMap& saved) {
  const at::Tensor& steps = saved.at(kSteps);
  if (steps.scalar_type() != at::kLong || steps.numel() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(kSteps, ": is not a number of steps"));
  }
  return steps.item<int64_t>();
}

Optimizer::NamedTensors WeightsOf(const Model& model) {
  Optimizer::NamedTensors weights;
  for (const auto& weight : model.named_parameters()) weights.emplace_back(weight.key(), weight.value());
  return weights;
}

Optimizer::NamedTensors ParametersOf(const Model& model, const Objective& objective) {
  Optimizer::NamedTensors parameters = WeightsOf(model);
  for (const auto& parameter : objective.Parameters()) parameters.push_back(parameter);
  return parameters;
}

}  // namespace

// The state of one epoch between its steps.
struct TrainingRun::Epoch {
  int64_t steps = 0;
  // Objective, terms, hits; summed over samples on the device, so that steps don't wait for each other.
  at::Tensor sums;
};

absl::StatusOr<std::unique_ptr<TrainingRun>> TrainingRun::Make(const TrainAction& action,
                                                               const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<TrainingData> data, TrainingData::Make(action, context));
  ImportNotes notes;
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Model> model, MakeInitialModel(action, context, &notes));
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<OpenSetSource> source,
                           MakeOpenSetSource(action, context, model->feature_dim()));
  if (source != nullptr) data->UseOpenSet(source);
  return std::unique_ptr<TrainingRun>(
      new TrainingRun(action, context, std::move(data), std::move(model), std::move(notes), std::move(source)));
}

TrainingRun::TrainingRun(const TrainAction& action, const ActionContext& context, std::unique_ptr<TrainingData> data,
                         std::shared_ptr<Model> model, ImportNotes import_notes, std::shared_ptr<OpenSetSource> source)
    : action_(action),
      device_(context.device),
      data_(std::move(data)),
      model_(std::move(model)),
      import_notes_(std::move(import_notes)),
      generator_(MakeGenerator(device_, 0)),
      objective_(action, device_, data_->samples(), model_, std::move(source)),
      optimizer_(MakeOptimizer(action.training().optimizer(), ParametersOf(*model_, objective_))),
      average_(action.training().has_swa() ? std::make_unique<WeightAverage>(WeightsOf(*model_)) : nullptr),
      rate_(MakeLearningRate(device_)) {}

TrainingRun::~TrainingRun() = default;

bool TrainingRun::done() const {
  return between_epochs() &&
         (static_cast<int64_t>(epochs_.size()) >= EpochsOf(action_.training()) || steps_ >= max_steps());
}

int64_t TrainingRun::max_steps() const {
  const int64_t all = StepsPerEpoch() * EpochsOf(action_.training());
  return action_.training().max_steps() > 0 ? std::min(all, action_.training().max_steps()) : all;
}

int64_t TrainingRun::images_seen() const { return ImagesOf(steps_); }

int64_t TrainingRun::ImagesOf(int64_t steps) const {
  const int64_t batch = action_.training().batch_size();
  const int64_t a_pass = data_->batches_per_pass();
  if (a_pass == 0) return 0;
  const int64_t per_pass = std::min(a_pass * batch, data_->samples());
  return steps / a_pass * per_pass + steps % a_pass * batch;
}

NamedTensors TrainingRun::State() const {
  NamedTensors state;
  for (const auto& parameter : model_->named_parameters()) {
    state.emplace_back("model." + parameter.key(), parameter.value());
  }
  for (const auto& buffer : model_->named_buffers()) state.emplace_back("model." + buffer.key(), buffer.value());
  for (const auto& [name, tensor] : optimizer_->State()) state.emplace_back("optimizer." + name, tensor);
  for (const auto& named : objective_.State()) state.push_back(named);
  if (average_ != nullptr) {
    for (const auto& [name, tensor] : average_->State()) state.emplace_back("swa." + name, tensor);
  }
  if (between_epochs()) return state;
  state.emplace_back(kSums, epoch_->sums);
  state.emplace_back(kSteps, at::tensor({epoch_->steps}, at::kLong));
  state.emplace_back(kGenerator, generator_.get_state());
  const BatchStream::State data = data_->state();
  state.emplace_back(kOpen, StreamTensor(data.open));
  state.emplace_back(kAugment, StreamTensor(data.augment));
  if (!data.source.empty()) state.emplace_back(kSource, at::tensor(data.source, at::kLong));
  return state;
}

absl::Status TrainingRun::Resume(std::vector<EpochSummary> epochs, const TensorMap& state) {
  CHECK(steps_ == 0 && between_epochs()) << "a run resumes before its first step";
  epochs_ = std::move(epochs);
  const auto count = static_cast<int64_t>(epochs_.size());
  objective_.SetCompleteEpochs(count);
  steps_ = std::min(count * StepsPerEpoch(), max_steps());
  const absl::Status fits = state.count(kSteps) > 0 ? ResumeEpoch(state) : CheckTensors(state, State());
  if (!fits.ok()) {
    epochs_.clear();
    epoch_.reset();
    objective_.SetCompleteEpochs(0);
    steps_ = 0;
    return fits;
  }
  const c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : State()) tensor.copy_(state.at(name));
  return absl::OkStatus();
}

absl::Status TrainingRun::ResumeEpoch(const TensorMap& state) {
  OPENSET_ASSIGN_OR_RETURN(const int64_t steps, StepsIn(state));
  BatchStream::State data;
  OPENSET_ASSIGN_OR_RETURN(data.open, StreamIn(state, kOpen));
  OPENSET_ASSIGN_OR_RETURN(data.augment, StreamIn(state, kAugment));
  OPENSET_ASSIGN_OR_RETURN(data.source, SourceIn(state));
  if (done() || steps < 1 || steps >= StepsPerEpoch() || steps_ + steps >= max_steps()) {
    return absl::InvalidArgumentError(absl::StrCat("no epoch is under way after ", steps, " of its steps"));
  }
  StartEpoch();
  OPENSET_RETURN_IF_ERROR(data_->ResumeEpoch(epochs_.size(), steps, data));
  OPENSET_RETURN_IF_ERROR(CheckTensors(state, State()));
  try {
    generator_.set_state(state.at(kGenerator));
  } catch (const c10::Error& error) {
    return absl::InvalidArgumentError(absl::StrCat(kGenerator, ": ", error.what_without_backtrace()));
  }
  epoch_->steps = steps;
  steps_ += steps;
  return absl::OkStatus();
}

void TrainingRun::StartEpoch() {
  const size_t number = epochs_.size();
  const at::TensorOptions on_device = at::TensorOptions(at::kDouble).device(device_);
  epoch_ = std::make_unique<Epoch>();
  epoch_->sums = at::zeros({action_.loss().term_size() + 2}, on_device);
  generator_.set_current_seed(DeriveSeed(action_.seed(), absl::StrCat("libtorch/epoch ", number)));
  model_->SetGenerator(generator_);
  model_->train(true);
  objective_.StartEpoch(static_cast<int>(number));
}

double TrainingRun::RateOf(int64_t step) const {
  return LearningRate(action_.training(), {static_cast<int>(epochs_.size()), step, StepsPerEpoch()});
}

void TrainingRun::SetRate() {
  const double rate = RateOf(epoch_->steps);
  if (rate == rate_value_) return;
  rate_.fill_(rate);
  rate_value_ = rate;
}

absl::Status TrainingRun::Step() {
  CHECK(!done()) << "a step after the last one";
  if (between_epochs()) {
    StartEpoch();
    data_->StartEpoch(epochs_.size());
  }
  SetRate();
  OPENSET_ASSIGN_OR_RETURN(const Batch batch, data_->Next());
  AddToSums(TakeStep(batch), batch.label.size(0));
  ++epoch_->steps;
  ++steps_;
  if (steps_ >= max_steps() || epoch_->steps == StepsPerEpoch()) return EndEpoch();
  if (data_->left() == 0) data_->StartPass();
  return absl::OkStatus();
}

absl::Status TrainingRun::FinishEpoch() {
  do {
    OPENSET_RETURN_IF_ERROR(Step());
  } while (!between_epochs());
  return absl::OkStatus();
}

Objective::Step TrainingRun::TakeStep(const Batch& batch) {
  const Objective::Step step = Differentiate(batch, *model_, &objective_, optimizer_.get());
  optimizer_->Step(rate_);
  objective_.EndStep(batch, step.hit);
  return step;
}

// In few kernels for a GPU. The products of the losses, in f32, with `size` are exact in the f64 of the sums.
void TrainingRun::AddToSums(const Objective::Step& step, int64_t size) {
  at::Tensor losses = step.objective.detach();  // equal to its only term
  if (step.term.size() > 1) {
    std::vector<at::Tensor> all = {losses};
    all.insert(all.end(), step.term.begin(), step.term.end());
    losses = at::stack(all);
  }
  epoch_->sums.slice(0, 0, -1).add_(losses, size);
  epoch_->sums[-1].add_(step.hit.mean(at::kDouble), size);
}

absl::Status TrainingRun::Finish(const std::function<bool()>& stop) {
  CHECK(done()) << "a training is finished after its last step";
  if (averaged_epochs() == 0) return absl::OkStatus();
  average_->SetWeights();
  std::vector<BatchNorm*> norms;
  for (const auto& [path, part] : model_->named_modules()) {
    if (auto* const norm = dynamic_cast<BatchNorm*>(part)) norms.push_back(norm);
  }
  if (norms.empty()) return absl::OkStatus();
  const c10::NoGradGuard no_grad;
  for (BatchNorm* const norm : norms) {
    norm->ResetStatistics();
    norm->SetCumulative(true);
  }
  generator_.set_current_seed(DeriveSeed(action_.seed(), "libtorch/swa"));
  model_->SetGenerator(generator_);
  model_->train(true);
  data_->StartPlainEpoch(epochs_.size());
  while (data_->left() > 0) {
    if (stop()) return absl::CancelledError("stopped while it measured batch norms; the training's state is saved");
    OPENSET_ASSIGN_OR_RETURN(const Batch batch, data_->Next());
    const PrecisionScope precision(action_.execution(), device_);
    model_->Forward(batch.image);
  }
  for (BatchNorm* const norm : norms) norm->SetCumulative(false);
  return absl::OkStatus();
}

double TrainingRun::MeanLoss() const {
  if (!between_epochs()) return epoch_->sums[0].item<double>() / static_cast<double>(ImagesOf(epoch_->steps));
  return epochs_.empty() ? 0 : epochs_.back().loss();
}

absl::Status TrainingRun::EndEpoch() {
  const at::Tensor means = epoch_->sums.cpu() / ImagesOf(epoch_->steps);
  EpochSummary summary;
  summary.set_epoch(static_cast<int>(epochs_.size()));
  summary.set_learning_rate(RateOf(0));
  summary.set_loss(means[0].item<double>());
  for (int t = 0; t < action_.loss().term_size(); ++t) summary.add_term(means[t + 1].item<double>());
  summary.set_train_accuracy(means[-1].item<double>());
  epochs_.push_back(summary);
  epoch_.reset();
  objective_.SetCompleteEpochs(static_cast<int64_t>(epochs_.size()));
  LOG(INFO) << summary.ShortDebugString();
  if (average_ != nullptr && summary.epoch() >= FirstAveragedEpoch(action_.training())) average_->Add();
  if (std::isfinite(summary.loss())) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the training diverged: the loss is ", summary.loss(), " in epoch ",
                                         summary.epoch() + 1, ", at learning rate ", summary.learning_rate()));
}

}  // namespace openset
