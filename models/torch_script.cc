#include "models/torch_script.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/formats/header_check.h"
#include "core/logging.h"
#include "core/status_macros.h"
#include "core/tensor/convolution_guard.h"
#include "core/tensor/torch_error.h"
#include "core/tensor/torch_generator.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "models/heads/head_members.h"
#include "models/import_weights.h"

namespace openset {
namespace {

constexpr size_t kFormatBytes = 1000;

// The folder of a script's code in the archive.
bool HasCode(absl::string_view bytes) { return absl::StrContains(bytes, "/code/"); }

}  // namespace

std::string WhatFailed(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = c10_error != nullptr ? c10_error->what_without_backtrace() : error.what();
  // A failure inside a script ends with the error itself, after the script's lines.
  std::string last;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "RuntimeError: ")) last = std::string(line);
  }
  return OneLine(absl::StripAsciiWhitespace(last.empty() ? text : last));
}

absl::StatusOr<torch::jit::Module> ReadScript(const std::string& bytes, at::Device device) {
  const absl::StatusOr<WeightsFormat> format = WeightsFormatOf("", absl::string_view(bytes).substr(0, kFormatBytes));
  if (!format.ok() || *format == WeightsFormat::kSafetensors) {
    return absl::InvalidArgumentError(absl::StrCat("is not a TorchScript archive (it ",
                                                   format.ok() ? "is a safetensors file" : format.status().message(),
                                                   "); save one with torch.jit.script(model).save(FILE)"));
  }
  if (*format == WeightsFormat::kPickle || !HasCode(bytes)) {
    return absl::InvalidArgumentError(
        "holds Python objects without code, as torch.save() writes them; name the network whose weights they are with "
        "--network, or save the network with "
        "torch.jit.script(model).save(FILE), or its weights with safetensors.torch.save_file(model.state_dict(), "
        "FILE)");
  }
  try {
    std::istringstream stream(bytes);
    return torch::jit::load(stream, device, /*load_debug_files=*/false);
  } catch (const std::exception& error) {
    if (CodeOfTorchError(error) != absl::StatusCode::kInternal) throw;  // not an error of the file
    return absl::InvalidArgumentError(absl::StrCat("can't be read as TorchScript: ", WhatFailed(error)));
  }
}

namespace {

bool IsListOfNumbers(const at::IValue& value) {
  return value.isIntList() || value.isDoubleList() || value.isBoolList();
}

bool IsSame(const at::IValue& before, const at::IValue& now) {
  return IsListOfNumbers(now) ? before == now : now.is(before) && !now.isList() && !now.isGenericDict();
}

uint32_t VersionOf(const at::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? value.toTensor()._version() : 0;
}

at::Tensor GeneratorState() { return at::globalContext().defaultGenerator(at::kCPU).get_state(); }

}  // namespace

ScriptState::ScriptState(const torch::jit::Module& script) : generator_state_(GeneratorState()) {
  for (const at::IValue& value : script.attributes()) {
    values_.emplace_back(IsListOfNumbers(value) ? value.deepcopy() : value, VersionOf(value));
  }
}

bool ScriptState::IsUnchanged(const torch::jit::Module& script) const {
  size_t i = 0;
  for (const at::IValue& value : script.attributes()) {
    if (i == values_.size() || !IsSame(values_[i].first, value) || VersionOf(value) != values_[i].second) return false;
    ++i;
  }
  return i == values_.size() && at::equal(GeneratorState(), generator_state_);
}

namespace {

using Script = torch::jit::Module;

// An optimised graph, which is made from the first passes, rounds differently than these. LibTorch keeps this setting
// for each thread.
constexpr bool kOptimises = false;

// A script's output for a batch.
struct ScriptOutput {
  at::Tensor feature;  // undefined if it returns only logits
  at::Tensor logits;
  bool changed_nothing = false;  // see ScriptState
};

// A backbone that runs a script. The script's parameters and buffers are registered under their own names, the head's
// excepted; they are the same tensors.
class ScriptBackbone : public Backbone {
 public:
  enum class Gives { kHeadInput, kLogits, kFeaturesAndLogits };

  ScriptBackbone(Script script, const std::string& head, Gives gives, int64_t width, bool has_independent_passes)
      : script_(std::move(script)), gives_(gives), width_(width), has_independent_passes_(has_independent_passes) {
    std::set<const void*> seen;
    Register(script_, "", head, this, &seen);
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    // Operations in the script draw only from LibTorch's default generator.
    std::optional<DefaultGeneratorScope> scope;
    if (is_training() && generator_.has_value()) scope.emplace(*generator_);
    const torch::jit::GraphOptimizerEnabledGuard unoptimised(kOptimises);
    const at::IValue value = script_.forward({image.contiguous()});
    if (!value.isTuple()) return value.toTensor();
    const auto& elements = value.toTupleRef().elements();
    if (gives_ == Gives::kHeadInput) return elements[0].toTensor();
    if (gives_ == Gives::kLogits) return elements[1].toTensor();
    return at::cat({elements[0].toTensor(), elements[1].toTensor()}, 1);
  }

