// Loss terms together with the heads and open-set sources that they need, against steps of the released code of others
// (make_released_loss_golden.py).
#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/parsed.h"
#include "core/testing/tensor_matchers.h"
#include "eval/scores/make_score.h"
#include "experiments/train/open_set/mixed_images.h"
#include "experiments/train/open_set/open_set_members.h"
#include "gmock/gmock.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"
#include "models/heads/head_members.h"

namespace openset {
namespace {

std::vector<int64_t> Integers(const nlohmann::json& value) { return value.get<std::vector<int64_t>>(); }

at::Tensor Input(const nlohmann::json& value) { return TensorOf(value).requires_grad_(true); }

void ExpectStep(const at::Tensor& value, const nlohmann::json& golden, const std::string& input, const at::Tensor& of,
                double tolerance = 1e-12) {
  EXPECT_THAT(value.detach(), TensorNear(TensorOf(golden["value"]), tolerance));
  value.backward();
  EXPECT_THAT(of.grad(), TensorNear(TensorOf(golden[input + "_gradient"]), tolerance));
}

// Their known samples are the half of the batch that is not mixed.
TEST(Proser, IsTheAuthorsStep) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["proser"];
  const at::Tensor image = Input(golden["image"]), second = TensorOf(golden["layer2"]),
                   third = TensorOf(golden["layer3"]),
                   head = at::cat({TensorOf(golden["linear"]), TensorOf(golden["clf2"])});
  const auto forward_from = [&](int stage, const at::Tensor& x, std::vector<at::Tensor>* maps) -> ModelOutput {
    at::Tensor map = x;
    if (stage == 0) map = at::linear(map, second).relu();
    if (maps != nullptr) maps->push_back(map);
    const at::Tensor feature = at::linear(map, third).relu();
    return {feature, at::linear(feature, head), {}, {}};
  };
  StageMixupSpec mixup;
  OpenSetSetting setting;
  setting.stages = 2;
  const auto source = *Make(mixup, setting);

  const auto label = Integers(golden["label"]);
  const auto half = static_cast<int64_t>(label.size()) / 2;
  Batch batch{image, at::tensor(label, at::kLong), {}};
  batch.open = OpenSetDraws{{golden["share"].get<double>()}, {at::tensor(Integers(golden["order"]), at::kLong)}};
  const ModelOutput known = forward_from(0, image, nullptr), none;
  LossScene scene = SceneOf(known.logits.slice(0, half), {label.begin() + half, label.end()});
  scene.open = source->Make({batch, known, none, {}, {}, {}, forward_from});
  EXPECT_THAT(scene.known.logits, TensorNear(TensorOf(golden["logits"]), 1e-12));
  ExpectStep(MakeTerm("cross_entropy {}")->Compute(scene.Input()) +
                 MakeTerm("placeholder { open_weight: 0.01 }")->Compute(scene.Input()),
             golden, "image", image);

  // Theirs is a difference of probabilities at a temperature of 1024: ours divided by that and by their number, but for
  // what the logits are to the temperature.
  ScoreInput input;
  std::vector<float> logits;
  for (const nlohmann::json& row : golden["logits"]) logits.insert(logits.end(), row.begin(), row.end());
  input.num_samples = 4;
  input.num_outputs = 5;
  input.logits = logits;
  const std::vector<double> margin = *(*MakeScore(Parsed<ScoreSpec>("extra_output { value: MARGIN }")))->Compute(input);
  const auto theirs = golden["score"].get<std::vector<double>>();
  ASSERT_EQ(theirs.size(), margin.size());
  for (size_t i = 0; i < margin.size(); ++i) {
    EXPECT_NEAR(theirs[i] * 1024 * 5, margin[i], 0.01 * std::abs(margin[i]));
  }
}

TEST(RandomTemperature, IsOpenOodsStep) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["rts"];
  const at::Tensor feature = Input(golden["feature"]);
  RandomTemperatureHeadSpec spec;
  spec.set_degrees(5);
  const auto head = Make(spec, 3, 5);
  head->to(at::kDouble);
  RandomStream random(0, "head");
  head->Initialise(&random);
  {
    const at::NoGradGuard no_grad;
    auto parameters = head->named_parameters();
    ASSERT_EQ(parameters.size(), golden["parameters"].size());
    for (const auto& [name, value] : golden["parameters"].items()) parameters[name].copy_(TensorOf(value));
  }
  head->SetGenerator(MakeGenerator(at::kCPU, 1));
  const LossScene scene = SceneOf(head->Forward(feature).logits, Integers(golden["label"]));
  ExpectStep(MakeTerm("random_temperature { divergence: 0.1 }")->Compute(scene.Input()), golden, "feature", feature,
             1e-11);

