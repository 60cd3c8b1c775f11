#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/spec/optimizer.pb.h"
// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/tensor/testing/draw_open_set.h"
#include "core/tensor/torch_generator.h"
#include "core/tensor/torch_runtime.h"
#include "data/task.pb.h"
#include "experiments/train/objective.h"
#include "experiments/train/optimizer.h"
#include "losses/loss.pb.h"
#include "models/initialise.h"
#include "models/make_model.h"
#include "tools/peers/loss_curves.h"
#include "tools/peers/noted_source.h"

namespace openset {
namespace {

constexpr int64_t kClasses = 6;
constexpr int64_t kSamples = 512;
constexpr int64_t kBatch = 64;
constexpr int64_t kEpochs = 25;  // of the training, for the terms
constexpr int64_t kSize = 24;
constexpr int64_t kBlock = 8;  // pixels
constexpr uint64_t kSeed = 0;

struct Network {
  std::string backbone;
  at::ScalarType dtype;
};

// With the network with batch norm, in f32, a change of weights by 1e-7 changes the loss by 1e-3 within 100 steps, in
// any implementation.
const std::map<std::string, Network>& Networks() {
  static const auto& networks = *new std::map<std::string, Network>{
      {"osrci_cnn", {"osrci_cnn { dropout: 0 }", at::kFloat}},
      {"vgg32", {"vgg32 { dropout: 0 width: 4 feature_dim: 16 }", at::kDouble}},
  };
  return networks;
}

// With CIDER's loss, it is 5e-3 with the other network too.
at::ScalarType DtypeOf(const std::string& name, const std::string& model) {
  return name == "cider" ? at::kDouble : Networks().at(model).dtype;
}

std::string OpenAuc(const std::string& fields) {
  return absl::StrCat("open_set { feature_mixup { mixed: SECOND_HALF } } loss { term { cross_entropy {} } ",
                      "term { lambda: 0.1 open_auc { ", fields, " } } }");
}

// The settings of a training other than its network: a part of a MethodSpec.
const std::map<std::string, std::string>& Methods() {
  static const auto& methods = *new std::map<std::string, std::string>{
      {"cross_entropy", "loss { term { cross_entropy {} } }"},
      {"label_smoothing", "loss { term { cross_entropy { label_smoothing: 0.3 } } }"},
      {"open_auc", R"(
          open_set { feature_mixup { mixed: SECOND_HALF } }
          loss { term { cross_entropy {} } term { lambda: 0.1 open_auc {} } })"},
      {"open_auc_supplement", R"(
          open_set { feature_mixup { mixed: WHOLE_BATCH } }
          loss {
            term { cross_entropy {} }
            term { lambda: 0.5 open_auc { unknown_score: MIN_MISCLASSIFICATION mean: ALL_PAIRS } }
          })"},
      {"open_auc_all_pairs", R"(
          open_set { feature_mixup { mixed: WHOLE_BATCH } }
          loss {
            term { cross_entropy {} }
            term { lambda: 0.1 open_auc { pairs: ALL unknown_score: MIN_MISCLASSIFICATION mean: ALL_PAIRS } }
          })"},
      {"open_auc_hinge", OpenAuc("surrogate: HINGE")},
      {"open_auc_squared_hinge", OpenAuc("surrogate: SQUARED_HINGE")},
      {"open_auc_logistic", OpenAuc("surrogate: LOGISTIC")},
      {"open_auc_all_samples", OpenAuc("include_misclassified: true")},
      {"crl", "loss { term { cross_entropy {} } term { crl_ranking { variant: ORIGINAL } } }"},
      {"crl_unified_benchmark",
       "loss { term { cross_entropy {} } term { crl_ranking { variant: UNIFIED_BENCHMARK } } }"},
      {"edl", "loss { term { evidential { objective: LOG evidence: EXPONENTIAL } } }"},
      {"edl_mean_square", "loss { term { evidential { objective: MEAN_SQUARE evidence: SOFTPLUS } } }"},
      {"outlier_exposure", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { cross_entropy {} } term { lambda: 0.5 outlier_exposure {} } })"},
      {"energy_margin", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { cross_entropy {} } term { lambda: 0.1 energy_margin { known_margin: -5 open_margin: -1 } } })"},
      {"gcpl", "model { head { prototype {} } } loss { term { cross_entropy {} } term { lambda: 0.1 gcpl {} } }"},
      {"rpl", R"(
          model { head { reciprocal_point { dot_product: false } } }
          loss { term { cross_entropy {} } term { lambda: 0.1 rpl {} } })"},
      {"arpl",
       "model { head { reciprocal_point {} } } loss { term { cross_entropy {} } term { lambda: 0.1 arpl {} } }"},
      {"confusing_samples", R"(
          model { head { reciprocal_point {} } }
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { cross_entropy {} } term { lambda: 0.1 arpl {} } term { lambda: 0.1 confusing_samples {} } })"},
      {"jsd_consistency", "loss { term { cross_entropy {} } term { lambda: 12 jsd_consistency { extra_views: 2 } } }"},
      {"logit_norm", "loss { term { cross_entropy { normalise_logits: true temperature: 0.04 } } }"},
      {"t2fnorm", "model { head { linear { feature_temperature: 0.1 } } } loss { term { cross_entropy {} } }"},
      {"g_odin", "model { head { decomposed {} } } loss { term { cross_entropy {} } }"},
      {"centre", "loss { term { cross_entropy {} } term { lambda: 0.01 centre {} } }"},
      {"class_anchor", "loss { term { class_anchor {} } }"},
      {"intra_inter", "loss { term { cross_entropy {} } term { lambda: 0.1 intra_inter {} } }"},
      {"cider", R"(
          model { head { linear { stop_gradient: true } } }
          loss { term { cross_entropy {} } term { cider { projection_dim: 8 extra_views: 0 } } })"},
      {"confidence_branch", "model { head { extra_outputs: 1 } } loss { term { confidence_branch {} } }"},
      {"objectosphere", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { objectosphere { feature_weight: 0.01 known_length: 5 } } })"},
      {"entropic_open_set", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { objectosphere { feature_weight: 0 } } })"},
      {"background_class", R"(
          model { head { extra_outputs: 1 } }
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { cross_entropy { open_set_is_last_class: true } } })"},
      {"mix_oe", R"(
          open_set { external_images { share: 1 mix { kind: CUTMIX alpha: 0.5 beta: 1 } } }
          loss { term { cross_entropy {} } term { mixed_cross_entropy {} } })"},
      {"openmix", R"(
          model { head { extra_outputs: 1 } }
          open_set { external_images { share: 1 mix { alpha: 10 } mix_beside_batch: true } }
          loss { term { cross_entropy {} } term { mixed_cross_entropy { unknown_is_last_class: true } } })"},
      {"sam", R"(
          loss { term { cross_entropy {} } }
          training { optimizer { sam { rho: 0.05 statistics_of_both_passes: true } } })"},
      {"sam_adaptive", R"(
          loss { term { cross_entropy {} } }
          training { optimizer { sam { rho: 0.1 adaptive: true } } })"},
      {"cosine", "model { head { cosine {} } } loss { term { cross_entropy {} } }"},
      {"vos", R"(
          open_set { virtual_outliers { memory: 8 draws: 100 kept: 2 } }
          loss { term { cross_entropy {} } term { lambda: 0.1 outlier_energy {} } })"},
      {"proser", R"(
          model { head { extra_outputs: 1 } }
          open_set { stage_mixup { alpha: 1 } }
          loss { term { cross_entropy {} } term { placeholder { open_weight: 0.5 } } })"},
      {"scone", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { energy_constraint { margin: -1 cross_entropy_limit: 0.95 } } })"},
      {"rts", R"(
          model { head { random_temperature { degrees: 32 } extra_outputs: 1 } }
          loss { term { random_temperature {} } })"},
      {"mixup", "open_set { mixed_images { mix { alpha: 0.2 } } } loss { term { mixed_cross_entropy {} } }"},
      {"cutmix", "open_set { mixed_images { mix { kind: CUTMIX } } } loss { term { mixed_cross_entropy {} } }"},
      {"reg_mixup", R"(
          open_set { mixed_images { mix { alpha: 20 } beside_batch: true } }
          loss { term { lambda: 0.5 cross_entropy {} } term { lambda: 0.5 mixed_cross_entropy {} } })"},
  };
  return methods;
}

