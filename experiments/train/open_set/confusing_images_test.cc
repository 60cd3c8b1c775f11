#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/open_set_members.h"
#include "losses/make_loss_term.h"
#include "models/make_model.h"

namespace openset {
namespace {

// A small network with two norm sets, a batch of noise, and the term of ARPL+CS.
class ConfusingImagesTest : public ::testing::Test {
 protected:
  ConfusingImagesTest()
      : input_(ParsedWithDefaults<InputSpec>("size: 16 channels: 1 mean: 0.5 std: 0.25")),
        model_(Network()),
        term_(MakeLossTerm(ParsedWithDefaults<LossTermSpec>("lambda: 0.1 confusing_samples {}"))),
        source_(Source(1)) {
    batch_.image = at::linspace(-2, 2, 6 * 16 * 16).view({6, 1, 16, 16});
    batch_.label = at::tensor({0, 1, 2, 0, 1, 2}, at::kLong);
    batch_.sample = at::arange(6, at::kLong);
  }

  std::shared_ptr<Model> Network() const {
    RandomStream random(1, "confusing_images_test");
    return MakeModel(ParsedWithDefaults<ModelSpec>("vgg32 { width: 4 feature_dim: 6 dropout: 0 norm_sets: 2 } "
                                                   "head { reciprocal_point {} }"),
                     input_, 3, &random)
        .value();
  }

  std::unique_ptr<OpenSetSource> Source(uint64_t seed) const {
    OpenSetSetting setting;
    setting.format = {16, 1, {0.5}, {0.25}};
    setting.seed = seed;
    return *openset::Make(ParsedWithDefaults<ConfusingImagesSpec>(
                              "noise_dim: 5 width: 2 optimizer { learning_rate: 2e-4 adam { beta1: 0.5 } }"),
                          setting);
  }

  OpenSet Make(OpenSetSource* source, uint64_t stream = 1) {
    const ModelOutput known = model_->Forward(batch_.image);
    RandomStream random(stream, "open_set");
    EXPECT_THAT(DrawOpenSet(source, &random, &batch_), IsOk());
    return source->Make({batch_,
                         known,
                         {},
                         [&](const at::Tensor& image, int norm_set) {
                           norm_sets_.push_back(norm_set);
                           images_.push_back(image.detach());
                           return model_->Forward(image, norm_set);
                         },
                         [&](const at::Tensor& feature) { return model_->ForwardHead(feature); },
                         [&](const OpenSet& open) {
                           const ModelOutput constant = known.Detached();
                           return term_->Compute({batch_, constant, &open});
                         }});
  }

  static at::Tensor Value(const OpenSetSource& source, const std::string& name) {
    for (const auto& [key, tensor] : source.State()) {
      if (key == name) return tensor.detach().clone();
    }
    ADD_FAILURE() << "no " << name;
    return {};
  }

  const InputSpec input_;
  const std::shared_ptr<Model> model_;
  const std::unique_ptr<LossTerm> term_;
  const std::unique_ptr<OpenSetSource> source_;
  Batch batch_;
  std::vector<int> norm_sets_;
  std::vector<at::Tensor> images_;
};

TEST_F(ConfusingImagesTest, MakesAsManyNormalisedImagesAsTheBatchHas) {
  const OpenSet open = Make(source_.get());
  EXPECT_EQ(open.output.logits.sizes(), at::IntArrayRef({6, 3}));
  EXPECT_THAT(open.weight, TensorEq(at::ones({6})));
  // One set of images for training the networks and one for the classifier, both with the second set of norms.
  EXPECT_THAT(norm_sets_, ::testing::ElementsAre(1, 1));
  EXPECT_THAT(images_[1], Not(TensorEq(images_[0])));
  for (const at::Tensor& image : images_) {
    EXPECT_EQ(image.sizes(), at::IntArrayRef({6, 1, 16, 16}));
    EXPECT_GE(image.min().item<double>(), (0 - 0.5) / 0.25);
    EXPECT_LE(image.max().item<double>(), (1 - 0.5) / 0.25);
  }
}

TEST_F(ConfusingImagesTest, BothNetworksLearn) {
  const at::Tensor generator = Value(*source_, "generator.conv1.weight");
  const at::Tensor discriminator = Value(*source_, "discriminator.conv1.weight");
  const OpenSet open = Make(source_.get());
  // Adam's first step is the learning rate in each weight that has a gradient.
  EXPECT_NEAR((Value(*source_, "generator.conv1.weight") - generator).abs().max().item<double>(), 2e-4, 1e-6);
  EXPECT_NEAR((Value(*source_, "discriminator.conv1.weight") - discriminator).abs().max().item<double>(), 2e-4, 1e-6);
  // The classifier's loss doesn't change the generator.
  const at::Tensor before = Value(*source_, "generator.conv1.weight");
  for (at::Tensor& parameter : model_->parameters()) parameter.mutable_grad().reset();
  open.output.distance.sum().backward();
  EXPECT_THAT(Value(*source_, "generator.conv1.weight"), TensorEq(before));
  EXPECT_TRUE(model_->named_parameters()["backbone.conv1.weight"].grad().defined());
}

TEST_F(ConfusingImagesTest, RepeatsWithItsSeedAndStream) {
  const auto same = Source(1);
  const auto other = Source(2);
  EXPECT_THAT(Make(same.get()).output.logits, TensorEq(Make(source_.get()).output.logits));
  EXPECT_THAT(Value(*other, "generator.conv1.weight"), Not(TensorEq(Value(*same, "generator.conv1.weight"))));
}

// In a resumed training, the state copied into a new source gives the same next step.
TEST_F(ConfusingImagesTest, ItsStateIsComplete) {
  Make(source_.get());
  const auto copy = Source(9);
  const auto from = source_->State();
  const auto to = copy->State();
  ASSERT_EQ(from.size(), to.size());
  {
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(from[i].first, to[i].first);
      to[i].second.copy_(from[i].second);
    }
  }
  model_->train(false);  // the source's state doesn't include batch statistics
  const at::Tensor logits = Make(source_.get(), 2).output.logits;
  EXPECT_THAT(Make(copy.get(), 2).output.logits, TensorEq(logits));
}

}  // namespace
}  // namespace openset
