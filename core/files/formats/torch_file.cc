#include "core/files/formats/torch_file.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
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
// What TorchScript writes for values of its own types.
constexpr absl::string_view kScriptNames[] = {"torch.jit._pickle build_intlist",
                                              "torch.jit._pickle build_tensorlist",
                                              "torch.jit._pickle build_doublelist",
                                              "torch.jit._pickle build_boollist",
                                              "torch.jit._pickle build_tensor_from_id",
                                              "torch.jit._pickle restore_type_tag",
                                              "torch device",
                                              "builtins complex"};
constexpr absl::string_view kScriptClass = "__torch__";
// The magic number and the version with which torch.save() began its files before PyTorch 1.6.
constexpr absl::string_view kPickleMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr int64_t kOldVersion = 1001;
constexpr size_t kListed = 5;
constexpr size_t kMostByteOrder = 100;  // bytes of the member, whose content is "little" or "big"
// A pickle may repeat a value at no cost, so that there are limits for: the names of storages and attributes; modules
// inside one another, and the values of all modules; the keys of a checkpoint; dicts inside one another in which a
// message looks for tensors, and their values.
constexpr size_t kMostTensorNameBytes = 1000, kMostModuleDepth = 100, kMostModuleValues = 4'000'000, kMostKeys = 100;
constexpr int kMostDictDepth = 3;
constexpr int64_t kMostDictValues = 1'000'000;
constexpr size_t kMostCodeBytes = 8 << 20;  // of one file of a script

// The archive's members by their names below its top folder.
class Archive {
 public:
  static absl::StatusOr<Archive> Open(absl::string_view file) {
    OPENSET_ASSIGN_OR_RETURN(ZipReader zip, ZipReader::OfBytes(file));
    return Archive(std::move(zip));
  }

  explicit Archive(ZipReader zip) : zip_(std::move(zip)) {
    for (const std::string& name : zip_.Names()) {
      const size_t slash = name.find('/');
      if (slash != std::string::npos) members_[name.substr(slash + 1)] = name;
    }
  }

  bool Has(const std::string& member) const { return members_.count(member) > 0; }
  bool IsScript() const { return Has("constants.pkl"); }

  absl::StatusOr<std::string> Read(const std::string& member, size_t max_bytes = std::numeric_limits<size_t>::max()) {
    const auto found = members_.find(member);
    return zip_.Read(found == members_.end() ? member : found->second, max_bytes);
  }

  // The files of a script's code.
  std::vector<std::string> CodeFiles() const {
    std::vector<std::string> files;
    for (const auto& [name, full] : members_) {
      if (absl::StartsWith(name, "code/") && absl::EndsWith(name, ".py")) files.push_back(name);
    }
    return files;
  }

 private:
  ZipReader zip_;
  std::map<std::string, std::string> members_;  // their full names
};

// A storage by its key.
using FindStorage = std::function<absl::StatusOr<const std::string*>(const std::string& key)>;

class TensorReader {
 public:
  TensorReader(const Pickle& pickle, FindStorage find_storage, int64_t file_bytes)
      : pickle_(pickle),
        find_storage_(std::move(find_storage)),
        left_bytes_(std::max(kMaxTensorBytes, kMaxTensorTimes * file_bytes)) {}

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
    // Before PyTorch 1.6: (key, offset, number of elements) of a storage inside the storage, or None.
    int64_t view_offset = 0, view_count = std::numeric_limits<int64_t>::max();
    if (id.items.size() > 5 && pickle_[id.items[5]].kind != PickleValue::kNone) {
      const std::vector<int>& view = pickle_[id.items[5]].items;
      if (view.size() != 3 || pickle_[view[1]].kind != PickleValue::kInt || pickle_[view[1]].number < 0 ||
          pickle_[view[2]].kind != PickleValue::kInt || pickle_[view[2]].number < 0) {
        return Damaged();
      }
      view_offset = pickle_[view[1]].number;
      view_count = pickle_[view[2]].number;
    }
    std::vector<int64_t> stride;
    if (!Numbers(pickle_[arguments[2]], &array.shape) || !Numbers(pickle_[arguments[3]], &stride) ||
        stride.size() != array.shape.size()) {
      return Damaged();
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string* bytes, find_storage_(key.text));
    const int64_t element = SizeOf(array.type);
    absl::string_view storage = *bytes;
    const int64_t elements = static_cast<int64_t>(storage.size()) / element;
    storage.remove_prefix(std::min(view_offset, elements) * element);
    storage = storage.substr(0, std::min(view_count, elements) * element);
    // Many tensors may lie in one storage.
    left_bytes_ -= static_cast<int64_t>(bytes->size());
    if (left_bytes_ < 0) {
      return absl::DataLossError(absl::StrCat("with the tensors before it, it takes more than ", kMaxTensorBytes,
                                              " bytes, and more than ", kMaxTensorTimes, " times the file"));
    }
    OPENSET_RETURN_IF_ERROR(Gather(storage, pickle_[arguments[1]].number, stride, &array));
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