template <typename Message>
void Parse(const std::string& text, Message* message) {
  const absl::StatusOr<TextSource> source = ParseTextProto(text, "method", message);
  CHECK(source.ok()) << source.status();
}

MethodSpec MethodOf(const std::string& name, const std::string& model) {
  const auto text = Methods().find(name);
  const auto network = Networks().find(model);
  CHECK(text != Methods().end() && network != Networks().end()) << name << ", " << model;
  MethodSpec method;
  Parse(absl::StrCat("model { ", network->second.backbone, " head { linear {} } } input { size: ", kSize,
                     " } training { optimizer {"
                     " learning_rate: 0.001 weight_decay: 5e-4 sgd { momentum: 0.9 nesterov: true } } }"),
        &method);
  MethodSpec part;
  Parse(text->second, &part);
  method.MergeFrom(part);
  FillDefaults(&method);
  return method;
}

at::Tensor RandomNormal(at::IntArrayRef shape, RandomStream* random) {
  const at::Tensor tensor = at::empty(shape, at::kFloat);
  DrawNormal(0, 1, random, tensor);
  return tensor;
}

// Samples of class c: its own pattern of pixel blocks, plus noise.
Batch MadeUpSamples() {
  RandomStream random(kSeed, "samples");
  const at::Tensor pattern = RandomNormal({kClasses, 3, kSize / kBlock, kSize / kBlock}, &random);
  Batch all;
  all.label = at::arange(kSamples) % kClasses;
  const at::Tensor blocks = pattern.repeat_interleave(kBlock, 2).repeat_interleave(kBlock, 3);
  all.image = blocks.index_select(0, all.label) + RandomNormal({kSamples, 3, kSize, kSize}, &random);
  return all;
}

