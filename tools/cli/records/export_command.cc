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
#include "core/text/table.h"
#include "data/catalog.h"
#include "experiments/report/examples.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/task/task_samples.h"

namespace openset {
namespace {

// Copies a trial's outputs, whose checksum the record has.
absl::Status ExportOutputs(const std::string& trial, const std::string& folder, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
  OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(store, trial));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(id));
  std::vector<std::pair<std::string, std::string>> files = {{record.outputs_key(), kOutputsFile}};
  if (record.has_fit_outputs_key()) files.emplace_back(record.fit_outputs_key(), "fit_outputs.npz");
  for (const auto& [key, name] : files) {
    OPENSET_ASSIGN_OR_RETURN(const bool is_there, store.HasOutputs(key));
    if (!is_there && store.bundle() != nullptr) {
      return absl::NotFoundError(absl::StrCat(store.folder(), " has the record of trial ", id.substr(0, 12),
                                              ", but not its outputs; 'openset reproduce ", store.folder(), " ",
                                              id.substr(0, 12), "' makes them, in the store openset-again"));
    }
    if (!is_there) {
      return absl::NotFoundError(absl::StrCat(store.OutputsFolder(key), " no longer exists; 'openset reproduce ",
                                              store.folder(), " ", id.substr(0, 12),
                                              "' makes it again in the store openset-again: export it from there"));
    }
  }
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [key, name] : files) {
    OPENSET_RETURN_IF_ERROR(store.CheckOutputs(key));
    const std::string from = JoinPath(store.OutputsFolder(key), kOutputsFile), to = JoinPath(folder, name);
    std::error_code error;
    if (!std::filesystem::copy_file(from, to, std::filesystem::copy_options::none, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot copy ", from, " to ", to, ": ", error ? error.message() : "it already exists"));
    }
    std::cout << to << "\n";
  }
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  if (const absl::StatusOr<Table> samples = SampleTable(record.trial().data(), catalog, config.data_folders);
      samples.ok()) {
    const std::string list = JoinPath(folder, "samples.csv");
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(list, ToCsv(*samples)));
    std::cout << list << "\n";
  } else {
    std::cerr << "hint: without samples.csv, which says the file or the place of each row: "
              << samples.status().message() << "\n";
  }
  const std::string text = JoinPath(folder, "record.textproto");
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(text, ToText(record)));
  std::cout << text << "\n";
  return absl::OkStatus();
}

// Prints the mistakes that a record keeps, with the file or the place of each sample.
absl::Status ExportMistakes(const std::string& trial, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseTableFormat(config));
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
  OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(store, trial));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(id));
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  std::string why_unnamed;
  const Table table = MistakeTable(record, catalog, config.data_folders, &why_unnamed);
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatTable(table, format), config));
  const std::array<int64_t, 3> number = NumMistakes(record);
  const int64_t all = std::accumulate(number.begin(), number.end(), int64_t{0});
  if (all > static_cast<int64_t>(table.rows.size())) {
    std::cerr << "hint: these are " << table.rows.size() << " of " << all
              << " mistakes: a record keeps the 24 worst of each kind\n";
  }
  if (!why_unnamed.empty()) std::cerr << "hint: the samples are not named: " << why_unnamed << "\n";
  return absl::OkStatus();
}

absl::Status RunExport(const std::vector<std::string>& arguments, const RunConfig& config) {
  const std::string& what = arguments[0];
  if (what == "outputs" && arguments.size() == 3) return ExportOutputs(arguments[1], UserPath(arguments[2]), config);
  if (what == "mistakes" && arguments.size() == 2) return ExportMistakes(arguments[1], config);
  if (what != "outputs" && what != "mistakes") {
    return absl::InvalidArgumentError(UnknownName("thing to export", what, {"outputs", "mistakes"}));
  }
  return absl::InvalidArgumentError(absl::StrCat("usage: openset export ", what, " TRIAL",
                                                 what == "outputs" ? " FOLDER" : " [--format=csv] [--out=FILE]"));
}

}  // namespace

Command ExportCommand() {
  Command command;
  command.name = "export";
  command.arguments = "outputs TRIAL FOLDER | mistakes TRIAL";
  command.min_arguments = 2;
  command.max_arguments = 3;
  command.summary = "Copies the outputs that a trial was measured on to your own folder, or lists its mistakes.";
  command.description =
      "outputs   copies them to FOLDER. outputs.npz has logits, features, label (-1: unknown), class_id and group of\n"
      "          each test sample, as `openset eval` and NumPy read them. samples.csv says for each of its rows which\n"
      "          sample it is: class, group, and the path of its file or its place in the data set; if the data is on\n"
      "          this machine. fit_outputs.npz has the outputs for the samples to which a score was fitted.\n"
      "          record.textproto is the record\n"
      "mistakes  prints the mistakes at the threshold that accepts 95 % of the known test samples, or at the method's\n"
      "          own: known samples that are rejected, unknown ones that are accepted, and those accepted as a wrong\n"
      "          class; the worst 24 of each, with the path or place of each sample\n"
      "\n"
      "TRIAL is the first digits of an id ('openset records ls'). To export records, use 'openset records export'.\n"
      "\n"
      "  openset export outputs 3f2a91c0 ~/outputs\n"
      "  openset export mistakes 3f2a91c0 --format=csv --out=mistakes.csv\n";
  command.flags = {"store", "deploy", "format", "out", "data", "library"};
  command.run = RunExport;
  return command;
}

}  // namespace openset