  // Copies the elements, row-major. A view has no more elements than its storage and lies inside it.
  static absl::Status Gather(absl::string_view storage, int64_t offset, const std::vector<int64_t>& stride,
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
  const FindStorage find_storage_;
  int64_t left_bytes_;  // that the storages of the remaining tensors may have in total
};

// The name that a call or an object has; "" for other values.
absl::string_view NameOf(const Pickle& pickle, const PickleValue& value) {
  return value.kind == PickleValue::kCall ? absl::string_view(pickle[value.items[0]].text) : "";
}

// The state of an object, if it is a dict; null otherwise.
const PickleValue* StateOf(const Pickle& pickle, const PickleValue& value) {
  if (value.kind != PickleValue::kCall || value.items.size() < 3) return nullptr;
  const PickleValue& state = pickle[value.items[2]];
  return state.kind == PickleValue::kDict ? &state : nullptr;
}

bool IsTensor(const Pickle& pickle, const PickleValue& value) {
  const absl::string_view name = NameOf(pickle, value);
  return name == kRebuildTensor || name == kRebuildParameter;
}

// The number of tensors in a dict that has no other values and only texts as keys; 0 for anything else.
size_t CountTensors(const Pickle& pickle, const PickleValue& dict) {
  if (dict.kind != PickleValue::kDict) return 0;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (pickle[dict.items[i]].kind != PickleValue::kText || !IsTensor(pickle, pickle[dict.items[i + 1]])) return 0;
  }
  return dict.items.size() / 2;
}

bool IsModule(const Pickle& pickle, const PickleValue& value) {
  const PickleValue* state = StateOf(pickle, value);
  return state != nullptr && pickle.Find(*state, "_modules") >= 0;
}

// The expressions of Python by which the state dicts below `value` are reached from `name`.
void FindStateDicts(const Pickle& pickle, const PickleValue& value, const std::string& name, int depth, int64_t* left,
                    std::vector<std::string>* found) {
  *left -= 1 + static_cast<int64_t>(value.items.size());
  if (found->size() >= kListed || *left < 0) return;
  if (IsModule(pickle, value)) {
    found->push_back(absl::StrCat(name, ".state_dict()"));
  } else if (CountTensors(pickle, value) > 0) {
    found->push_back(name);
  } else if (value.kind == PickleValue::kDict && depth < kMostDictDepth) {
    for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const PickleValue& key = pickle[value.items[i]];
      if (key.kind != PickleValue::kText || key.text.size() > kMostTensorNameBytes) continue;
      FindStateDicts(pickle, pickle[value.items[i + 1]], absl::StrCat(name, "[\"", OneLine(key.text), "\"]"), depth + 1,
                     left, found);
    }
  }
}