NpyArray Npy(const at::Tensor& tensor) {
  const at::Tensor row_major = tensor.contiguous();
  const std::vector<int64_t> shape = tensor.sizes().vec();
  const size_t size = tensor.numel();
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return MakeNpy(absl::MakeConstSpan(row_major.const_data_ptr<float>(), size), shape);
    case at::kDouble:
      return MakeNpy(absl::MakeConstSpan(row_major.const_data_ptr<double>(), size), shape);
    default:
      return MakeNpy(absl::MakeConstSpan(row_major.const_data_ptr<int64_t>(), size), shape);
  }
}

TrainAction ActionOf(const MethodSpec& method) {
  TrainAction action;
  *action.mutable_model() = method.model();
  *action.mutable_input() = method.input();
  *action.mutable_loss() = method.loss();
  *action.mutable_training() = method.training();
  action.mutable_training()->set_epochs(kEpochs);
  for (int c = 0; c < kClasses; ++c) action.mutable_data()->add_class_id(c);
  action.mutable_execution();
  FillDefaults(&action);
  return action;
}

// The objective and the optimiser of experiments/train/training_run.cc, on recorded batches.
class Training {
 public:
  Training(const std::string& name, const std::string& model)
      : method_(MethodOf(name, model)),
        action_(ActionOf(method_)),
        all_(MadeUpSamples()),
        dtype_(DtypeOf(name, model)) {
    RandomStream init(kSeed, "init");
    absl::StatusOr<std::shared_ptr<Model>> made = MakeModel(method_.model(), method_.input(), kClasses, &init);
    CHECK(made.ok()) << made.status();
    model_ = *std::move(made);
    model_->to(dtype_);
    weights_ = StateOf(*model_);
    if (method_.has_open_set()) {
      source_ = MakeNotedSource(
          method_.open_set(), {kClasses, kBatch, model_->feature_dim(), kSize, model_->num_stages()}, dtype_, &draws_);
    }
    objective_ = std::make_unique<Objective>(action_, at::kCPU, kSamples, model_, source_);
    Optimizer::NamedTensors parameters;
    for (const auto& parameter : model_->named_parameters()) {
      parameters.emplace_back(parameter.key(), parameter.value());
    }
    for (const auto& [state, tensor] : objective_->State()) {
      if (tensor.scalar_type() == at::kFloat) tensor.set_data(tensor.data().to(dtype_));
    }
    for (const auto& [parameter, tensor] : objective_->Parameters()) {
      weights_[parameter] = tensor.detach().clone();
      parameters.emplace_back(parameter, tensor);
    }
    optimizer_ = MakeOptimizer(method_.training().optimizer(), std::move(parameters));
    rate_ = MakeLearningRate(at::kCPU, method_.training().optimizer().learning_rate());
  }