  // Its postprocessor takes the mean variance for confidence.
  head->eval();
  const at::Tensor outputs = head->Forward(feature).logits.detach();
  EXPECT_THAT(outputs.slice(1, 0, 4), TensorNear(TensorOf(golden["logits"]), 1e-12));
  EXPECT_THAT(outputs.select(1, 4), TensorNear(TensorOf(golden["confidence"]), 1e-12));
}

ImageMixSpec CutMix() {
  ImageMixSpec spec;
  spec.set_kind(ImageMixSpec::CUTMIX);
  spec.set_alpha(1);
  return spec;
}

TEST(MixOe, IsTheStepOfOpenOodAndOfTheAuthors) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["mix_oe"];
  const at::Tensor image = TensorOf(golden["image"]), other = TensorOf(golden["other"]);
  for (const auto& [source, weight] : {std::pair("openood", 1), std::pair("authors", 5)}) {
    SCOPED_TRACE(source);
    const nlohmann::json& expected = golden[source];
    const auto window = Integers(expected["window"]);
    const ImageMixDraw draw{expected["share"].get<double>(), window[0], window[1], window[2], window[3]};
    const at::Tensor mixed = MixImages(CutMix(), draw, image, other), matrix = Input(golden["weight"]);
    EXPECT_THAT(mixed, TensorEq(TensorOf(expected["mixed"])));
    LossScene scene = SceneOf(at::linear(image.flatten(1), matrix), Integers(golden["label"]));
    scene.open = OpenSetOf(at::linear(mixed.flatten(1), matrix), {0, 1, 2});
    scene.open.share = at::full({3}, draw.share, at::kDouble);
    scene.open.partner = at::full({3}, -1, at::kLong);
    ExpectStep(MakeTerm("cross_entropy {}")->Compute(scene.Input()) +
                   weight * MakeTerm("mixed_cross_entropy {}")->Compute(scene.Input()),
               expected, "weight", matrix);
  }
}

// The windows of rand_bbox() for what our streams draw.
TEST(CutMix, HasTheWindowsOfTheReleasedCode) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["windows"];
  ASSERT_GE(golden.size(), 6);
  for (const nlohmann::json& expected : golden) {
    const uint64_t seed = expected["seed"].get<uint64_t>();
    const int64_t height = expected["height"], width = expected["width"];
    RandomStream random(seed, "mix"), same(seed, "mix");
    EXPECT_NEAR(same.Beta(1, 1), expected["drawn"].get<double>(), 1e-15);
    EXPECT_EQ(same.Below(height), expected["centre"][0].get<uint64_t>());
    EXPECT_EQ(same.Below(width), expected["centre"][1].get<uint64_t>());
    const ImageMixDraw draw = DrawImageMix(CutMix(), height, width, &random);
    EXPECT_EQ((std::vector<int64_t>{draw.top, draw.bottom, draw.left, draw.right}), Integers(expected["window"]));
    EXPECT_NEAR(draw.share, expected["share"].get<double>(), 1e-15);
  }
}

