#include "experiments/spec/resolve/resolve_method.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/proto/field_path.h"
#include "core/proto/overlay.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/synonyms.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/command_sources.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/open_set.pb.h"
#include "google/protobuf/message.h"
#include "models/model.pb.h"

namespace openset {
namespace {

std::string FolderOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }
std::string Stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// PRESET of PRESET.textproto and of METHOD+PRESET.textproto.
std::string PresetName(const std::string& path) {
  const std::string stem = Stem(path);
  return stem.substr(stem.find('+') + 1);
}

// The fields that describe a method; methods that are based on it don't inherit them.
void ClearLabels(MethodSpec* spec) {
  spec->clear_name();
  spec->clear_title();
  spec->clear_reference();
  spec->clear_note();
}

// A method with only these parts.
MethodSpec PartsOf(const WherePresentSpec& present) {
  MethodSpec parts;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  present.GetReflection()->ListFields(present, &fields);
  for (const auto* field : fields) {
    parts.GetReflection()
        ->MutableMessage(&parts, MethodSpec::descriptor()->FindFieldByName(field->name()))
        ->CopyFrom(present.GetReflection()->GetMessage(present, field));
  }
  return parts;
}

// Overrides `spec` by `layer`: first its fields, then its changes of existing parts. Weights of another file have other
// digests.
void Lay(MethodSpec layer, MethodSpec* spec) {
  if (layer.model().weights().has_file() && spec->model().has_weights()) {
    spec->mutable_model()->mutable_weights()->clear_sha256();
    spec->mutable_model()->mutable_weights()->clear_split_sha256();
  }
  google::protobuf::RepeatedPtrField<WherePresentSpec> present;
  present.Swap(layer.mutable_where_present());
  Overlay(layer, spec);
  for (const WherePresentSpec& part : present) OverlayWherePresent(PartsOf(part), spec);
  for (const ScoreSpec& settings : layer.score_settings()) {
    if (settings.kind_case() == spec->score().kind_case()) Overlay(settings, spec->mutable_score());
  }
  spec->clear_score_settings();
}

// The file of a method or preset after those it is based on: another method, also with presets, or another preset.
// `chain` has the files that led here.
absl::Status AddLayers(bool is_method, const std::string& path, const SpecFolders& folders, ModelFiles model_files,
                       std::vector<std::string> chain, std::vector<MethodLayer>* layers) {
  MethodSpec spec;
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, &spec, Completeness::kPartial));
  if (model_files == ModelFiles::kFind) OPENSET_RETURN_IF_ERROR(ResolveMethodFiles(path, "", source, &spec));
  chain.push_back(path);
  if (spec.has_base()) {
    MethodFiles base;
    if (is_method) {
      OPENSET_ASSIGN_OR_RETURN(base, FindMethodFiles(spec.base(), folders, FolderOf(path)), source.Where("base"));
    } else {
      OPENSET_ASSIGN_OR_RETURN(base.method, FindSpecFile("preset", spec.base(), folders.presets, FolderOf(path)),
                               source.Where("base"));
    }
    if (std::find(chain.begin(), chain.end(), base.method) != chain.end()) {
      return absl::InvalidArgumentError(absl::StrCat(source.Where("base"), ": ", spec.base(), " is based on itself: ",
                                                     absl::StrJoin(chain, " -> "), " -> ", base.method));
    }
    OPENSET_RETURN_IF_ERROR(AddLayers(is_method, base.method, folders, model_files, chain, layers));
    for (const std::string& preset : base.presets) {
      OPENSET_RETURN_IF_ERROR(AddLayers(/*is_method=*/false, preset, folders, model_files, {}, layers));
    }
  }
  layers->push_back({std::move(spec), std::move(source)});
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> MethodNames(const SpecFolders& folders) { return NamesIn(folders.methods); }

