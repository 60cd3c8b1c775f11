#include "models/import_weights.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/formats/header_check.h"
#include "core/files/formats/torch_file.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

constexpr char kParallel[] = "module.";
constexpr char kBackbone[] = "backbone.";
constexpr char kHead[] = "head.";
// The number of networks that torch.optim.swa_utils.AveragedModel has averaged.
constexpr char kAverages[] = "n_averaged";
// The name of a module of residual networks in OpenOOD and others, and in torchvision.
constexpr char kShortcut[] = ".shortcut.", kDownsample[] = ".downsample.";
// The most names that a message lists for each kind of problem.
constexpr size_t kMaxListed = 4;

// A tensor of the file, with the model's name for it.
struct Given {
  std::string name;  // in the file
  at::Tensor tensor;
};
using Names = std::map<std::string, Given>;

std::string Quoted(absl::string_view name) { return absl::StrCat("'", OneLine(name), "'"); }

// Whether `pattern`, with * and ?, matches the complete `text`.
bool Matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// Whether the names without `prefix` are our own, rather than torchvision's and timm's.
bool AreOurs(const Names& names, const std::string& prefix) {
  return std::any_of(names.begin(), names.end(),
                     [ours = prefix + kBackbone](const auto& entry) { return absl::StartsWith(entry.first, ours); });
}

// Our name for a name; "" for what is not a weight. `ours`: it is ours already.
std::string OurName(absl::string_view name, bool ours) {
  if (ours) return std::string(name);
  // The indices in the windows of a Swin transformer.
  if (absl::EndsWith(name, "relative_position_index")) return "";
  const bool is_head = absl::ConsumePrefix(&name, "fc.") || absl::ConsumePrefix(&name, "classifier.") ||
                       absl::ConsumePrefix(&name, kHead);
  return absl::StrCat(is_head ? kHead : kBackbone, absl::StrReplaceAll(name, {{kShortcut, kDownsample}}));
}

// The number of names that begin with `prefix` and without it are names of the model.
size_t CountFitting(const Names& names, const std::string& prefix, const TensorMap& state) {
  const bool ours = AreOurs(names, prefix);
  return std::count_if(names.begin(), names.end(), [&](const auto& entry) {
    absl::string_view name = entry.first;
    return absl::ConsumePrefix(&name, prefix) && state.count(OurName(name, ours)) > 0;
  });
}

// Of the prefixes of whole parts of `name` ("model.", "model.module."), and none, that without which most names are
// the model's; the shortest of several.
std::string BestPrefix(const Names& names, const std::string& name, const TensorMap& state) {
  std::string best;
  size_t most = CountFitting(names, best, state);
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const std::string prefix = name.substr(0, dot + 1);
    const size_t count = CountFitting(names, prefix, state);
    if (count > most) best = prefix, most = count;
  }
  return best;
}

// BestPrefix() of what all names begin with.
std::string ForeignPrefix(const Names& names, const TensorMap& state) {
  if (names.empty()) return "";
  const std::string &first = names.begin()->first, &last = names.rbegin()->first;  // they share what all share
  const auto end = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  return BestPrefix(names, std::string(first.begin(), end), state);
}

Names Without(const std::string& prefix, const Names& names) {
  Names shorter;
  for (const auto& [name, given] : names) shorter.emplace(name.substr(prefix.size()), given);
  return shorter;
}

// Removes the names that a pattern matches, and sets in `used` which patterns match some.
void Ignore(const WeightsSpec& spec, Names* names, std::vector<bool>* used, ImportNotes* notes) {
  for (auto entry = names->begin(); entry != names->end();) {
    bool is_ignored = false;
    for (int i = 0; i < spec.ignore_size(); ++i) {
      if (!Matches(spec.ignore(i), entry->first)) continue;
      is_ignored = (*used)[i] = true;
    }
    if (is_ignored) notes->ignored.push_back(entry->first);
    entry = is_ignored ? names->erase(entry) : std::next(entry);
  }
}

