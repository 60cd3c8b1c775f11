#include "core/files/formats/torch_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/formats/pickle.h"
#include "core/files/formats/zip_reader.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

constexpr absl::string_view kRebuildTensor = "torch._utils _rebuild_tensor_v2";
constexpr absl::string_view kRebuildParameter = "torch._utils _rebuild_parameter";
constexpr std::pair<absl::string_view, ArrayType> kStorages[] = {
    {"torch FloatStorage", ArrayType::kF32}, {"torch DoubleStorage", ArrayType::kF64},
    {"torch HalfStorage", ArrayType::kF16},  {"torch BFloat16Storage", ArrayType::kBf16},
    {"torch LongStorage", ArrayType::kI64},  {"torch IntStorage", ArrayType::kI32},
    {"torch ShortStorage", ArrayType::kI16}, {"torch CharStorage", ArrayType::kI8},
    {"torch ByteStorage", ArrayType::kU8},   {"torch BoolStorage", ArrayType::kBool},
};
constexpr absl::string_view kStateDictKeys[] = {"state_dict", "model_state_dict", "model", "net", "network"};
constexpr size_t kListed = 5;
constexpr size_t kMostByteOrder = 100;  // bytes of the member, whose content is "little" or "big"

std::vector<absl::string_view> Globals() {
  std::vector<absl::string_view> globals = {kRebuildTensor, kRebuildParameter};
  for (const auto& [name, type] : kStorages) globals.push_back(name);
  return globals;
}

// The archive's members by their names below its top folder.
class Archive {
 public:
  static absl::StatusOr<Archive> Open(absl::string_view file) {
    absl::StatusOr<ZipReader> zip = ZipReader::OfBytes(file);
    if (absl::IsInvalidArgument(zip.status())) {
      return absl::InvalidArgumentError(
          "not in the zip format of torch.save(). If PyTorch reads it, load it there and save it again "
          "(torch.save(state_dict, path)), or as safetensors");
    }
    OPENSET_RETURN_IF_ERROR(zip.status());
    return Archive(*std::move(zip));
  }

  bool Has(const std::string& member) const { return members_.count(member) > 0; }

  absl::StatusOr<std::string> Read(const std::string& member, size_t max_bytes = std::numeric_limits<size_t>::max()) {
    const auto found = members_.find(member);
    return zip_.Read(found == members_.end() ? member : found->second, max_bytes);
  }

 private:
  explicit Archive(ZipReader zip) : zip_(std::move(zip)) {
    for (const std::string& name : zip_.Names()) {
      const size_t slash = name.find('/');
      if (slash != std::string::npos) members_[name.substr(slash + 1)] = name;
    }
  }

  ZipReader zip_;
  std::map<std::string, std::string> members_;  // their full names
};

class TensorReader {
 public:
  TensorReader(const Pickle& pickle, Archive* archive, int64_t file_bytes)
      : pickle_(pickle), archive_(archive), left_bytes_(std::max(kMaxTensorBytes, kMaxTensorTimes * file_bytes)) {}

  bool IsTensor(const PickleValue& value) const {
    return value.kind == PickleValue::kCall && (Callee(value) == kRebuildTensor || Callee(value) == kRebuildParameter);
  }

  absl::StatusOr<OwnedArray> Read(const PickleValue& value) {
    const PickleValue* call = &value;
    // A parameter is a tensor in another call; one level is all that PyTorch writes.
    if (Callee(*call) == kRebuildParameter && !Arguments(*call).empty()) call = &pickle_[Arguments(*call)[0]];
    if (call->kind != PickleValue::kCall || Callee(*call) != kRebuildTensor) return Damaged();
    const std::vector<int>& arguments = Arguments(*call);
    if (arguments.size() < 4 || pickle_[arguments[0]].kind != PickleValue::kPersistent) return Damaged();
    // ("storage", type, key, device, number of elements)
    const PickleValue& id = pickle_[pickle_[arguments[0]].items[0]];
    if (id.kind != PickleValue::kTuple || id.items.size() < 5) return Damaged();
    const PickleValue& type_name = pickle_[id.items[1]];
    const PickleValue& key = pickle_[id.items[2]];
    if (type_name.kind != PickleValue::kGlobal || key.kind != PickleValue::kText) return Damaged();
    OwnedArray array;
    bool known = false;
    for (const auto& [name, type] : kStorages) {
      if (name != type_name.text) continue;
      array.type = type;
      known = true;
    }
    if (!known) return absl::InvalidArgumentError(absl::StrCat("no storage: '", OneLine(type_name.text), "'"));
    std::vector<int64_t> stride;
    if (!Numbers(pickle_[arguments[2]], &array.shape) || !Numbers(pickle_[arguments[3]], &stride) ||
        stride.size() != array.shape.size()) {
      return Damaged();
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string* storage, Storage(key.text));
    // Many tensors may lie in one storage.
    left_bytes_ -= static_cast<int64_t>(storage->size());
    if (left_bytes_ < 0) {
      return absl::DataLossError(absl::StrCat("with the tensors before it, it takes more than ", kMaxTensorBytes,
                                              " bytes, and more than ", kMaxTensorTimes, " times the file"));
    }
    OPENSET_RETURN_IF_ERROR(Gather(*storage, pickle_[arguments[1]].number, stride, &array));
    return array;
  }

 private:
  static absl::Status Damaged() { return absl::DataLossError("not as torch.save() writes a tensor"); }

