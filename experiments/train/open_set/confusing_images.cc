// Open-set source: images of a generator that is trained against a discriminator and the classifier, as described at
// ConfusingImagesSpec in open_set.proto. All of them count, and none is paired with a known sample.
//
// With f = D(G(noise)) and binary cross entropies, the discriminator minimises -log D(real) - log(1 - f), and the
// generator minimises -log f + the weighted terms on the open set (OpenSetSource::Context::objective). Noise comes from
// the step's stream; the initial values from the training's seed. The generator's images are normalised as the input
// is. Source: iCGY96/ARPL, core/train.py (train_cs).
//
// Precondition: IsDcganSize(format.size) (models/networks/dcgan.h).
#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/train/open_set/open_set_members.h"
#include "experiments/train/optimizer.h"
#include "models/networks/dcgan.h"

namespace openset {
namespace {

constexpr int kNormSet = 1;

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

NamedTensors ParametersOf(const Module& module) {
  NamedTensors parameters;
  for (const auto& parameter : module.named_parameters()) parameters.emplace_back(parameter.key(), parameter.value());
  return parameters;
}

// [1, C, 1, 1], or undefined if there are no values.
at::Tensor ChannelValues(const std::vector<double>& values, at::Device device) {
  if (values.empty()) return {};
  return at::tensor(values, at::kFloat).reshape({1, -1, 1, 1}).to(device);
}

// Binary cross entropy of probabilities with one label.
at::Tensor CrossEntropy(const at::Tensor& probability, double label) {
  return at::binary_cross_entropy(probability, at::full_like(probability, label));
}

class ConfusingImages : public OpenSetSource {
 public:
  ConfusingImages(const ConfusingImagesSpec& spec, const InputFormat& format, uint64_t seed, at::Device device)
      : spec_(spec),
        mean_(ChannelValues(format.mean, device)),
        std_(ChannelValues(format.std, device)),
        rate_(MakeLearningRate(device, spec.optimizer().learning_rate())),
        generator_({format.size, format.channels, spec.noise_dim(), spec.width()}),
        discriminator_({format.size, format.channels, spec.noise_dim(), spec.width()}) {
    RandomStream random(seed, "confusing_images/init");
    generator_.Initialise(&random);
    discriminator_.Initialise(&random);
    generator_.to(device);
    discriminator_.to(device);
    generator_optimizer_ = MakeOptimizer(spec.optimizer(), ParametersOf(generator_));
    discriminator_optimizer_ = MakeOptimizer(spec.optimizer(), ParametersOf(discriminator_));
  }

  absl::Status Draw(const DrawContext& context) override {
    for (int part = 0; part < 2; ++part) {  // for the networks; for the classifier
      at::Tensor noise = at::empty({context.label.size(0), spec_.noise_dim()}, at::kFloat);
      float* value = noise.mutable_data_ptr<float>();
      for (int64_t i = 0; i < noise.numel(); ++i) value[i] = static_cast<float>(context.random->Normal());
      context.staging->Add(std::move(noise));
    }
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    for (int part = 0; part < 2; ++part) batch->open->tensor.push_back(staging->Next());
  }

  OpenSet Make(const Context& context) override {
    const at::Tensor image = Generate(context, 0);

    discriminator_optimizer_->ZeroGradients();
    const at::Tensor mistakes = CrossEntropy(discriminator_.Forward(context.batch.image), 1) +
                                CrossEntropy(discriminator_.Forward(image.detach()), 0);
    mistakes.backward();
    discriminator_optimizer_->Step(rate_);

    generator_optimizer_->ZeroGradients();
    const at::Tensor noticed = CrossEntropy(discriminator_.Forward(image), 1);
    (noticed + context.objective(OpenSetOf(context, image))).backward();
    generator_optimizer_->Step(rate_);

    at::Tensor second;
    {
      const c10::NoGradGuard no_grad;
      second = Generate(context, 1);
    }
    return OpenSetOf(context, second);
  }

  NamedTensors State() const override {
    NamedTensors state;
    const auto add = [&state](const std::string& prefix, const Module& module, const Optimizer& optimizer) {
      for (const auto& parameter : module.named_parameters()) {
        state.emplace_back(prefix + parameter.key(), parameter.value());
      }
      for (const auto& buffer : module.named_buffers()) state.emplace_back(prefix + buffer.key(), buffer.value());
      for (const auto& [name, tensor] : optimizer.State()) state.emplace_back(prefix + "optimizer." + name, tensor);
    };
    add("generator.", generator_, *generator_optimizer_);
    add("discriminator.", discriminator_, *discriminator_optimizer_);
    return state;
  }

 private:
  // From this part of the noise.
  at::Tensor Generate(const Context& context, size_t part) {
    at::Tensor image = generator_.Forward(context.batch.open->tensor[part]);
    if (mean_.defined()) image = image - mean_;
    if (std_.defined()) image = image / std_;
    return image.contiguous(context.batch.image.suggest_memory_format());
  }

  static OpenSet OpenSetOf(const Context& context, const at::Tensor& image) {
    OpenSet open;
    open.output = context.forward(image, kNormSet);
    open.weight = at::ones({image.size(0)}, image.options());
    return open;
  }

  const ConfusingImagesSpec spec_;
  const at::Tensor mean_;
  const at::Tensor std_;
  const at::Tensor rate_;
  Generator generator_;
  Discriminator discriminator_;
  std::unique_ptr<Optimizer> generator_optimizer_;
  std::unique_ptr<Optimizer> discriminator_optimizer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const ConfusingImagesSpec& spec, const OpenSetSetting& setting) {
  return std::make_unique<ConfusingImages>(spec, setting.format, setting.seed, setting.device);
}

}  // namespace openset