// The lines of Python that save the tensors of a pickle alone.
std::string HowToSave(const Pickle& pickle) {
  const PickleValue& root = pickle[pickle.root];
  const std::string name = IsModule(pickle, root) ? "model" : "checkpoint";
  std::vector<std::string> found;
  int64_t left = kMostDictValues;
  FindStateDicts(pickle, root, name, 0, &left, &found);
  std::string what = absl::StrJoin(found, ", \"weights.pth\") or torch.save(");
  if (found.empty()) {
    bool has_tensors = false;
    for (size_t i = 1; root.kind == PickleValue::kDict && i < root.items.size(); i += 2) {
      has_tensors = has_tensors || IsTensor(pickle, pickle[root.items[i]]);
    }
    what = has_tensors ? "{k: v for k, v in checkpoint.items() if torch.is_tensor(v)}" : "model.state_dict()";
  }
  return absl::StrCat("In Python, for a file that you trust: ", name,
                      " = torch.load(FILE, map_location=\"cpu\", weights_only=False); torch.save(", what,
                      ", \"weights.pth\")");
}

// Refuses all names but of tensors and, in a script, of its classes and types.
absl::Status CheckNames(const Pickle& pickle, bool is_script) {
  const auto is_known = [&](absl::string_view name) {
    if (name == "collections OrderedDict" || name == kRebuildTensor || name == kRebuildParameter) return true;
    if (std::any_of(std::begin(kStorages), std::end(kStorages), [&](const auto& row) { return row.first == name; })) {
      return true;
    }
    return is_script && (absl::StartsWith(name, kScriptClass) ||
                         std::find(std::begin(kScriptNames), std::end(kScriptNames), name) != std::end(kScriptNames));
  };
  for (const PickleValue& value : pickle.values) {
    if (value.kind != PickleValue::kGlobal || is_known(value.text)) continue;
    const PickleValue& root = pickle[pickle.root];
    const bool is_network = IsModule(pickle, root);
    return absl::InvalidArgumentError(
        absl::StrCat("it holds a ", is_network ? "whole network, a " : "", "Python object of '",
                     OneLine(is_network ? NameOf(pickle, root) : absl::string_view(value.text)),
                     "', which only its code can read; openset reads tensors alone. ", HowToSave(pickle)));
  }
  return absl::OkStatus();
}

// "'a', 'b', ..."
std::string Listed(std::vector<std::string> names) {
  const bool is_cut = names.size() > kListed;
  if (is_cut) names.resize(kListed);
  for (std::string& name : names) name = absl::StrCat("'", OneLine(name), "'");
  return absl::StrCat(absl::StrJoin(names, ", "), is_cut ? ", ..." : "");
}

// Chooses the dict of tensors: the complete object, or the value under a checkpoint's key; sets the keys of `tensors`.
absl::StatusOr<const PickleValue*> StateDict(const Pickle& pickle, absl::string_view key, TorchTensors* tensors) {
  const PickleValue* root = &pickle[pickle.root];
  if (root->kind != PickleValue::kDict) return absl::InvalidArgumentError("holds no dict of tensors");
  std::vector<std::string> keys, dicts;
  bool has_tensors = false;
  for (size_t i = 0; i + 1 < root->items.size(); i += 2) {
    const PickleValue &name = pickle[root->items[i]], &value = pickle[root->items[i + 1]];
    has_tensors = has_tensors || IsTensor(pickle, value);
    if (name.kind != PickleValue::kText || keys.size() == kMostKeys || name.text.size() > kMostTensorNameBytes)
      continue;
    keys.push_back(name.text);
    if (CountTensors(pickle, value) > 0) dicts.push_back(name.text);
  }
  std::string chosen(key);
  if (key.empty()) {
    for (const absl::string_view usual : kStateDictKeys) {
      const int place = pickle.Find(*root, usual);
      if (chosen.empty() && place >= 0 && pickle[place].kind == PickleValue::kDict) chosen = std::string(usual);
    }
    if (chosen.empty() && !has_tensors && dicts.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat("is a checkpoint that has tensors under several keys, ",
                                                     Listed(dicts),
                                                     ": name the one to use with weights.key (openset score: --key)"));
    }
    if (chosen.empty() && !has_tensors && dicts.size() == 1) chosen = dicts[0];
    if (chosen.empty()) return root;
  } else if (const int place = pickle.Find(*root, key); place < 0 || pickle[place].kind != PickleValue::kDict) {
    return absl::InvalidArgumentError(absl::StrCat("it has no dict of tensors under the key '", OneLine(key),
                                                   "'; its keys are ", Listed(dicts.empty() ? keys : dicts)));
  }
  const PickleValue* dict = &pickle[pickle.Find(*root, chosen)];
  tensors->key = chosen;
  for (const std::string& other : dicts) {
    if (other != chosen && 2 * CountTensors(pickle, pickle[pickle.Find(*root, other)]) >= dict->items.size() / 2) {
      tensors->other_keys.push_back(other);
    }
  }
  return dict;
}

