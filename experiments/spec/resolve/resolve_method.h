// Finds the files of a method by its name and merges them.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_METHOD_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_METHOD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/proto/text_proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

// A file that contributes to a method.
struct MethodLayer {
  MethodSpec spec;  // as written
  TextSource source;
};

// A method, with the methods that it is based on below it, and its presets and the study's override above it.
struct LoadedMethod {
  MethodSpec spec;  // defaults are not filled in; without `base`
  // In the order in which they override each other: the lowest base first, then the method's own file, then the
  // presets.
  std::vector<MethodLayer> layers;
  int own = 0;  // the index of the method's own file among them
};

// The paths of a method's files.
struct MethodFiles {
  std::string method;
  std::vector<std::string> presets;
};

// Finds the files of the method `name`, which is "METHOD" or "METHOD+PRESET+...". Each part is looked up in `folders`;
// if it ends in ".textproto", it is a path relative to the folder `beside`. If there is a preset file METHOD+PRESET, it
// replaces PRESET for that method. Errors: kNotFound or kInvalidArgument for names that don't exist.
absl::StatusOr<MethodFiles> FindMethodFiles(const std::string& name, const SpecFolders& folders,
                                            const std::string& beside);

// Whether the files that models name are resolved. kAsWritten keeps their names.
enum class ModelFiles { kFind, kAsWritten };

// Merges these files. A method overrides its `base`, and a preset its base, whose name, title, reference and note are
// not inherited. Files that a model names are relative to the file that names them. `override`, whose own files are
// resolved already, overrides everything; its `pretraining` only if the method has one, and its network only if the
// method's outputs don't come from elsewhere (model.outputs). Each layer's `where_present` overrides only fields that
// are present at that point. Errors: kInvalidArgument and kNotFound with "FILE:LINE: path: " for invalid fields, a
// missing base or model file, and a method that is based on itself; another read error (core/files/system_calls.h).
absl::StatusOr<LoadedMethod> ReadMethod(const MethodFiles& files, const SpecFolders& folders, MethodSpec override = {},
                                        ModelFiles model_files = ModelFiles::kFind);

// Finds and merges the files of a method.
absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override = {}, ModelFiles model_files = ModelFiles::kFind);

// Returns the names of the methods in `folders`, sorted.
std::vector<std::string> MethodNames(const SpecFolders& folders);

// Returns the name in `folders` of a method on the command line, whose parts may be synonyms (core/text/synonyms.h):
// "mcp+vaze600" for "MSP+vaze600". Returns paths and unknown names unchanged. Names in files can't be synonyms, because
// they are part of the keys of results.
std::string SuggestedMethod(const std::string& name, const SpecFolders& folders);

// Resolves the files that the model of a method names. `path` is the method's file, `prefix` its field there
// ("override." or nothing). Errors: kInvalidArgument, with a line for each problem.
absl::Status ResolveMethodFiles(const std::string& path, absl::string_view prefix, const TextSource& source,
                                MethodSpec* method);

// The path by which `layer` sets the method's field `path`. The two differ in the indices of loss terms, which are
// found by their kind. "" if the layer doesn't set it.
std::string PlaceInLayer(const LoadedMethod& method, const std::string& path, const MethodSpec& layer);

// "FILE:LINE: path" of a field of a method: in the topmost layer that sets it, otherwise in the method's own file.
std::string WhereInLayers(const LoadedMethod& method, const std::string& path);

// ---- Warnings about presets that replace parts of methods.

// Returns a line for each head, open-set source, inference or score of a method that one of its presets replaces by
// another kind, with the position in the preset. There are none for a preset's form for the method (METHOD+PRESET),
// which replaces parts on purpose.
std::vector<std::string> PresetWarnings(const LoadedMethod& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_METHOD_H_