  int64_t feature_dim() const override { return width_; }
  void Initialise(RandomStream* /*random*/) override {}
  void SetGenerator(const at::Generator& generator) override { generator_ = generator; }
  bool HasIndependentPasses() const override { return has_independent_passes_; }

  void train(bool on) override {
    Backbone::train(on);
    script_.train(on);
  }
  // The script also holds tensors that are not registered.
  void to(at::Device device, at::ScalarType type, bool non_blocking) override {
    Backbone::to(device, type, non_blocking);
    script_.to(device, type, non_blocking);
  }
  void to(at::ScalarType type, bool non_blocking) override {
    Backbone::to(type, non_blocking);
    script_.to(type, non_blocking);
  }
  void to(at::Device device, bool non_blocking) override {
    Backbone::to(device, non_blocking);
    script_.to(device, non_blocking);
  }

 private:
  // A module of the script, as a place for its tensors.
  class Part : public Module {};

  static void Register(const Script& script, const std::string& path, const std::string& head, Module* target,
                       std::set<const void*>* seen) {
    for (const auto& parameter : script.named_parameters(/*recurse=*/false)) {
      if (!seen->insert(parameter.value.unsafeGetTensorImpl()).second) continue;
      target->register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
    }
    for (const auto& buffer : script.named_buffers(/*recurse=*/false)) {
      if (!buffer.value.defined() || !seen->insert(buffer.value.unsafeGetTensorImpl()).second) continue;
      target->register_buffer(buffer.name, buffer.value);
    }
    for (const auto& child : script.named_children()) {
      const std::string child_path = path.empty() ? child.name : absl::StrCat(path, ".", child.name);
      if (child_path == head) continue;
      Register(child.value, child_path, head, target->register_module(child.name, std::make_shared<Part>()).get(),
               seen);
    }
  }

  Script script_;
  std::optional<at::Generator> generator_;
  const Gives gives_;
  const int64_t width_;
  const bool has_independent_passes_;
};

// Splits the backbone's output into features, if there are any, and logits, and selects the logits of the known
// classes.
class SplitHead : public Head {
 public:
  SplitHead(int64_t feature_dim, at::Tensor places)
      : feature_dim_(feature_dim), places_(register_buffer("places", std::move(places))) {}

  ModelOutput Forward(const at::Tensor& columns) override {
    const at::Tensor logits = columns.slice(1, feature_dim_).index_select(1, places_);
    return {feature_dim_ > 0 ? columns.slice(1, 0, feature_dim_) : at::Tensor(), logits, {}, {}};
  }
  void Initialise(RandomStream* /*random*/) override {}

 private:
  const int64_t feature_dim_;
  at::Tensor places_;  // i64 [K]
};

std::string ShapeText(const at::Tensor& tensor) { return absl::StrCat("[", absl::StrJoin(tensor.sizes(), ", "), "]"); }

// Runs the script in evaluation mode and checks the shapes of its outputs.
absl::StatusOr<ScriptOutput> RunScript(Script* script, const at::Tensor& image) {
  const at::NoGradGuard no_grad;
  script->eval();
  const ScriptState before(*script);
  at::IValue value;
  try {
    value = script->forward({image});
  } catch (const std::exception& error) {
    if (CodeOfTorchError(error) != absl::StatusCode::kInternal) throw;
    const std::string device = image.is_cpu() ? "" : absl::StrCat(" on ", image.device().str());
    const bool is_other_device = absl::StrContains(error.what(), "same device");
    return absl::InvalidArgumentError(absl::StrCat(
        "the script fails on images of ", ShapeText(image), device,
        " (the method's input, channels and size): ", WhatFailed(error),
        is_other_device ? "; its code names a device, so it runs only there: remove the device and save it again"
                        : ""));
  }
  ScriptOutput output;
  output.changed_nothing = before.IsUnchanged(*script);
  if (value.isTensor()) {
    output.logits = value.toTensor();
  } else if (value.isTuple() && value.toTupleRef().elements().size() == 2 &&
             value.toTupleRef().elements()[0].isTensor() && value.toTupleRef().elements()[1].isTensor()) {
    output.feature = value.toTupleRef().elements()[0].toTensor();
    output.logits = value.toTupleRef().elements()[1].toTensor();
  } else {
    return absl::InvalidArgumentError(absl::StrCat("the script returns a ", value.tagKind(),
                                                   "; it must return logits [B, K] or (features [B, D], logits)"));
  }
  for (const auto& [name, tensor] : {std::pair{"features", output.feature}, {"logits", output.logits}}) {
    if (!tensor.defined() || (tensor.dim() == 2 && tensor.size(0) == image.size(0) && tensor.is_floating_point())) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("the script's ", name, " for ", image.size(0), " images are ",
                                                   c10::toString(tensor.scalar_type()), " ", ShapeText(tensor),
                                                   "; they must be floating-point numbers, one row per image"));
  }
  return output;
}