// The tensors of the dict that a pickle of torch.save() holds.
absl::StatusOr<TorchTensors> TensorsOf(const Pickle& pickle, absl::string_view key, TensorReader reader) {
  OPENSET_RETURN_IF_ERROR(CheckNames(pickle, /*is_script=*/false));
  TorchTensors tensors;
  OPENSET_ASSIGN_OR_RETURN(const PickleValue* dict, StateDict(pickle, key, &tensors));
  std::vector<std::string> others;
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    const PickleValue& name = pickle[dict->items[i]];
    const PickleValue& value = pickle[dict->items[i + 1]];
    if (name.kind != PickleValue::kText) return absl::InvalidArgumentError("a key of its dict is not text");
    if (!IsTensor(pickle, value)) {
      if (others.size() <= kListed) others.push_back(name.text.substr(0, kMostTensorNameBytes));
      continue;
    }
    OPENSET_ASSIGN_OR_RETURN(OwnedArray array, reader.Read(value), "tensor '", OneLine(name.text), "'");
    tensors.arrays[name.text] = std::move(array);
  }
  if (others.empty()) return tensors;
  return absl::InvalidArgumentError(absl::StrCat("its dict holds other things than tensors: ", Listed(others),
                                                 ". Save the network's state_dict() alone, or in a dict under "
                                                 "\"state_dict\". ",
                                                 HowToSave(pickle)));
}

// A storage of an archive, read when a tensor needs it.
FindStorage StoragesOf(Archive* archive) {
  auto storages = std::make_shared<std::map<std::string, std::string>>();
  return [=](const std::string& key) -> absl::StatusOr<const std::string*> {
    if (const auto found = storages->find(key); found != storages->end()) return &found->second;
    OPENSET_ASSIGN_OR_RETURN(std::string bytes, archive->Read(absl::StrCat("data/", key)));
    return &((*storages)[key] = std::move(bytes));
  };
}