// Both in OpenOOD's and in the authors' RegMixup the loss is the mean over images and mixtures.
TEST(MixedLabels, AreThoseOfCutMixAndRegMixup) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["mixed_labels"];
  const at::Tensor known = Input(golden["known"]), logits = Input(golden["logits"]);
  LossScene scene = SceneOf(known, Integers(golden["label"]));
  scene.open = OpenSetOf(logits, {0, 1, 2, 3, 4, 5});
  scene.open.share = at::full({6}, golden["share"].get<double>(), at::kDouble);
  scene.open.partner = at::tensor(Integers(golden["partner"]), at::kLong);
  ExpectStep(MakeTerm("mixed_cross_entropy {}")->Compute(scene.Input()), golden["cutmix"], "logits", logits);
  logits.mutable_grad() = at::Tensor();
  ExpectStep((MakeTerm("mixed_cross_entropy {}")->Compute(scene.Input()) +
              MakeTerm("cross_entropy {}")->Compute(scene.Input())) /
                 2,
             golden["regmixup"], "logits", logits);
  EXPECT_THAT(known.grad(), TensorNear(TensorOf(golden["regmixup"]["known_gradient"]), 1e-12));
  known.mutable_grad() = at::Tensor();
  ExpectStep(MakeTerm("cross_entropy { normalise_logits: true temperature: 0.04 }")->Compute(scene.Input()),
             golden["logit_norm"], "known", known, 1e-11);
}

// Outputs of K + 1 classes, of which the last is for open samples.
TEST(ExtraClass, IsPytorchOodsAndOpenMixsStep) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["extra_class"];
  for (const char* name : {"background", "openmix"}) {
    SCOPED_TRACE(name);
    const bool is_mixed = name == std::string("openmix");
    const at::Tensor known = Input(golden["known"]), outside = Input(golden["outside"]);
    LossScene scene = SceneOf(known, Integers(golden["label"]));
    scene.open = OpenSetOf(outside, is_mixed ? std::vector<int64_t>{0, 1, 2, 3, 4, 5} : std::vector<int64_t>());
    at::Tensor value;
    if (is_mixed) {
      scene.open.share = at::full({6}, golden["share"].get<double>(), at::kDouble);
      scene.open.partner = at::full({6}, -1, at::kLong);
      value = MakeTerm("cross_entropy {}")->Compute(scene.Input()) +
              MakeTerm("mixed_cross_entropy { unknown_is_last_class: true }")->Compute(scene.Input());
    } else {
      value = MakeTerm("cross_entropy { open_set_is_last_class: true }")->Compute(scene.Input());
    }
    ExpectStep(value, golden[name], "known", known);
    EXPECT_THAT(outside.grad(), TensorNear(TensorOf(golden[name]["outside_gradient"]), 1e-12));
  }
}

TEST(Vos, IsTheAuthorsStep) {
  const nlohmann::json golden = ReadGolden("released_losses.json")["vos"];
  const at::Tensor feature = Input(golden["feature"]), weight = TensorOf(golden["weight"]);
  VirtualOutliersSpec spec;
  spec.set_memory(3);
  OpenSetSetting setting;
  setting.classes = 4;
  setting.feature_dim = 3;
  const auto source = *Make(spec, setting);
  const auto head = [&](const at::Tensor& rows) -> ModelOutput { return {rows, at::linear(rows, weight), {}, {}}; };
  const auto step = [&](const at::Tensor& rows, const at::Tensor& label) {
    Batch batch{{}, label, {}};
    batch.open = OpenSetDraws{{}, {TensorOf(golden["far"]).to(at::kFloat)}};
    const ModelOutput known = head(rows);
    return source->Make({batch, known, {}, nullptr, head, nullptr});
  };
  step(TensorOf(golden["queue"]).flatten(0, 1), at::arange(4).repeat_interleave(3));
  LossScene scene = SceneOf(head(feature).logits, Integers(golden["label"]));
  scene.open = step(feature, scene.batch.label);
  EXPECT_THAT(scene.open.weight, TensorEq(at::ones({8}, at::kDouble)));
  // The queues are f32.
  EXPECT_THAT(scene.open.output.feature, TensorNear(TensorOf(golden["outliers"]), 1e-6));
  const auto term = MakeTerm("outlier_energy {}");
  for (const auto& [name, parameter] : term->Parameters()) parameter.set_data(TensorOf(golden["parameters"][name]));
  ExpectStep(MakeTerm("cross_entropy {}")->Compute(scene.Input()) + 0.1 * term->Compute(scene.Input()), golden,
             "feature", feature, 1e-6);
}

}  // namespace
}  // namespace openset