at::Tensor TestImages(int64_t count, const InputSpec& input, at::Device device) {
  return at::linspace(-1, 1, count * input.channels() * input.size() * input.size())
      .view({count, input.channels(), input.size(), input.size()})
      .to(device);
}

// Whether a script, which accepted two images, accepts another number of them. Loads the script again, because earlier
// runs may change the last bits of later ones.
absl::Status CheckOtherBatch(const std::string& bytes, const InputSpec& input, at::Device device) {
  OPENSET_ASSIGN_OR_RETURN(Script script, ReadScript(bytes, device));
  const absl::StatusOr<ScriptOutput> output = RunScript(&script, TestImages(3, input, device));
  if (output.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      output.status().message(),
      "; it accepts two images: its code has a fixed batch size (torch.jit.trace() of view(2, -1), say), but it "
      "must accept any"));
}

// Whether the gradients of a script's outputs can be computed. Some operations have no gradient, or none on a GPU if
// only deterministic operations are allowed. Loads the script again, as above.
absl::Status CheckGradients(const std::string& bytes, const InputSpec& input, at::Device device) {
  OPENSET_ASSIGN_OR_RETURN(Script script, ReadScript(bytes, device));
  script.eval();
  const at::Tensor image = TestImages(2, input, device).requires_grad_(true);
  const at::AutoGradMode with_gradients(true);
  try {
    const at::IValue value = script.forward({image});
    const at::Tensor logits = value.isTuple() ? value.toTupleRef().elements()[1].toTensor() : value.toTensor();
    if (logits.requires_grad()) logits.sum().backward();
  } catch (const std::exception& error) {
    if (CodeOfTorchError(error) != absl::StatusCode::kInternal) throw;
    return absl::InvalidArgumentError(
        absl::StrCat("the script can't be trained on ", device.str(), ", as its gradients fail: ", WhatFailed(error)));
  }
  return absl::OkStatus();
}

// Whether each row contains no negative number and sums to 1.
bool AreProbabilities(const at::Tensor& rows) {
  return (rows >= 0).all().item<bool>() && ((rows.sum(1) - 1).abs() <= 1e-4).all().item<bool>();
}

// Whether the exponentials of each row sum to 1, as after a log_softmax.
bool AreLogProbabilities(const at::Tensor& rows) { return (rows.logsumexp(1).abs() <= 1e-3).all().item<bool>(); }

// The indices of the known classes among `outputs` outputs. i64 [num_classes].
absl::StatusOr<at::Tensor> PlacesOf(const TorchScriptSpec& spec, int64_t outputs, int num_classes) {
  std::vector<int64_t> places(spec.output().begin(), spec.output().end());
  if (places.empty()) {
    if (outputs != num_classes) {
      return absl::InvalidArgumentError(absl::StrCat("the script gives ", outputs, " outputs for ", num_classes,
                                                     " known classes: list each known class's output position "
                                                     "(torch_script.output; --outputs)"));
    }
    for (int64_t c = 0; c < outputs; ++c) places.push_back(c);
  }
  return OutputPlaces("torch_script.output", places, "the script's", outputs, num_classes);
}

// The module `name` inside the script, which must have a weight [K, D].
absl::StatusOr<Script> FindLinear(const Script& script, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& module : script.named_modules()) {
    if (!module.value.hasattr("weight") || !module.value.attr("weight").isTensor()) continue;
    if (module.value.attr("weight").toTensor().dim() != 2) continue;
    if (module.name == name) return module.value;
    known.push_back(module.name);
  }
  if (known.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the script has no linear module, so not '", name,
                     "' (torch_script.head; --head): a frozen script has none, save it before torch.jit.freeze()"));
  }
  std::sort(known.begin(), known.end());
  return absl::InvalidArgumentError(
      absl::StrCat("torch_script.head (--head): ", UnknownName("linear module", name, known)));
}

