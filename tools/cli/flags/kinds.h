// Kinds of parts that a spec can name, and names for methods that are given as files.
#ifndef OPENSET_TOOLS_CLI_FLAGS_KINDS_H_
#define OPENSET_TOOLS_CLI_FLAGS_KINDS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/proto/schema_comments.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

// ---- Names for methods that are given as files.

// Returns a name for each argument: the file's name without folder and extension, with several files of one argument
// joined ("known+svhn" for "known.csv,svhn.csv"). If two names are equal, returns the arguments themselves.
std::vector<std::string> MethodNames(const std::vector<std::string>& arguments);

// ---- The kinds of parts that a spec can name: files of the libraries, and members of the schemas' families.

struct KindEntry {
  std::string name;
  std::string line;  // what it is, in one line or less
};

struct Kind {
  std::string name;  // "method"; the plural ends with an s
  std::string what;  // one line
  std::function<absl::StatusOr<std::vector<KindEntry>>()> list;
  // Precondition: `name` is in the list. A method may be followed by presets ("mcp+vaze600").
  std::function<absl::StatusOr<std::string>(const std::string& name)> show;
  // Returns a line for each file that `list` leaves out because of its name. May be null.
  std::function<std::vector<std::string>()> left_out = nullptr;
};

// Reads the comments of the schemas from the program's runfiles. Errors: kNotFound if the program's own files are
// missing; another read error (core/files/system_calls.h); kDataLoss also if they are corrupt.
absl::StatusOr<SchemaComments> LoadSchemaComments();

// Returns the kinds. In `folders`: methods, presets, tasks, data sets, studies and published tables. In the schemas:
// scores, metrics, loss terms, models, heads, augmentations, open-set sources, optimisers, schedules and inferences.
// `comments` must outlive the result.
std::vector<Kind> AllKinds(const SpecFolders& folders, const SchemaComments& comments);

// "methods", "losses", "data".
std::string PluralOf(const Kind& kind);

// Returns the kind with this name, plural or synonym ("datasets"), ignoring case. Errors: kInvalidArgument with all
// kinds, and with `more` names that the command takes.
absl::StatusOr<const Kind*> FindKind(const std::vector<Kind>& kinds, const std::string& name,
                                     const std::vector<std::string>& more = {});

// Returns what the kind shows for an entry. `name` may be a synonym (core/text/synonyms.h) such as "MSP" or "fpr95";
// our own names take precedence. Errors: kInvalidArgument for an unknown name, with the known ones, and for a file of
// this kind that is not valid, with "FILE:LINE: "; a read error (core/files/system_calls.h) of such a file.
absl::StatusOr<std::string> ShowEntry(const Kind& kind, const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_KINDS_H_
