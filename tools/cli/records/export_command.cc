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
#include "experiments/report/report.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "models/model.pb.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/task/task_samples.h"

namespace openset {
namespace {

absl::Status CopyNew(const std::string& from, const std::string& to) {
  std::error_code error;
  if (std::filesystem::copy_file(from, to, std::filesystem::copy_options::none, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot copy ", from, " to ", to, ": ", error ? error.message() : "it already exists"));
}

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
    const std::string to = JoinPath(folder, name);
    OPENSET_RETURN_IF_ERROR(CopyNew(JoinPath(store.OutputsFolder(key), kOutputsFile), to));
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

// Copies a trial's trained network, as weights and a method file that names them.
absl::Status ExportNetwork(const std::string& trial, const std::string& folder, const RunConfig& config) {
  constexpr char kWeights[] = "network.safetensors", kMethod[] = "network.textproto";
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
  OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(store, trial));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(id));
  const MethodSpec& method = record.trial().method();
  MethodSpec exported;
  *exported.mutable_model() = method.model();
  *exported.mutable_input() = method.input();
  exported.mutable_model()->mutable_weights()->Clear();
  exported.mutable_model()->mutable_weights()->set_file(kWeights);
  if (!method.has_training() || UsesArraysOnly(method.model()) || method.model().has_torch_script()) {
    return absl::InvalidArgumentError(absl::StrCat("trial ", id.substr(0, 12), " has no network that openset trained"));
  }
  const std::string& key = record.checkpoint_key();
  OPENSET_ASSIGN_OR_RETURN(const bool is_there, store.HasCheckpoint(key));
  if (!is_there) {
    return absl::NotFoundError(absl::StrCat("the store has no checkpoint of trial ", id.substr(0, 12),
                                            "; 'openset reproduce ", store.folder(), " ", id.substr(0, 12),
                                            "' trains it again, in the store openset-again"));
  }
  OPENSET_RETURN_IF_ERROR(store.CheckCheckpoint(key));
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  OPENSET_RETURN_IF_ERROR(CopyNew(JoinPath(store.CheckpointFolder(key), kCheckpointFile), JoinPath(folder, kWeights)));
  const std::string path = JoinPath(folder, kMethod);
  OPENSET_RETURN_IF_ERROR(
      WriteFileAtomically(path, absl::StrCat("# The network of trial ", id,
                                             ", for 'openset score --model'.\n# proto-file: "
                                             "experiments/spec/method.proto\n# proto-message: openset.MethodSpec\n\n",
                                             ToText(exported))));
  std::cout << JoinPath(folder, kWeights) << "\n" << path << "\n";
  return absl::OkStatus();
}

// The ids of one trial, or of the trials whose records match a query.
absl::StatusOr<std::vector<std::string>> TrialsOf(const std::string& argument, const Store& store) {
  if (!IsQuery(argument)) {
    OPENSET_ASSIGN_OR_RETURN(const std::string id, FindTrial(store, argument));
    return std::vector<std::string>{id};
  }
  OPENSET_ASSIGN_OR_RETURN(RecordQuery query, RecordQuery::Parse(argument));
  UnreadRecords unread;
  const std::vector<RecordFields> all = LoadFields(store, &unread);
  OPENSET_RETURN_IF_ERROR(unread.Problems());
  OPENSET_RETURN_IF_ERROR(query.Resolve(all));
  std::vector<std::string> ids = query.TrialsOf(all);
  if (ids.empty()) return absl::NotFoundError(absl::StrCat("no record of ", store.folder(), " matches ", argument));
  return ids;
}

// Prints the mistakes that records keep, with the file or the place of each sample; of a query, with the trial of each.
absl::Status ExportMistakes(const std::string& argument, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseTableFormat(config));
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> ids, TrialsOf(argument, store));
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  std::string why_unnamed;
  Table table;
  int64_t all = 0;
  for (const std::string& id : ids) {
    OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(id));
    std::string why;
    Table of_record = MistakeTable(record, catalog, config.data_folders, &why);
    if (why_unnamed.empty()) why_unnamed = why;
    const TrialSpec& trial = record.trial();
    const auto with = [&](std::vector<std::string> more, std::vector<std::string> cells) {
      if (IsQuery(argument)) cells.insert(cells.begin(), more.begin(), more.end());
      return cells;
    };
    table.header = with({"trial", "method", "task", "split", "seed"}, of_record.header);
    table.left_columns = of_record.left_columns + (IsQuery(argument) ? 3 : 0);
    for (std::vector<std::string>& cells : of_record.rows) {
      table.rows.push_back(
          with({id, RowName(trial), trial.task(), absl::StrCat(trial.split()), absl::StrCat(trial.seed())},
               std::move(cells)));
    }
    const std::array<int64_t, 3> number = NumMistakes(record);
    all += std::accumulate(number.begin(), number.end(), int64_t{0});
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatTable(table, format), config));
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
  if (what == "network" && arguments.size() == 3) return ExportNetwork(arguments[1], UserPath(arguments[2]), config);
  if (what == "mistakes" && arguments.size() == 2) return ExportMistakes(arguments[1], config);
  if (what != "outputs" && what != "mistakes" && what != "network") {
    return absl::InvalidArgumentError(UnknownName("thing to export", what, {"outputs", "network", "mistakes"}));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("usage: openset export ", what,
                   what != "mistakes" ? " TRIAL FOLDER" : " TRIAL|QUERY [--format=csv] [--out=FILE]"));
}

}  // namespace

Command ExportCommand() {
  Command command;
  command.name = "export";
  command.arguments = "outputs TRIAL FOLDER | network TRIAL FOLDER | mistakes TRIAL | mistakes QUERY";
  command.min_arguments = 2;
  command.max_arguments = 3;
  command.summary = "Copies a trial's outputs or its trained network to your own folder, or lists its mistakes.";
  command.description =
      "outputs   copies them to FOLDER. outputs.npz has logits, features, label (-1: unknown), class_id and group of\n"
      "          each test sample, as `openset eval` and NumPy read them. samples.csv says for each of its rows which\n"
      "          sample it is: class, group, and the path of its file or its place in the data set; if the data is on\n"
      "          this machine. fit_outputs.npz has the outputs for the samples to which a score was fitted.\n"
      "          record.textproto is the record\n"
      "network   copies the trained network to FOLDER: network.safetensors, and network.textproto, which\n"
      "          'openset score --model' runs on other images (docs/decisions.md: from a study to a detector)\n"
      "mistakes  prints the mistakes at the threshold that accepts 95 % of the known test samples, or at the method's\n"
      "          own: known samples that are rejected, unknown ones that are accepted, and those accepted as a wrong\n"
      "          class; the worst 24 of each, with the path or place of each sample. Of all trials that match QUERY\n"
      "          (as in 'openset records ls'), it is one table, with trial, method, task, split and seed in each row\n"
      "\n"
      "TRIAL is the first digits of an id ('openset records ls'). To export records, use 'openset records export'.\n"
      "\n"
      "  openset export outputs 3f2a91c0 ~/outputs\n"
      "  openset export network 3f2a91c0 ~/deploy\n"
      "  openset export mistakes 3f2a91c0 --format=csv --out=mistakes.csv\n"
      "  openset export mistakes experiment=quickstart --format=csv --out=mistakes.csv\n";
  command.flags = {"store", "deploy", "format", "out", "data", "library"};
  command.run = RunExport;
  return command;
}

}  // namespace openset