  absl::string_view Callee(const PickleValue& call) const { return pickle_[call.items[0]].text; }
  const std::vector<int>& Arguments(const PickleValue& call) const { return pickle_[call.items[1]].items; }

  // Appends the numbers of a tuple of non-negative integers; false for anything else.
  bool Numbers(const PickleValue& tuple, std::vector<int64_t>* numbers) const {
    if (tuple.kind != PickleValue::kTuple) return false;
    for (const int item : tuple.items) {
      if (pickle_[item].kind != PickleValue::kInt || pickle_[item].number < 0) return false;
      numbers->push_back(pickle_[item].number);
    }
    return true;
  }

  absl::StatusOr<const std::string*> Storage(const std::string& key) {
    if (const auto found = storages_.find(key); found != storages_.end()) return &found->second;
    OPENSET_ASSIGN_OR_RETURN(std::string bytes, archive_->Read(absl::StrCat("data/", key)));
    return &(storages_[key] = std::move(bytes));
  }

  // Copies the elements, row-major. A view has no more elements than its storage and lies inside it.
  static absl::Status Gather(const std::string& storage, int64_t offset, const std::vector<int64_t>& stride,
                             OwnedArray* array) {
    const int64_t element = SizeOf(array->type);
    const int64_t available = static_cast<int64_t>(storage.size()) / element;
    const absl::Status outside = absl::DataLossError("lies outside its storage");
    if (offset < 0 || offset > available) return outside;
    int64_t count = 1, last = offset;
    for (const int64_t size : array->shape) count = size == 0 ? 0 : count;
    for (size_t d = 0; d < stride.size() && count > 0; ++d) {
      const int64_t size = array->shape[d];
      if (size > available / count || (size > 1 && stride[d] > available / (size - 1))) return outside;
      count *= size;
      last += stride[d] * (size - 1);
    }
    if (count > 0 && last >= available) return outside;
    array->data.resize(count * element);
    std::vector<int64_t> index(stride.size(), 0);
    int64_t from = offset;
    for (int64_t to = 0; to < count; ++to) {
      storage.copy(&array->data[to * element], element, from * element);
      for (size_t d = stride.size(); d-- > 0;) {
        from += stride[d];
        if (++index[d] < array->shape[d]) break;
        from -= stride[d] * array->shape[d];
        index[d] = 0;
      }
    }
    return absl::OkStatus();
  }

  const Pickle& pickle_;
  Archive* archive_;
  int64_t left_bytes_;  // that the storages of the remaining tensors may have in total
  std::map<std::string, std::string> storages_;
};

// The dict of tensors: the complete object, or the value under one of a checkpoint's usual keys.
absl::StatusOr<const PickleValue*> StateDict(const Pickle& pickle) {
  const PickleValue* root = &pickle[pickle.root];
  if (root->kind != PickleValue::kDict) return absl::InvalidArgumentError("holds no dict of tensors");
  for (absl::string_view key : kStateDictKeys) {
    const int place = pickle.Find(*root, key);
    if (place >= 0 && pickle[place].kind == PickleValue::kDict) return &pickle[place];
  }
  return root;
}

}  // namespace

absl::StatusOr<std::map<std::string, OwnedArray>> DecodeTorchFile(absl::string_view file) {
  OPENSET_ASSIGN_OR_RETURN(Archive archive, Archive::Open(file));
  if (archive.Has("constants.pkl")) return absl::InvalidArgumentError("a TorchScript archive, not one of torch.save()");
  if (archive.Has("byteorder")) {
    OPENSET_ASSIGN_OR_RETURN(const std::string order, archive.Read("byteorder", kMostByteOrder));
    if (order != "little") return absl::InvalidArgumentError(absl::StrCat("byte order '", OneLine(order), "'"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, archive.Read("data.pkl", kMostPickleBytes));
  OPENSET_ASSIGN_OR_RETURN(const Pickle pickle, ReadPickle(bytes, Globals()));
  OPENSET_ASSIGN_OR_RETURN(const PickleValue* dict, StateDict(pickle));
  TensorReader reader(pickle, &archive, static_cast<int64_t>(file.size()));
  std::map<std::string, OwnedArray> arrays;
  std::vector<std::string> others;
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    const PickleValue& key = pickle[dict->items[i]];
    const PickleValue& value = pickle[dict->items[i + 1]];
    if (key.kind != PickleValue::kText) return absl::InvalidArgumentError("a key of its dict is not text");
    if (!reader.IsTensor(value)) {
      others.push_back(absl::StrCat("'", OneLine(key.text), "'"));
      continue;
    }
    OPENSET_ASSIGN_OR_RETURN(OwnedArray array, reader.Read(value), "tensor '", OneLine(key.text), "'");
    arrays[key.text] = std::move(array);
  }
  if (!others.empty()) {
    if (others.size() > kListed) others.resize(kListed);
    return absl::InvalidArgumentError(
        absl::StrCat("its dict holds other things than tensors: ", absl::StrJoin(others, ", "),
                     ". Save the network's state_dict() alone, or in a dict under \"state_dict\""));
  }
  return arrays;
}

bool IsTorchSave(absl::string_view bytes) {
  // Names of members are never compressed, also not in the list at the archive's end.
  return absl::StartsWith(bytes, "PK\x03\x04") && absl::StrContains(bytes, "/data.pkl") &&
         !absl::StrContains(bytes, "/constants.pkl");
}

}  // namespace openset