// The names after all renamings, each of which some name must begin with.
absl::StatusOr<Names> Renamed(const WeightsSpec& spec, const Names& names) {
  std::vector<bool> used(spec.rename_size(), false);
  Names renamed;
  for (const auto& [old_name, given] : names) {
    std::string name = old_name;
    for (int i = 0; i < spec.rename_size(); ++i) {
      if (!absl::StartsWith(name, spec.rename(i).from())) continue;
      name = absl::StrCat(spec.rename(i).to(), name.substr(spec.rename(i).from().size()));
      used[i] = true;
    }
    if (const auto [place, is_new] = renamed.try_emplace(name, given); !is_new) {
      return absl::InvalidArgumentError(absl::StrCat(Quoted(place->second.name), " and ", Quoted(given.name),
                                                     " are both called ", Quoted(name), " after rename"));
    }
  }
  for (int i = 0; i < spec.rename_size(); ++i) {
    if (used[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rename[", i, "]: the name of no tensor begins with '", spec.rename(i).from(), "'"));
  }
  return renamed;
}

// The tensors by our names, without the ignored ones. `state` is the model's.
absl::StatusOr<Names> InOurNames(const TensorMap& given, const WeightsSpec& spec, const TensorMap& state,
                                 ImportNotes* notes) {
  Names names;
  for (const auto& [name, tensor] : given) {
    if (name != kAverages || tensor.dim() > 0) {
      names[name] = Given{name, tensor};
    } else {
      notes->lines.push_back(absl::StrCat("'", kAverages, "', which counts averaged networks, is left out"));
    }
  }
  const bool is_parallel = std::all_of(names.begin(), names.end(),
                                       [](const auto& entry) { return absl::StartsWith(entry.first, kParallel); });
  if (is_parallel) names = Without(kParallel, names);
  std::vector<bool> used(spec.ignore_size(), false);
  Ignore(spec, &names, &used, notes);
  std::string prefix = ForeignPrefix(names, state);
  Names shorter = Without(prefix, names);
  if (!prefix.empty()) Ignore(spec, &shorter, &used, notes);
  for (int i = 0; i < spec.ignore_size(); ++i) {
    if (used[i]) continue;
    return absl::InvalidArgumentError(absl::StrCat("ignore[", i, "]: no tensor is called '", spec.ignore(i), "'"));
  }
  // Renamings may be for the complete names.
  absl::StatusOr<Names> named = Renamed(spec, shorter);
  if (spec.rename_size() > 0) {
    absl::StatusOr<Names> of_complete = Renamed(spec, names);
    if (of_complete.ok() || !named.ok()) {
      OPENSET_RETURN_IF_ERROR(of_complete.status());
      prefix = ForeignPrefix(*of_complete, state);
      named = Without(prefix, *of_complete);
    }
  }
  OPENSET_RETURN_IF_ERROR(named.status());
  if (!prefix.empty()) {
    notes->lines.push_back(absl::StrCat("all names begin with ", Quoted(prefix), ", which is left out"));
  }

  const bool ours = AreOurs(*named, "");
  Names in_ours;
  for (auto& [name, tensor] : *named) {
    const std::string our_name = OurName(name, ours);
    if (our_name.empty()) continue;
    if (const auto [place, is_new] = in_ours.try_emplace(our_name, tensor); !is_new) {
      return absl::InvalidArgumentError(absl::StrCat(Quoted(place->second.name), " and ", Quoted(tensor.name),
                                                     " both mean ", Quoted(place->first),
                                                     ": ignore one of them (weights.ignore)"));
    }
  }
  return in_ours;
}

// "3 tensors are missing: 'a', 'b', ..." or nothing.
void Describe(absl::string_view what, const std::vector<std::string>& names, std::vector<std::string>* problems) {
  if (names.empty()) return;
  const std::vector<std::string> listed(names.begin(), names.begin() + std::min(names.size(), kMaxListed));
  problems->push_back(absl::StrCat(names.size(), names.size() == 1 ? " tensor is " : " tensors are ", what, ": ",
                                   absl::StrJoin(listed, ", "), names.size() > kMaxListed ? ", ..." : ""));
}

bool IsCount(const std::string& name) { return absl::EndsWith(name, "num_batches_tracked"); }

bool IsConvertible(const std::string& name, const at::Tensor& from, const at::Tensor& to) {
  return !from.is_complex() && (IsCount(name) || from.is_floating_point() == to.is_floating_point());
}

std::string ShapeText(const at::Tensor& tensor) { return absl::StrCat("[", absl::StrJoin(tensor.sizes(), ", "), "]"); }

// What to do if some names, but not all, begin with a prefix that the model's lack: "2 of the 9 names ..."; "" if so
// many don't that it isn't this.
std::string PrefixAdvice(const TensorMap& given, const TensorMap& state) {
  Names names;
  std::map<std::string, size_t> counts;  // by first part
  for (const auto& [name, tensor] : given) {
    names[name] = Given{name, tensor};
    if (const size_t dot = name.find('.'); dot != std::string::npos) ++counts[name.substr(0, dot + 1)];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || 2 * most->second < names.size() || most->second == names.size()) return "";
  const auto example = names.lower_bound(most->first);
  const std::string prefix = BestPrefix(names, example->first, state);
  if (prefix.empty()) return "";
  std::vector<std::string> others;
  for (const auto& [name, tensor] : names) {
    if (!absl::StartsWith(name, prefix)) others.push_back(Quoted(name));
  }
  const size_t fitting = names.size() - others.size();
  if (others.size() > kMaxListed) others.resize(kMaxListed), others.push_back("...");
  return absl::StrCat(fitting, " of the ", names.size(), " names begin with ", Quoted(prefix),
                      ", which is left out if all do: ignore the others (", absl::StrJoin(others, ", "),
                      ") with weights.ignore in a method file");
}

// The rows of the head's tensors that `spec` lists.
absl::Status SelectOutputs(const WeightsSpec& spec, const TensorMap& state, Names* named) {
  const auto weight = state.find("head.weight");
  const auto given = named->find("head.weight");
  if (weight == state.end() || given == named->end() || given->second.tensor.dim() != weight->second.dim() ||
      spec.head() == WeightsSpec::SKIP) {
    return absl::InvalidArgumentError(
        "weights.output (--outputs) is for the outputs of a linear head, which the file and the model must have, and "
        "not for weights.head SKIP");
  }
  const int64_t outputs = given->second.tensor.size(0);
  OPENSET_ASSIGN_OR_RETURN(const at::Tensor places,
                           OutputPlaces("weights.output", {spec.output().begin(), spec.output().end()}, "the file's",
                                        outputs, weight->second.size(0)));
  for (auto& [name, value] : *named) {
    if (!absl::StartsWith(name, kHead) || value.tensor.dim() == 0 || value.tensor.size(0) != outputs) continue;
    value.tensor = value.tensor.index_select(0, places);
  }
  return absl::OkStatus();
}

// What to do if only tensors of the head don't fit.
std::string HeadAdvice(const Names& named, const TensorMap& state) {
  const std::string skip = "Set weights.head to SKIP to start with a new head";
  const auto weight = state.find("head.weight");
  const auto given = named.find("head.weight");
  if (weight == state.end() || given == named.end()) return skip;
  const at::IntArrayRef ours = weight->second.sizes(), theirs = given->second.tensor.sizes();
  if (ours.size() != 2 || theirs.size() != 2 || ours[1] != theirs[1]) return skip;
  return absl::StrCat("The file's head has ", theirs[0], " outputs, the split has ", ours[0], " known classes. ",
                      theirs[0] > ours[0]
                          ? "List the position of each known class among the file's outputs in weights.output (openset "
                            "score: --outputs), or, for a training, set weights.head to SKIP to start with a new head"
                          : "Is the file for another split or task? For a training, set weights.head to SKIP to start "
                            "with a new head");
}

}  // namespace

absl::StatusOr<at::Tensor> OutputPlaces(absl::string_view field, const std::vector<int64_t>& places,
                                        absl::string_view whose, int64_t outputs, int64_t num_classes) {
  if (static_cast<int64_t>(places.size()) != num_classes) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " lists ", places.size(), " places for ", num_classes, " known classes"));
  }
  std::set<int64_t> distinct;
  for (const int64_t place : places) {
    if (place < 0 || place >= outputs) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, " lists ", place, ", but ", whose, " outputs are 0 to ", outputs - 1));
    }
    if (!distinct.insert(place).second) {
      return absl::InvalidArgumentError(absl::StrCat(field, " lists ", place, " twice"));
    }
  }
  return at::tensor(places);
}

