#include "models/checkpoint.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr std::pair<ArrayType, at::ScalarType> kTypes[] = {
    {ArrayType::kI64, at::kLong},  {ArrayType::kF64, at::kDouble},    {ArrayType::kF32, at::kFloat},
    {ArrayType::kI32, at::kInt},   {ArrayType::kBf16, at::kBFloat16}, {ArrayType::kF16, at::kHalf},
    {ArrayType::kI16, at::kShort}, {ArrayType::kI8, at::kChar},       {ArrayType::kU8, at::kByte},
    {ArrayType::kBool, at::kBool},
};

absl::StatusOr<ArrayType> ArrayTypeOf(at::ScalarType scalar_type) {
  for (const auto& [array_type, torch_type] : kTypes) {
    if (torch_type == scalar_type) return array_type;
  }
  return absl::InvalidArgumentError(absl::StrCat("safetensors can't store tensors of ", c10::toString(scalar_type)));
}

at::ScalarType ScalarTypeOf(ArrayType array_type) { return kTypes[static_cast<int>(array_type)].second; }

std::string Describe(const at::Tensor& tensor) {
  return absl::StrCat(c10::toString(tensor.scalar_type()), " [", absl::StrJoin(tensor.sizes(), ", "), "]");
}

// Parameters and buffers by name; they share the model's memory.
TensorMap SharedStateOf(const Model& model) {
  TensorMap state;
  for (const auto& parameter : model.named_parameters()) state[parameter.key()] = parameter.value();
  for (const auto& buffer : model.named_buffers()) state[buffer.key()] = buffer.value();
  return state;
}

}  // namespace

TensorMap StateOf(const Model& model) {
  TensorMap state = SharedStateOf(model);
  for (auto& [name, tensor] : state) {
    tensor = at::empty(tensor.sizes(), tensor.options().device(at::kCPU)).copy_(tensor.detach());
  }
  return state;
}

absl::Status SetState(const TensorMap& state, Model* model) {
  const TensorMap target = SharedStateOf(*model);
  std::vector<std::string> problems;
  for (const auto& [name, tensor] : target) {
    const auto found = state.find(name);
    if (found == state.end()) {
      problems.push_back(absl::StrCat("'", name, "' is missing"));
    } else if (found->second.sizes() != tensor.sizes() || found->second.scalar_type() != tensor.scalar_type()) {
      problems.push_back(absl::StrCat("'", name, "' is ", Describe(found->second), ", not ", Describe(tensor)));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (target.count(name) == 0) problems.push_back(absl::StrCat("'", name, "' is not of this model"));
  }
  if (!problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the state does not fit the model: ", absl::StrJoin(problems, "; ")));
  }
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : target) tensor.copy_(state.at(name));
  return absl::OkStatus();
}

absl::Status SaveTensors(const TensorMap& tensors, const std::map<std::string, std::string>& metadata,
                         const std::string& path) {
  Safetensors content;
  content.metadata = metadata;
  std::vector<at::Tensor> keep_alive;
  for (const auto& [name, tensor] : tensors) {
    const absl::StatusOr<ArrayType> type = ArrayTypeOf(tensor.scalar_type());
    if (!type.ok()) return Annotate(type.status(), absl::StrCat(path, ": tensor '", name, "'"));
    keep_alive.push_back(tensor.detach().to(at::kCPU).contiguous());
    const at::Tensor& data = keep_alive.back();
    content.arrays[name] = {*type, data.sizes().vec(),
                            absl::string_view(static_cast<const char*>(data.const_data_ptr()), data.nbytes())};
  }
  const absl::StatusOr<std::string> bytes = EncodeSafetensors(content);
  if (!bytes.ok()) return Annotate(bytes.status(), path);
  return WriteFileAtomically(path, *bytes);
}

absl::StatusOr<TensorMap> LoadTensors(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<TensorMap> tensors = DecodeTensors(bytes);
  if (!tensors.ok()) return Annotate(tensors.status(), path);
  return tensors;
}

at::Tensor TensorOf(const ArrayView& array) {
  // A bool must be 0 or 1; a file may hold any byte.
  const bool is_bool = array.type == ArrayType::kBool;
  const at::Tensor tensor = at::empty(array.shape, is_bool ? at::kByte : ScalarTypeOf(array.type));
  if (!array.data.empty()) std::memcpy(tensor.mutable_data_ptr(), array.data.data(), array.data.size());
  return is_bool ? tensor.ne(0) : tensor;
}

absl::StatusOr<TensorMap> DecodeTensors(absl::string_view bytes) {
  OPENSET_ASSIGN_OR_RETURN(const Safetensors content, DecodeSafetensors(bytes));
  TensorMap tensors;
  for (const auto& [name, array] : content.arrays) tensors[name] = TensorOf(array);
  return tensors;
}

}  // namespace openset