// Files of torch.save() before PyTorch 1.6: a pickle each of a magic number, the version, facts about the machine, the
// object and the keys of its storages, then for each key the number of its elements (8 bytes) and these.
absl::StatusOr<TorchTensors> DecodeOldFile(absl::string_view file, absl::string_view key) {
  absl::string_view rest = file;
  const auto next = [&rest]() -> absl::StatusOr<Pickle> {
    size_t size = 0;
    OPENSET_ASSIGN_OR_RETURN(Pickle pickle, ReadPickle(rest, &size));
    rest.remove_prefix(size);
    return pickle;
  };
  OPENSET_ASSIGN_OR_RETURN(const Pickle magic, next());
  if (magic[magic.root].text != kPickleMagic) {
    return absl::InvalidArgumentError(
        "is a pickle that torch.save() did not write. If Python reads it, load it there and save the tensors with "
        "torch.save(state_dict, \"weights.pth\")");
  }
  OPENSET_ASSIGN_OR_RETURN(const Pickle version, next());
  OPENSET_ASSIGN_OR_RETURN(const Pickle machine, next());
  OPENSET_ASSIGN_OR_RETURN(const Pickle pickle, next());
  OPENSET_ASSIGN_OR_RETURN(const Pickle keys, next());
  if (version[version.root].number != kOldVersion) {
    return absl::InvalidArgumentError(
        "is of an unknown version of torch.save(): load it with PyTorch and save it again");
  }
  const int is_little = machine.Find(machine[machine.root], "little_endian");
  if (is_little >= 0 && machine[is_little].number == 0) return absl::InvalidArgumentError("byte order 'big'");
  // What the tensors say of their storages.
  std::map<std::string, int64_t> element_of;
  for (const PickleValue& value : pickle.values) {
    if (value.kind != PickleValue::kPersistent) continue;
    const std::vector<int>& id = pickle[value.items[0]].items;
    if (id.size() < 5 || pickle[id[2]].text.size() > kMostTensorNameBytes) continue;
    for (const auto& [name, type] : kStorages) {
      if (pickle[id[1]].text == name) element_of[pickle[id[2]].text] = SizeOf(type);
    }
  }
  auto storages = std::make_shared<std::map<std::string, std::string>>();
  for (const int place : keys[keys.root].items) {
    const std::string& name = keys[place].text;
    uint64_t count = 0;
    for (size_t i = 0; i < 8 && rest.size() >= 8; ++i) count |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * i);
    const auto element = element_of.find(name);
    if (element == element_of.end() || rest.size() < 8 || count > (rest.size() - 8) / element->second) {
      // A file with Python objects gives its error instead.
      OPENSET_RETURN_IF_ERROR(CheckNames(pickle, /*is_script=*/false));
      return absl::DataLossError("is cut short, or its storages are damaged");
    }
    (*storages)[name] = std::string(rest.substr(8, count * element->second));
    rest.remove_prefix(8 + count * element->second);
  }
  const FindStorage find = [=](const std::string& name) -> absl::StatusOr<const std::string*> {
    const auto found = storages->find(name);
    if (found == storages->end()) return absl::DataLossError("its storage is missing");
    return &found->second;
  };
  return TensorsOf(pickle, key, TensorReader(pickle, find, static_cast<int64_t>(file.size())));
}

// What a script's code says about a class that is a module.
struct ScriptModule {
  std::set<std::string> tensors;  // the names of its parameters and buffers
  bool has_buffers = false;       // old archives name only the parameters
};
using ScriptModules = std::map<std::string, ScriptModule>;  // by "__torch__.networks Net"

// Reads what the code says about the modules; it has a line for each of these: class Net(Module):, __parameters__ =
// ["weight", ], __buffers__ = []. Errors: kInvalidArgument for code that computes tensors when it is loaded.
absl::StatusOr<ScriptModules> ModulesOf(Archive* archive) {
  ScriptModules modules;
  for (const std::string& file : archive->CodeFiles()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string code, archive->Read(file, kMostCodeBytes));
    std::string folder(absl::StripSuffix(absl::StripPrefix(file, "code/"), ".py"));
    folder = absl::StrReplaceAll(folder, {{"/", "."}});
    ScriptModule* module = nullptr;
    for (absl::string_view line : absl::StrSplit(code, '\n')) {
      if (absl::ConsumePrefix(&line, "class ")) {
        const bool is_module = absl::ConsumeSuffix(&line, "(Module):");
        module = is_module ? &modules[absl::StrCat(folder, " ", line)] : nullptr;
        continue;
      }
      line = absl::StripLeadingAsciiWhitespace(line);
      if (absl::StartsWith(line, "def __setstate__(")) {
        return absl::InvalidArgumentError(
            "its code defines __setstate__, which computes tensors when the archive is loaded, as that of quantized "
            "networks does. openset runs no code to read weights: save them with torch.save(model.state_dict(), "
            "\"weights.pth\")");
      }
      const bool is_buffers = absl::StartsWith(line, "__buffers__ = [");
      if (module == nullptr || (!is_buffers && !absl::StartsWith(line, "__parameters__ = ["))) continue;
      module->has_buffers = module->has_buffers || is_buffers;
      bool is_name = false;
      for (const absl::string_view part : absl::StrSplit(line, '"')) {
        if (is_name) module->tensors.emplace(part);
        is_name = !is_name;
      }
    }
  }
  return modules;
}

