#include "experiments/spec/resolve_method.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/proto/field_path.h"
#include "core/proto/overlay.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/model_files.h"

namespace openset {
namespace {

std::string FolderOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }
std::string Stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// What a method says of itself, which others that are made of it don't take over.
void ClearWords(MethodSpec* spec) {
  spec->clear_name();
  spec->clear_title();
  spec->clear_reference();
  spec->clear_note();
}

// Lays a part of a method over `spec`.
void Lay(const MethodSpec& part, MethodSpec* spec) {
  Overlay(part, spec);
  for (const ScoreSpec& settings : part.score_settings()) {
    if (settings.kind_case() == spec->score().kind_case()) Overlay(settings, spec->mutable_score());
  }
  spec->clear_score_settings();
}

// The method's file and those it is based on, the lowest first. `chain` holds the files that led here.
absl::Status AddLayers(const std::string& path, const SpecFolders& folders, std::vector<std::string> chain,
                       std::vector<MethodLayer>* layers) {
  MethodSpec spec;
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, &spec, Completeness::kPartial));
  OPENSET_RETURN_IF_ERROR(ResolveMethodFiles(path, "", source, &spec));
  chain.push_back(path);
  if (spec.has_base()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string base,
                             FindSpecFile("method", spec.base(), folders.methods, FolderOf(path)),
                             source.Where("base"));
    if (std::find(chain.begin(), chain.end(), base) != chain.end()) {
      return absl::InvalidArgumentError(absl::StrCat(source.Where("base"), ": ", spec.base(), " is based on itself: ",
                                                     absl::StrJoin(chain, " -> "), " -> ", base));
    }
    OPENSET_RETURN_IF_ERROR(AddLayers(base, folders, std::move(chain), layers));
  }
  layers->push_back({std::move(spec), std::move(source)});
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> MethodNames(const SpecFolders& folders) { return NamesIn(folders.methods); }

absl::StatusOr<MethodFiles> FindMethodFiles(const std::string& name, const SpecFolders& folders,
                                            const std::string& beside) {
  const std::vector<std::string> parts = absl::StrSplit(name, '+');
  MethodFiles files;
  OPENSET_ASSIGN_OR_RETURN(files.method, FindSpecFile("method", parts[0], folders.methods, beside));
  for (size_t p = 1; p < parts.size(); ++p) {
    OPENSET_ASSIGN_OR_RETURN(files.presets.emplace_back(), FindSpecFile("preset", parts[p], folders.presets, beside));
  }
  return files;
}

absl::StatusOr<LoadedMethod> ReadMethod(const MethodFiles& files, const SpecFolders& folders, MethodSpec override) {
  LoadedMethod method;
  OPENSET_RETURN_IF_ERROR(AddLayers(files.method, folders, {}, &method.layers));
  MethodSpec& spec = method.spec;
  for (const MethodLayer& layer : method.layers) {
    ClearWords(&spec);
    Lay(layer.spec, &spec);
  }
  std::string name = spec.has_name() ? spec.name() : Stem(files.method);
  for (const std::string& path : files.presets) {
    MethodSpec preset;
    OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, &preset, Completeness::kPartial));
    if (preset.has_base()) {
      return absl::InvalidArgumentError(absl::StrCat(source.Where("base"), ": a preset is laid over methods: no base"));
    }
    OPENSET_RETURN_IF_ERROR(ResolveMethodFiles(path, "", source, &preset));
    MethodSpec settings = preset;
    ClearWords(&settings);
    Lay(settings, &spec);
    absl::StrAppend(&name, "+", Stem(path));
    method.layers.push_back({std::move(preset), std::move(source)});
  }
  if (!spec.has_pretraining()) override.clear_pretraining();
  Lay(override, &spec);
  spec.set_name(name);
  spec.clear_base();
  return method;
}

absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override) {
  OPENSET_ASSIGN_OR_RETURN(const MethodFiles files, FindMethodFiles(name, folders, beside));
  return ReadMethod(files, folders, override);
}

absl::Status ResolveMethodFiles(const std::string& path, absl::string_view prefix, const TextSource& source,
                                MethodSpec* method) {
  if (!method->has_model()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const FieldProblem& problem : ResolveModelFiles(FolderOf(path), method->mutable_model())) {
    lines.push_back(absl::StrCat(source.Where(absl::StrCat(prefix, problem.path)), ": ", problem.message));
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::string PlaceInLayer(const LoadedMethod& method, const std::string& path, const MethodSpec& layer) {
  const absl::StatusOr<std::string> place = SamePlace(method.spec, path, layer);
  if (!place.ok()) return "";
  return GetField(layer, *place).value_or("").empty() ? "" : *place;
}

std::string WhereInLayers(const LoadedMethod& method, const std::string& path) {
  // Fields that no layer sets are missed in the method's own file: the topmost that isn't a preset.
  const MethodLayer* own = &method.layers.front();
  for (const MethodLayer& layer : method.layers) {
    if (layer.spec.has_base()) own = &layer;
  }
  for (auto layer = method.layers.rbegin(); layer != method.layers.rend(); ++layer) {
    const std::string place = PlaceInLayer(method, path, layer->spec);
    if (!place.empty()) return layer->source.Where(place);
  }
  return own->source.Where(SamePlace(method.spec, path, own->spec).value_or(path));
}

}  // namespace openset
