// Looks up a method by name and merges its files.
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

// A method merged from its bases, its own file, its presets and the study's override; later ones override earlier ones.
struct LoadedMethod {
  MethodSpec spec;  // without `base`; defaults are not filled in
  // In the order of merging: the lowest base first, then the method's own file, then the presets.
  std::vector<MethodLayer> layers;
  int own = 0;  // the index of the method's own file in `layers`
};

// The files of a method.
struct MethodFiles {
  std::string method;
  std::vector<std::string> presets;
};

// Finds the files of the method `name`, which is "METHOD" or "METHOD+PRESET+...". Each part is looked up in `folders`;
// if it ends in ".textproto", it is a path relative to the folder `beside`. If there is a preset file METHOD+PRESET, it
// replaces PRESET for that method. Errors: kNotFound or kInvalidArgument for names that don't exist.
absl::StatusOr<MethodFiles> FindMethodFiles(const std::string& name, const SpecFolders& folders,
                                            const std::string& beside);

// Whether to find the files that models name. kAsWritten leaves their names unchanged.
enum class ModelFiles { kFind, kAsWritten };

// Returns the method of these files. A method overrides its `base`, and a preset overrides its base preset, whose name,
// title, reference and note are not inherited. Files that a model names are relative to the file that names them.
// `override`, whose own files have been found already, overrides everything; its `pretraining` applies only if the
// method has one. Each layer's `where_present` applies to the result of the layers so far. Errors: kInvalidArgument and
// kNotFound, with "FILE:LINE: path: ", for invalid fields, a missing base or model file, and a method that is based on
// itself.
absl::StatusOr<LoadedMethod> ReadMethod(const MethodFiles& files, const SpecFolders& folders, MethodSpec override = {},
                                        ModelFiles model_files = ModelFiles::kFind);

// FindMethodFiles() and ReadMethod() in one call.
absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override = {}, ModelFiles model_files = ModelFiles::kFind);

// Returns the names of the methods in `folders`, sorted.
std::vector<std::string> MethodNames(const SpecFolders& folders);

// Returns the name in `folders` that a method's name on the command line, with or without presets, means
// (core/text/synonyms.h): "mcp+vaze600" for "MSP+vaze600". Paths and names without a match are returned unchanged.
// Don't use it for names in files, which are part of what identifies a result.
std::string MeantMethod(const std::string& name, const SpecFolders& folders);

// Finds the files that a method's model names in the file `path`, below the field `prefix` ("override." or ""). Errors:
// kInvalidArgument, one line per problem.
absl::Status ResolveMethodFiles(const std::string& path, absl::string_view prefix, const TextSource& source,
                                MethodSpec* method);

// Returns the path at which `layer` sets the method's field `path`. It differs only in the indices of loss terms, which
// are matched by their kind. "" if the layer does not set the field.
std::string PlaceInLayer(const LoadedMethod& method, const std::string& path, const MethodSpec& layer);

// Returns "FILE:LINE: path" of a field of a method: in the last layer that sets it, otherwise in the method's own file.
std::string WhereInLayers(const LoadedMethod& method, const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_METHOD_H_