  LossCurve Run(int64_t steps) {
    LossCurve curve;
    curve.weights = weights_;
    constexpr int64_t kSteps = kSamples / kBatch;  // in an epoch
    at::Tensor order;
    std::vector<at::Tensor> batches;
    for (int64_t step = 0; step < steps; ++step) {
      const auto epoch = static_cast<int>(step / kSteps);
      if (step % kSteps == 0) {
        RandomStream random(kSeed, absl::StrCat("order/epoch ", epoch));
        order = at::tensor(random.Permutation(kSamples), at::kLong);
        objective_->SetCompleteEpochs(epoch);
        objective_->StartEpoch(epoch);
        if (source_ != nullptr) source_->StartEpoch(&random);
      }
      batches.push_back(order.slice(0, step % kSteps * kBatch, (step % kSteps + 1) * kBatch));
      RandomStream random(kSeed, absl::StrCat("open_set/step ", step));
      curve.loss.push_back(Step(batches.back(), &random));
    }
    draws_["batch"] = std::move(batches);
    curve.data = {{"image", Npy(all_.image)}, {"label", Npy(all_.label)}};
    for (const auto& [name, of_step] : draws_) curve.data.emplace(name, Npy(at::stack(of_step)));
    return curve;
  }

 private:
  double Step(const at::Tensor& samples, RandomStream* random) {
    Batch batch{
        all_.image.index_select(0, samples).to(dtype_).contiguous(at::MemoryFormat::ChannelsLast),
        all_.label.index_select(0, samples),
        samples,
    };
    AddViews(random, &batch);
    NoteTemperature(batch.label.size(0));
    if (source_ != nullptr) {
      const absl::Status drawn = DrawOpenSet(source_.get(), random, &batch);
      CHECK(drawn.ok()) << drawn;
    }
    const Objective::Step step = Differentiate(batch, *model_, objective_.get(), optimizer_.get());
    optimizer_->Step(rate_);
    objective_->EndStep(batch, step.hit);
    return step.objective.item<double>();
  }

  // Records what a head with random temperature will draw.
  void NoteTemperature(int64_t size) {
    if (!method_.model().head().has_random_temperature()) return;
    const auto step = static_cast<uint64_t>(draws_["noise"].size());
    const int64_t degrees = method_.model().head().random_temperature().degrees();
    draws_["noise"].push_back(at::empty({size, degrees}, dtype_).normal_(0, 1, MakeGenerator(at::kCPU, step)));
    model_->SetGenerator(MakeGenerator(at::kCPU, step));
  }

  // Adds noisier versions of the images, for terms that compare views.
  void AddViews(RandomStream* random, Batch* batch) {
    int64_t count = 0;
    for (const LossTermSpec& term : method_.loss().term()) {
      if (term.has_jsd_consistency()) count += term.jsd_consistency().extra_views();
    }
    if (count == 0) return;
    std::vector<at::Tensor> views;
    for (int64_t v = 0; v < count; ++v) {
      views.push_back(batch->image.to(at::kFloat) + 0.5 * RandomNormal(batch->image.sizes(), random));
      batch->view.push_back(views.back().to(dtype_).contiguous(at::MemoryFormat::ChannelsLast));
    }
    draws_["view"].push_back(at::cat(views));
  }

  const MethodSpec method_;
  const TrainAction action_;
  const Batch all_;
  const at::ScalarType dtype_;
  std::shared_ptr<Model> model_;
  TensorMap weights_;
  std::shared_ptr<OpenSetSource> source_;  // may be null
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Optimizer> optimizer_;
  at::Tensor rate_;
  Draws draws_;
};

template <typename Value>
std::vector<std::string> KeysOf(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

std::vector<std::string> LossCurveNames() { return KeysOf(Methods()); }

std::vector<std::string> LossCurveModels() { return KeysOf(Networks()); }

LossCurve RunLossCurve(const std::string& name, const std::string& model, int64_t steps) {
  at::set_num_threads(1);
  return Training(name, model).Run(steps);
}

absl::Status WriteLossCurve(const LossCurve& curve, const std::string& folder, const std::string& name) {
  const std::string path = JoinPath(folder, name);
  OPENSET_RETURN_IF_ERROR(SaveTensors(curve.weights, {}, path + ".safetensors"));
  NpzArrays data = curve.data;
  data.emplace("loss", MakeNpy(absl::MakeConstSpan(curve.loss), {static_cast<int64_t>(curve.loss.size())}));
  return WriteNpz(path + ".npz", data);
}

}  // namespace openset