absl::Status ImportTensors(const TensorMap& given, const WeightsSpec& spec, Model* model, ImportNotes* notes) {
  const WeightsSpec::Head head = spec.head();
  TensorMap state = StateOf(*model);
  ImportNotes added;
  OPENSET_ASSIGN_OR_RETURN(Names all_named, InOurNames(given, spec, state, &added));
  if (spec.output_size() > 0) OPENSET_RETURN_IF_ERROR(SelectOutputs(spec, state, &all_named));
  Names named = all_named;
  std::vector<std::string> missing, misshaped, left_over, not_finite;
  bool only_head = true;
  TensorMap old_state = state;
  for (auto& [name, tensor] : state) {
    const bool is_head = absl::StartsWith(name, kHead);
    const auto found = named.find(name);
    if (is_head && head == WeightsSpec::SKIP) continue;
    if (found == named.end()) {
      if (IsCount(name)) continue;
      missing.push_back(absl::StrCat("'", name, "'"));
      only_head = only_head && is_head;
      continue;
    }
    const auto& [file_name, value] = found->second;
    if (value.sizes() != tensor.sizes() || !IsConvertible(name, value, tensor)) {
      misshaped.push_back(absl::StrCat(Quoted(file_name), " (", c10::toString(value.scalar_type()), " ",
                                       ShapeText(value), ", not ", ShapeText(tensor), ")"));
      only_head = only_head && is_head;
    } else {
      tensor = value.to(tensor.scalar_type());
      const int64_t wrong = tensor.numel() - tensor.isfinite().sum().item<int64_t>();
      if (wrong > 0)
        not_finite.push_back(absl::StrCat(Quoted(file_name), " (", wrong, " of ", tensor.numel(), " values)"));
    }
    named.erase(found);
  }
  for (const auto& [name, value] : named) {
    const bool is_head = absl::StartsWith(name, kHead);
    if (is_head && head == WeightsSpec::SKIP) continue;
    left_over.push_back(Quoted(value.name));
    only_head = only_head && is_head;
  }
  std::vector<std::string> problems;
  Describe("missing", missing, &problems);
  Describe("of another shape", misshaped, &problems);
  Describe("not of this model", left_over, &problems);
  if (!problems.empty()) {
    std::string advice = only_head ? HeadAdvice(all_named, old_state) : PrefixAdvice(given, old_state);
    if (advice.empty()) advice = "Does the backbone's configuration (variant, width, channels) match the file?";
    return absl::InvalidArgumentError(
        absl::StrCat("the weights don't fit the model: ", absl::StrJoin(problems, "; "), ". ", advice));
  }
  if (const size_t count = not_finite.size(); count > 0) {
    if (count > kMaxListed) not_finite.resize(kMaxListed), not_finite.push_back("...");
    return absl::InvalidArgumentError(absl::StrCat(
        "the weights contain values that are NaN or infinite, in ", count, count == 1 ? " tensor: " : " tensors: ",
        absl::StrJoin(not_finite, ", "), ". The training that wrote them diverged, or the file is damaged"));
  }
  OPENSET_RETURN_IF_ERROR(SetState(state, model));
  if (notes != nullptr) {
    notes->ignored.insert(notes->ignored.end(), added.ignored.begin(), added.ignored.end());
    notes->lines.insert(notes->lines.end(), added.lines.begin(), added.lines.end());
  }
  return absl::OkStatus();
}

