#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/flags/library_flags.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/records_commands.h"

namespace openset {
namespace {

// Copies a trial's outputs, whose checksum the record has.
absl::Status ExportOutputs(const std::string& trial, const std::string& folder) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore());
  OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(store, trial));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(id));
  std::vector<std::pair<std::string, std::string>> files = {{record.outputs_key(), kOutputsFile}};
  if (record.has_fit_outputs_key()) files.emplace_back(record.fit_outputs_key(), "fit_outputs.npz");
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [key, name] : files) {
    OPENSET_ASSIGN_OR_RETURN(const bool is_there, store.HasOutputs(key));
    if (!is_there) {
      return absl::NotFoundError(absl::StrCat(store.OutputsFolder(key), " no longer exists; to make it again, remove ",
                                              "the record and run the study"));
    }
    OPENSET_RETURN_IF_ERROR(store.CheckOutputs(key));
    const std::string from = JoinPath(store.OutputsFolder(key), kOutputsFile), to = JoinPath(folder, name);
    std::error_code error;
    if (!std::filesystem::copy_file(from, to, std::filesystem::copy_options::none, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot copy ", from, " to ", to, ": ", error ? error.message() : "it already exists"));
    }
    std::cout << to << "\n";
  }
  const std::string text = JoinPath(folder, "record.textproto");
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(text, ToText(record)));
  std::cout << text << "\n";
  return absl::OkStatus();
}

absl::Status RunExport(const std::vector<std::string>& arguments) {
  if (arguments[0] != "outputs") {
    return absl::InvalidArgumentError(UnknownName("thing to export", arguments[0], {"outputs"}));
  }
  return ExportOutputs(arguments[1], UserPath(arguments[2]));
}

}  // namespace

Command ExportCommand() {
  Command command;
  command.name = "export";
  command.arguments = "outputs TRIAL FOLDER";
  command.min_arguments = command.max_arguments = 3;
  command.summary = "Copies the outputs that a trial was measured on to your own folder.";
  command.description =
      "outputs.npz has logits, features, label (-1: unknown), class_id and group of each test sample, as `openset\n"
      "eval` and NumPy read them. fit_outputs.npz has the same for the samples to which a score was fitted.\n"
      "record.textproto is the record. TRIAL is the first digits of an id ('openset records ls'). To export\n"
      "records, use 'openset records export'.\n"
      "\n"
      "  openset export outputs 3f2a91c0 ~/outputs\n";
  command.flags = {"store", "deploy"};
  command.run = RunExport;
  return command;
}

}  // namespace openset
