// A method's name -> the method, put together from its files.
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

// A file that says a part of a method.
struct MethodLayer {
  MethodSpec spec;  // as written
  TextSource source;
};

// A method over those it is based on, its presets laid over it, and the experiment's override over these.
struct LoadedMethod {
  MethodSpec spec;  // defaults are not filled in; without `base`
  // As they were laid over each other: the lowest base first, then the method's own file, then the presets.
  std::vector<MethodLayer> layers;
  int own = 0;  // the place of the method's own file among them
};

// The files of a method: `name` is that of a method with those of presets behind a '+' each; a name is looked up in
// `folders`, or is a path relative to the folder `beside` if it ends in ".textproto". A preset METHOD+PRESET takes the
// place of PRESET for that method.
struct MethodFiles {
  std::string method;
  std::vector<std::string> presets;
};

// Errors: kNotFound, kInvalidArgument for names that are not there.
absl::StatusOr<MethodFiles> FindMethodFiles(const std::string& name, const SpecFolders& folders,
                                            const std::string& beside);

// Whether the files that models name are looked for; as they are written they are not, and their names stay.
enum class ModelFiles { kFind, kAsWritten };

// The method of these files. A method with a `base` is laid over that one, and a preset with a base over that preset,
// whose own name, title, reference and note do not come along. Files that a model names are relative to the file that
// names them. `override`, whose own files are found already, is laid over all; its `pretraining` only if the method
// has one. Each layer's `where_present` goes over what there is by then. Errors, kInvalidArgument and kNotFound with
// "FILE:LINE: path: ": fields that are not valid, a base or a model's file that is not there, a method that is based on
// itself.
absl::StatusOr<LoadedMethod> ReadMethod(const MethodFiles& files, const SpecFolders& folders, MethodSpec override = {},
                                        ModelFiles model_files = ModelFiles::kFind);

// Both.
absl::StatusOr<LoadedMethod> LoadMethod(const std::string& name, const SpecFolders& folders, const std::string& beside,
                                        const MethodSpec& override = {}, ModelFiles model_files = ModelFiles::kFind);

// The names of the methods in `folders`, sorted.
std::vector<std::string> MethodNames(const SpecFolders& folders);

// A method as the command line names it, presets behind it, by the name that it has in `folders`
// (core/text/synonyms.h): "MSP+vaze600" is "mcp+vaze600". As it is where nothing is meant, or where it is a path. Files
// are not read so: a name in them is part of what a result is found by.
std::string MeantMethod(const std::string& name, const SpecFolders& folders);

// Finds the files that the model of a method named in `path`, below the field `prefix` ("override." or nothing).
// Errors: kInvalidArgument, a line each.
absl::Status ResolveMethodFiles(const std::string& path, absl::string_view prefix, const TextSource& source,
                                MethodSpec* method);

// Where `layer` sets the method's field `path`: the same path, but for the places of loss terms, which are found by
// their kind. "" if it does not set it.
std::string PlaceInLayer(const LoadedMethod& method, const std::string& path, const MethodSpec& layer);

// "FILE:LINE: path" of a field of a method: in the topmost layer that sets it, else in the method's own file.
std::string WhereInLayers(const LoadedMethod& method, const std::string& path);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_METHOD_H_
