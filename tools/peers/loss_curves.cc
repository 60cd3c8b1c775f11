#include "core/torch.h"
// core/torch.h goes first: core/logging.h takes over its macros.
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files.h"
#include "core/logging.h"
#include "core/proto_rules.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text_proto.h"
#include "experiments/open_set_source.h"
#include "experiments/optimizer.h"
#include "losses/loss_needs.h"
#include "losses/make_loss_term.h"
#include "models/initialise.h"
#include "models/make_model.h"
#include "tools/peers/loss_curves.h"

namespace openset {
namespace {

constexpr int64_t kClasses = 6;
constexpr int64_t kSamples = 512;
constexpr int64_t kBatch = 64;
constexpr int64_t kEpochs = 25;  // that the terms are told of
constexpr int64_t kSize = 24;
constexpr int64_t kBlock = 8;  // pixels
constexpr uint64_t kSeed = 0;

struct Network {
  std::string backbone;
  at::ScalarType dtype;
};

// The network with batch norm, in f32, turns a change of its weights by 1e-7 into one of the loss by 1e-3 within 100
// steps, whoever computes it.
const std::map<std::string, Network>& Networks() {
  static const auto& networks = *new std::map<std::string, Network>{
      {"osrci_cnn", {"osrci_cnn { dropout: 0 }", at::kFloat}},
      {"vgg32", {"vgg32 { dropout: 0 width: 4 feature_dim: 16 }", at::kDouble}},
  };
  return networks;
}

// What a training is made of beyond its network: a part of a MethodSpec.
const std::map<std::string, std::string>& Methods() {
  static const auto& methods = *new std::map<std::string, std::string>{
      {"cross_entropy", "loss { term { cross_entropy {} } }"},
      {"label_smoothing", "loss { term { cross_entropy { label_smoothing: 0.3 } } }"},
      {"open_auc", R"(
          open_set { feature_mixup { mixed: SECOND_HALF } }
          loss { term { cross_entropy {} } term { open_auc { lambda: 0.1 } } })"},
      {"open_auc_supplement", R"(
          open_set { feature_mixup { mixed: WHOLE_BATCH } }
          loss {
            term { cross_entropy {} }
            term { open_auc { lambda: 0.5 unknown_score: MIN_MISCLASSIFICATION mean: ALL_PAIRS } }
          })"},
      {"crl", "loss { term { cross_entropy {} } term { crl_ranking { variant: ORIGINAL } } }"},
      {"crl_unified_benchmark",
       "loss { term { cross_entropy {} } term { crl_ranking { variant: UNIFIED_BENCHMARK } } }"},
      {"edl", "loss { term { evidential { objective: LOG evidence: EXPONENTIAL } } }"},
      {"edl_mean_square", "loss { term { evidential { objective: MEAN_SQUARE evidence: SOFTPLUS } } }"},
      {"outlier_exposure", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { cross_entropy {} } term { outlier_exposure {} } })"},
      {"energy_margin", R"(
          open_set { noise_images { share: 0.5 range: MINIMUM_TO_MAXIMUM } }
          loss { term { cross_entropy {} } term { energy_margin { known_margin: -5 open_margin: -1 } } })"},
      {"gcpl", "model { head { prototype {} } } loss { term { cross_entropy {} } term { gcpl {} } }"},
      {"rpl", R"(
          model { head { reciprocal_point { dot_product: false } } }
          loss { term { cross_entropy {} } term { rpl {} } })"},
      {"arpl", "model { head { reciprocal_point {} } } loss { term { cross_entropy {} } term { arpl {} } }"},
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

// Samples of class c: a pattern of its own, of blocks of pixels, under noise.
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

class Training {
 public:
  Training(const std::string& name, const std::string& model) : method_(MethodOf(name, model)), all_(MadeUpSamples()) {
    RandomStream init(kSeed, "init");
    absl::StatusOr<std::shared_ptr<Model>> made = MakeModel(method_.model(), method_.input(), kClasses, &init);
    CHECK(made.ok()) << made.status();
    model_ = *std::move(made);
    dtype_ = Networks().at(model).dtype;
    model_->to(dtype_);
    weights_ = StateOf(*model_);
    if (method_.has_open_set()) source_ = MakeOpenSetSource(method_.open_set());
    Optimizer::NamedTensors parameters;
    for (const auto& parameter : model_->named_parameters()) {
      parameters.emplace_back(parameter.key(), parameter.value());
    }
    for (const LossTermSpec& term : method_.loss().term()) {
      CHECK_EQ(NeedsOf(term).extra_views, 0) << "one view of an image is all there is";
      terms_.push_back(MakeLossTerm(term));
      for (const auto& [parameter, tensor] : terms_.back()->Parameters()) {
        tensor.set_data(tensor.data().to(dtype_));
        parameters.emplace_back(parameter, tensor);
      }
    }
    optimizer_ = MakeOptimizer(method_.training().optimizer(), std::move(parameters));
    history_.correct = at::zeros({kSamples}, at::kLong);
  }

  LossCurve Run(int64_t steps) {
    LossCurve curve;
    curve.weights = weights_;
    constexpr int64_t kSteps = kSamples / kBatch;  // of an epoch
    at::Tensor order;
    std::vector<at::Tensor> batches;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t epoch = step / kSteps;
      if (step % kSteps == 0) {
        RandomStream random(kSeed, absl::StrCat("order/epoch ", epoch));
        order = at::tensor(random.Permutation(kSamples), at::kLong);
        history_.epochs = epoch;
      }
      batches.push_back(order.slice(0, step % kSteps * kBatch, (step % kSteps + 1) * kBatch));
      RandomStream random(kSeed, absl::StrCat("open_set/step ", step));
      curve.loss.push_back(Step(batches.back(), epoch, &random));
    }
    draws_["batch"] = std::move(batches);
    curve.data = {{"image", Npy(all_.image)}, {"label", Npy(all_.label)}};
    for (const auto& [name, of_step] : draws_) curve.data.emplace(name, Npy(at::stack(of_step)));
    return curve;
  }

 private:
  double Step(const at::Tensor& samples, int64_t epoch, RandomStream* random) {
    const Batch batch{
        all_.image.index_select(0, samples).to(dtype_).contiguous(at::MemoryFormat::ChannelsLast),
        all_.label.index_select(0, samples),
        samples,
    };
    ModelOutput known, extra;
    OpenSet open;
    at::Tensor extra_images = source_ != nullptr ? source_->ExtraImages(batch, random) : at::Tensor();
    if (extra_images.defined()) {
      draws_["extra"].push_back(extra_images.to(at::kFloat));
      extra_images = draws_["extra"].back().to(dtype_).contiguous(at::MemoryFormat::ChannelsLast);
      const ModelOutput all = model_->Forward(at::cat({batch.image, extra_images}));
      known = all.Rows(0, kBatch);
      extra = all.Rows(kBatch, all.logits.size(0));
    } else {
      known = model_->Forward(batch.image);
    }
    LossInput input{batch, known};
    if (source_ != nullptr) {
      if (method_.open_set().has_feature_mixup()) NoteMixup(*random);
      const auto forward = [&](const at::Tensor& image, int norm_set) { return model_->Forward(image, norm_set); };
      const auto head = [&](const at::Tensor& feature) { return model_->ForwardHead(feature); };
      open = source_->Make({batch, known, extra, forward, head, random});
      input.open = &open;
    }
    input.history = &history_;
    input.epoch = epoch;
    input.epochs = kEpochs;

    at::Tensor objective = at::zeros({});
    for (size_t t = 0; t < terms_.size(); ++t) {
      objective = objective + terms_[t]->Compute(input) * method_.loss().term(static_cast<int>(t)).weight();
    }
    optimizer_->ZeroGradients();
    objective.backward();
    optimizer_->Step(method_.training().optimizer().learning_rate());
    const at::Tensor hit = known.logits.argmax(1).eq(batch.label).to(at::kLong);
    history_.correct.index_add_(0, samples, hit);
    return objective.item<double>();
  }

  // What feature mixup is about to draw.
  void NoteMixup(RandomStream random) {
    const FeatureMixupSpec& spec = method_.open_set().feature_mixup();
    const bool half = spec.mixed() == FeatureMixupSpec::SECOND_HALF;
    draws_["order"].push_back(at::tensor(random.Permutation(half ? kBatch / 2 : kBatch), at::kLong));
    draws_["coefficient"].push_back(at::scalar_tensor(random.Beta(spec.alpha(), spec.alpha()), at::kDouble));
  }

  const MethodSpec method_;
  const Batch all_;
  std::shared_ptr<Model> model_;
  at::ScalarType dtype_;
  TensorMap weights_;
  std::unique_ptr<OpenSetSource> source_;  // null without an open set
  std::vector<std::unique_ptr<LossTerm>> terms_;
  std::unique_ptr<Optimizer> optimizer_;
  SampleHistory history_;
  std::map<std::string, std::vector<at::Tensor>> draws_;  // one a step
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
