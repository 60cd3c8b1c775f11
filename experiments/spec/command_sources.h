// The files of a training by another program (CommandSpec.source): found, hashed and copied.
#ifndef OPENSET_EXPERIMENTS_SPEC_COMMAND_SOURCES_H_
#define OPENSET_EXPERIMENTS_SPEC_COMMAND_SOURCES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/proto/proto_rules.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Sets command.folder to `folder`, which the sources are relative to, and a missing source_sha256: the SHA-256 of the
// lines "SHA256 PATH\n" of all files, sorted by path. A source that is a folder stands for all files below it, except
// __pycache__, *.pyc and names that begin with a dot. Problems, with the field's path below MethodSpec: a source that
// is missing, is absolute, is outside of the folder, or has a link; more than 10,000 files or 256 MB; a source_sha256
// that does not match them. Missing sources whose SHA-256 is given are not a problem, because its results may be in the
// store.
std::vector<FieldProblem> ResolveCommand(const std::string& folder, CommandSpec* command);

// The sources and their digest, for messages: "train.py, lib (SHA-256 of all, as source_sha256: 53f2...)".
std::string SourcesText(const CommandSpec& command);

// Sets command.folder to the first of these folders that has the sources with source_sha256. Errors: kNotFound if none
// has them, with their names, their digest, what the folders have instead, and what to do.
absl::Status FindSources(const std::vector<std::string>& folders, CommandSpec* command);

// Copies the sources below the folder `to`, which exists, with their paths relative to command.folder. Errors: a read
// error (core/files/system_calls.h), of which kNotFound names a missing source; kDataLoss also if the sources no longer
// have source_sha256; kInvalidArgument also for links, absolute paths, and too many files; a write error
// (core/files/files.h).
absl::Status CopySources(const CommandSpec& command, const std::string& to);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_COMMAND_SOURCES_H_