absl::Status ImportWeights(const WeightsSpec& spec, Model* model, ImportNotes* notes) {
  OPENSET_RETURN_IF_ERROR(CheckWeightsHeader(spec.file()));
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFileWithDigest(spec.file(), spec.sha256()));
  OPENSET_ASSIGN_OR_RETURN(const WeightsFormat format, WeightsFormatOf(spec.file(), bytes), spec.file());
  TensorMap given;
  if (format == WeightsFormat::kSafetensors) {
    if (!spec.key().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec.file(), ": is a safetensors file, which has no keys (weights.key; --key)"));
    }
    OPENSET_ASSIGN_OR_RETURN(given, DecodeTensors(bytes), spec.file());
  } else {
    OPENSET_ASSIGN_OR_RETURN(const TorchTensors tensors, DecodeTorchFile(bytes, spec.key()), spec.file());
    for (const auto& [name, array] : tensors.arrays) given[name] = TensorOf({array.type, array.shape, array.data});
    if (notes != nullptr && !tensors.other_keys.empty()) {
      notes->lines.push_back(absl::StrCat("those under ", Quoted(tensors.key), " are used; there are others under ",
                                          Quoted(absl::StrJoin(tensors.other_keys, "', '")),
                                          " (weights.key; openset score: --key)"));
    }
  }
  return Annotate(ImportTensors(given, spec, model, notes), spec.file());
}

}  // namespace openset