std::string SuggestedMethod(const std::string& name, const SpecFolders& folders) {
  if (absl::EndsWith(name, ".textproto")) return name;
  const std::vector<std::string> names = MethodNames(folders);
  if (const std::optional<std::string> whole = ResolveSynonym(name, names); whole.has_value()) return *whole;
  const size_t plus = std::min(name.find('+'), name.size());
  return absl::StrCat(ResolveSynonym(name.substr(0, plus), names).value_or(name.substr(0, plus)), name.substr(plus));
}

absl::StatusOr<MethodFiles> FindMethodFiles(const std::string& name, const SpecFolders& folders,
                                            const std::string& beside) {
  const std::vector<std::string> parts = absl::StrSplit(name, '+');
  const std::vector<std::string> presets = parts.size() > 1 ? NamesIn(folders.presets) : std::vector<std::string>();
  MethodFiles files;
  OPENSET_ASSIGN_OR_RETURN(files.method, FindSpecFile("method", parts[0], folders.methods, beside));
  for (size_t p = 1; p < parts.size(); ++p) {
    // A method's own form of the preset, if there is one.
    const std::string own = absl::StrCat(parts[0], "+", parts[p]);
    const bool has_own = std::binary_search(presets.begin(), presets.end(), own);
    OPENSET_ASSIGN_OR_RETURN(files.presets.emplace_back(),
                             FindSpecFile("preset", has_own ? own : parts[p], folders.presets, beside));
  }
  return files;
}

absl::StatusOr<LoadedMethod> ReadMethod(const MethodFiles& files, const SpecFolders& folders, MethodSpec override,
                                        ModelFiles model_files) {
  LoadedMethod method;
  OPENSET_RETURN_IF_ERROR(AddLayers(/*is_method=*/true, files.method, folders, model_files, {}, &method.layers));
  method.own = static_cast<int>(method.layers.size()) - 1;
  MethodSpec& spec = method.spec;
  for (const MethodLayer& layer : method.layers) {
    ClearLabels(&spec);
    Lay(layer.spec, &spec);
  }
  std::string name = spec.has_name() ? spec.name() : Stem(files.method);
  if (!IsName(name)) {
    return absl::InvalidArgumentError(
        spec.has_name()
            ? absl::StrCat(method.layers[method.own].source.Where("name"), ": ", NameProblem(name))
            : absl::StrCat(files.method, ": ", NameProblem(name), "; rename the file, or give it a `name`"));
  }
  for (const std::string& path : files.presets) {
    OPENSET_RETURN_IF_ERROR(AddLayers(/*is_method=*/false, path, folders, model_files, {}, &method.layers));
    if (!IsName(PresetName(path))) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", NameProblem(PresetName(path)), "; rename the file"));
    }
    absl::StrAppend(&name, "+", PresetName(path));
  }
  for (size_t layer = method.own + 1; layer < method.layers.size(); ++layer) {
    MethodSpec settings = method.layers[layer].spec;
    ClearLabels(&settings);
    Lay(std::move(settings), &spec);
  }
  // A study of one method may name it, as that of a record whose method is in no library.
  if (override.has_name()) {
    name = override.name();
    if (!IsName(name)) return absl::InvalidArgumentError(absl::StrCat("override.name: ", NameProblem(name)));
  }
  if (!spec.has_pretraining()) override.clear_pretraining();
  // Outputs come from elsewhere, whatever network the study gives to the other methods.
  if (spec.model().has_outputs() && !override.model().has_outputs()) override.clear_model();
  Lay(std::move(override), &spec);
  spec.set_name(name);
  spec.clear_base();
  return method;
}

absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override, ModelFiles model_files) {
  OPENSET_ASSIGN_OR_RETURN(const MethodFiles files, FindMethodFiles(name, folders, beside));
  return ReadMethod(files, folders, override, model_files);
}