absl::StatusOr<TorchTensors> DecodeScript(Archive* archive, size_t file_bytes) {
  OPENSET_ASSIGN_OR_RETURN(const ScriptModules modules, ModulesOf(archive));
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, archive->Read("data.pkl", kMostPickleBytes));
  OPENSET_ASSIGN_OR_RETURN(const Pickle pickle, ReadPickle(bytes));
  OPENSET_RETURN_IF_ERROR(CheckNames(pickle, /*is_script=*/true));
  TensorReader reader(pickle, StoragesOf(archive), static_cast<int64_t>(file_bytes));
  struct Place {
    const PickleValue* module;
    std::string path;  // "layer1.0."
    size_t depth;
  };
  TorchTensors tensors;
  std::vector<Place> places = {{&pickle[pickle.root], "", 0}};
  for (size_t seen = 0; !places.empty();) {
    const Place place = std::move(places.back());
    places.pop_back();
    const PickleValue* state = StateOf(pickle, *place.module);
    const auto module = modules.find(std::string(NameOf(pickle, *place.module)));
    if (state == nullptr || module == modules.end()) return absl::DataLossError("its modules do not match its code");
    seen += 1 + state->items.size();
    if (seen > kMostModuleValues || place.depth == kMostModuleDepth || place.path.size() > kMostTensorNameBytes) {
      return absl::DataLossError("it has too many modules");
    }
    for (size_t i = 0; i + 1 < state->items.size(); i += 2) {
      const PickleValue &key = pickle[state->items[i]], &value = pickle[state->items[i + 1]];
      if (key.text.size() > kMostTensorNameBytes) return absl::DataLossError("a name is too long");
      const std::string name = place.path + key.text;
      if (modules.count(std::string(NameOf(pickle, value))) > 0) {
        places.push_back({&value, name + ".", place.depth + 1});
      } else if (IsTensor(pickle, value) &&
                 (module->second.tensors.count(key.text) > 0 || !module->second.has_buffers)) {
        OPENSET_ASSIGN_OR_RETURN(tensors.arrays[name], reader.Read(value), "tensor '", OneLine(name), "'");
      }
    }
  }
  if (!tensors.arrays.empty()) return tensors;
  return absl::InvalidArgumentError(
      "is TorchScript without parameters: torch.jit.freeze() makes them part of the code. Save the network's weights "
      "with torch.save(model.state_dict(), \"weights.pth\")");
}

}  // namespace

absl::StatusOr<TorchTensors> DecodeTorchFile(absl::string_view file, absl::string_view key) {
  if (absl::StartsWith(file, "\x80")) return DecodeOldFile(file, key);
  absl::StatusOr<Archive> archive = Archive::Open(file);
  if (absl::IsInvalidArgument(archive.status())) {
    return absl::InvalidArgumentError("not a file of torch.save() or TorchScript, or cut short");
  }
  OPENSET_RETURN_IF_ERROR(archive.status());
  if (!archive->Has("data.pkl")) {
    return absl::InvalidArgumentError("is a zip archive that neither torch.save() nor TorchScript wrote");
  }
  if (archive->Has("byteorder")) {
    OPENSET_ASSIGN_OR_RETURN(const std::string order, archive->Read("byteorder", kMostByteOrder));
    if (order != "little") return absl::InvalidArgumentError(absl::StrCat("byte order '", OneLine(order), "'"));
  }
  if (archive->IsScript()) {
    if (!key.empty()) return absl::InvalidArgumentError("is TorchScript, which has no keys (weights.key; --key)");
    return DecodeScript(&*archive, file.size());
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, archive->Read("data.pkl", kMostPickleBytes));
  OPENSET_ASSIGN_OR_RETURN(const Pickle pickle, ReadPickle(bytes));
  return TensorsOf(pickle, key, TensorReader(pickle, StoragesOf(&*archive), static_cast<int64_t>(file.size())));
}

absl::Status CheckRunsNoCode(const std::string& path) {
  absl::StatusOr<ZipReader> zip = ZipReader::Open(path);
  if (!zip.ok()) return absl::OkStatus();
  Archive archive(*std::move(zip));
  if (!archive.IsScript()) return absl::OkStatus();
  const absl::Status status = ModulesOf(&archive).status();
  return absl::IsInvalidArgument(status) ? Annotate(status, path) : absl::OkStatus();
}

}  // namespace openset