absl::StatusOr<std::shared_ptr<Model>> WithHead(const TorchScriptSpec& spec, Script script, const at::Tensor& image,
                                                const ScriptOutput& output, const at::Tensor& places) {
  OPENSET_ASSIGN_OR_RETURN(Script linear, FindLinear(script, spec.head()));
  const at::Tensor weight = linear.attr("weight").toTensor().detach().clone();
  at::Tensor bias;
  if (linear.hasattr("bias") && linear.attr("bias").isTensor()) bias = linear.attr("bias").toTensor().detach().clone();
  at::Tensor feature = output.feature;
  if (!feature.defined()) {
    linear.setattr("weight", at::eye(weight.size(1), weight.options()));
    if (bias.defined()) linear.setattr("bias", at::zeros({weight.size(1)}, bias.options()));
    // If the code after the module can't take this number of values, the module is not the last one.
    const absl::StatusOr<ScriptOutput> inner = RunScript(&script, image);
    if (inner.ok()) feature = inner->logits;
  }
  const bool fits = feature.defined() && feature.size(1) == weight.size(1) && output.logits.size(1) == weight.size(0);
  const double scale = std::max(1.0, output.logits.abs().max().item<double>());
  if (!fits || !((at::linear(feature, weight, bias) - output.logits).abs().max().item<double>() <= 1e-4 * scale)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the script's logits are not the outputs of its module '", spec.head(), "', ", ShapeText(weight),
                     AreLogProbabilities(output.logits)
                         ? ": it ends in a log_softmax, so save the network without it"
                         : ": name the last linear module, or none to use only logits (torch_script.head; --head)"));
  }
  LinearHeadSpec head_spec;
  head_spec.set_bias(bias.defined());
  const auto head = Make(head_spec, weight.size(1), places.size(0));
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : head->named_parameters()) {
      parameter.value().copy_((parameter.key() == "weight" ? weight : bias).cpu().index_select(0, places));
    }
  }
  return std::make_shared<Model>(
      std::make_shared<ScriptBackbone>(std::move(script), spec.head(), ScriptBackbone::Gives::kHeadInput,
                                       weight.size(1), output.changed_nothing),
      head);
}

absl::StatusOr<std::shared_ptr<Model>> Make(const TorchScriptSpec& spec, const InputSpec& input, int num_classes,
                                            const ModelUse& use) {
  OPENSET_RETURN_IF_ERROR(CheckWeightsHeader(spec.file()));
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFileWithDigest(spec.file(), spec.sha256()));
  OPENSET_ASSIGN_OR_RETURN(Script script, ReadScript(bytes, use.device));
  const torch::jit::GraphOptimizerEnabledGuard unoptimised(kOptimises);
  const at::Tensor image = TestImages(2, input, use.device);
  const int64_t guarded_before = GuardedConvolutions();
  OPENSET_ASSIGN_OR_RETURN(const ScriptOutput output, RunScript(&script, image));
  if (GuardedConvolutions() > guarded_before) {
    LOG(WARNING) << spec.file()
                 << ": has 1x1 convolutions with a stride and fewer than 8 input channels in the channels-last layout, "
                    "which LibTorch gets wrong on CPUs without AVX-512; they are computed in the contiguous layout";
  }
  OPENSET_RETURN_IF_ERROR(CheckOtherBatch(bytes, input, use.device));
  if (use.is_training) OPENSET_RETURN_IF_ERROR(CheckGradients(bytes, input, use.device));
  if (output.logits.isnan().any().item<bool>()) {
    return absl::InvalidArgumentError(
        "the script gives NaN for images of values from -1 to 1: look for weights that are NaN, or a division by 0");
  }
  if (AreProbabilities(output.logits)) {
    return absl::InvalidArgumentError(
        "the script ends in a softmax: its outputs for an image are never negative and sum to 1; scores need logits, "
        "so save the network without its softmax");
  }
  OPENSET_ASSIGN_OR_RETURN(const at::Tensor places, PlacesOf(spec, output.logits.size(1), num_classes));
  if (spec.has_head()) return WithHead(spec, std::move(script), image, output, places);
  if (spec.features() && !output.feature.defined()) {
    return absl::InvalidArgumentError(
        "the script gives logits, not (features, logits) as torch_script.features (--features) says; name its last "
        "linear module instead (torch_script.head; --head)");
  }
  const int64_t feature_dim = spec.features() ? output.feature.size(1) : 0;
  const auto gives = spec.features() ? ScriptBackbone::Gives::kFeaturesAndLogits : ScriptBackbone::Gives::kLogits;
  return std::make_shared<Model>(
      std::make_shared<ScriptBackbone>(std::move(script), "", gives, feature_dim + output.logits.size(1),
                                       output.changed_nothing),
      std::make_shared<SplitHead>(feature_dim, places));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Model>> MakeTorchScriptModel(const TorchScriptSpec& spec, const InputSpec& input,
                                                            int num_classes, const ModelUse& use) {
  absl::StatusOr<std::shared_ptr<Model>> model = Make(spec, input, num_classes, use);
  if (absl::IsInvalidArgument(model.status())) return Annotate(model.status(), spec.file());
  if (model.ok()) (*model)->train(true);
  return model;
}

}  // namespace openset