absl::Status ResolveMethodFiles(const std::string& path, absl::string_view prefix, const TextSource& source,
                                MethodSpec* method) {
  std::vector<std::string> lines;
  const auto resolve = [&](const std::string& before, ModelSpec* model) {
    for (const FieldProblem& problem : ResolveModelFiles(FolderOf(path), model)) {
      lines.push_back(absl::StrCat(source.Where(absl::StrCat(before, problem.path)), ": ", problem.message));
    }
  };
  if (method->has_model()) resolve(std::string(prefix), method->mutable_model());
  if (method->training().has_command()) {
    for (const FieldProblem& problem : ResolveCommand(FolderOf(path), method->mutable_training()->mutable_command())) {
      lines.push_back(absl::StrCat(source.Where(absl::StrCat(prefix, problem.path)), ": ", problem.message));
    }
  }
  for (int i = 0; i < method->where_present_size(); ++i) {
    WherePresentSpec* present = method->mutable_where_present(i);
    if (present->has_model()) resolve(absl::StrCat(prefix, "where_present[", i, "]."), present->mutable_model());
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::string PlaceInLayer(const LoadedMethod& method, const std::string& path, const MethodSpec& layer) {
  const auto place_in = [&](const MethodSpec& spec) -> std::string {
    const absl::StatusOr<std::string> place = SamePlace(method.spec, path, spec);
    return !place.ok() || GetField(spec, *place).value_or("").empty() ? "" : *place;
  };
  for (int i = layer.where_present_size() - 1; i >= 0; --i) {
    const std::string place = place_in(PartsOf(layer.where_present(i)));
    if (!place.empty()) return absl::StrCat("where_present[", i, "].", place);
  }
  return place_in(layer);
}

std::string WhereInLayers(const LoadedMethod& method, const std::string& path) {
  // Fields that no layer sets are reported in the method's own file.
  const MethodLayer* own = &method.layers[method.own];
  for (auto layer = method.layers.rbegin(); layer != method.layers.rend(); ++layer) {
    const std::string place = PlaceInLayer(method, path, layer->spec);
    if (!place.empty()) return layer->source.Where(place);
  }
  return own->source.Where(SamePlace(method.spec, path, own->spec).value_or(path));
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The member of its oneof `kind` that is set; "" without one.
std::string KindOf(const Message& part) {
  const FieldDescriptor* set =
      part.GetReflection()->GetOneofFieldDescriptor(part, part.GetDescriptor()->FindOneofByName("kind"));
  return set == nullptr ? "" : set->name();
}

struct Part {
  const char* path;
  std::string kind;
};

// The fields that define a method.
std::vector<Part> AllParts(const MethodSpec& spec) {
  return {{"model.head", KindOf(spec.model().head())},
          {"open_set", KindOf(spec.open_set())},
          {"inference", KindOf(spec.inference())},
          {"score", KindOf(spec.score())}};
}

}  // namespace

std::vector<std::string> PresetWarnings(const LoadedMethod& method) {
  std::vector<Part> own = AllParts({});
  std::vector<std::string> lines;
  for (size_t layer = 0; layer < method.layers.size(); ++layer) {
    const MethodLayer& laid = method.layers[layer];
    const std::vector<Part> parts = AllParts(laid.spec);
    const bool is_preset = static_cast<int>(layer) > method.own;
    const bool is_own_form = absl::StrContains(std::filesystem::path(laid.source.file()).stem().string(), '+');
    for (size_t p = 0; p < parts.size(); ++p) {
      if (parts[p].kind.empty()) continue;
      if (!is_preset) own[p].kind = parts[p].kind;
      if (!is_preset || is_own_form || own[p].kind.empty() || own[p].kind == parts[p].kind) continue;
      lines.push_back(absl::StrCat("warning: ", method.spec.name(), ": the preset replaces the method's ",
                                   parts[p].path, " ", own[p].kind, " by ", parts[p].kind, " (",
                                   laid.source.Where(parts[p].path), ")"));
    }
  }
  return lines;
}

}  // namespace openset
