// What a spec can name, kind by kind: files of the library, and members of the schemas' families.
#ifndef OPENSET_TOOLS_CLI_FLAGS_KINDS_H_
#define OPENSET_TOOLS_CLI_FLAGS_KINDS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/proto/schema_comments.h"
#include "experiments/spec/spec_folders.h"

namespace openset {

struct KindEntry {
  std::string name;
  std::string line;  // what it is, in at most a line
};

struct Kind {
  std::string name;  // "method"; the plural has an s behind it
  std::string what;  // one line
  std::function<absl::StatusOr<std::vector<KindEntry>>()> list;
  // Precondition: `name` is one of the list's. Methods may have presets behind them ("mcp+vaze600").
  std::function<absl::StatusOr<std::string>(const std::string& name)> show;
  // A line for each file that `list` leaves out because of its name; may be null.
  std::function<std::vector<std::string>()> left_out = nullptr;
};

// What the schemas say, of the program's own files. Errors: those of reading them.
absl::StatusOr<SchemaComments> LoadSchemaComments();

// Methods, presets, tasks, data sets, studies and published tables of `folders`; scores, metrics, loss terms, models,
// heads, augmentations, open-set sources, optimisers, schedules and inferences of the schemas. `comments` outlives
// them.
std::vector<Kind> AllKinds(const SpecFolders& folders, const SchemaComments& comments);

// "methods", "losses", "data".
std::string PluralOf(const Kind& kind);

// The kind of this name, or of its plural, in whatever case, or as others call it ("datasets"). Errors:
// kInvalidArgument with the kinds there are.
absl::StatusOr<const Kind*> FindKind(const std::vector<Kind>& kinds, const std::string& name);

// Of an entry, all that its kind shows. Names are taken as people type them (core/text/synonyms.h): "MSP", "fpr95" lead
// to ours, which win. Errors: kInvalidArgument for an unknown name, with the known ones; those of reading its file.
absl::StatusOr<std::string> ShowEntry(const Kind& kind, const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_KINDS_H_
