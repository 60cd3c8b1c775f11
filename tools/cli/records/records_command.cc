#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/board.h"

namespace openset {
namespace {

absl::Status RunRecords(const std::vector<std::string>& arguments, RunConfig config) {
  const std::string& action = arguments[0];
  const std::vector<std::string> known = {"ls",    "show",    "diff",  "spec", "verify", "export",
                                          "merge", "upgrade", "board", "rm",   "gc"};
  if (!absl::c_linear_search(known, action)) {
    return absl::InvalidArgumentError(UnknownName("action of 'openset records'", action, known));
  }
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (action == "merge") return MergeRecords(rest, config);
  if (action == "board") {
    if (!rest.empty()) return WriteBoard(rest[0], {rest.begin() + 1, rest.end()}, config);
    return absl::InvalidArgumentError("usage: openset records board OUT [STORE|BUNDLE ...]");
  }
  if (action == "upgrade") {
    if (rest.size() == 2) return UpgradeRecords(rest[0], rest[1]);
    return absl::InvalidArgumentError("usage: openset records upgrade OLD NEW (stores, or bundles)");
  }
  bool is_bundle = false;
  if (!rest.empty() &&
      (action == "ls" || action == "show" || action == "diff" || action == "spec" || action == "verify")) {
    OPENSET_ASSIGN_OR_RETURN(is_bundle, UseBundle(rest[0], &config));
    if (is_bundle) rest.erase(rest.begin());
  }
  if (action == "diff") {
    if (rest.size() == 1 || rest.size() == 2) return DiffRecords(rest, config);
    return absl::InvalidArgumentError(
        "usage: openset records diff [BUNDLE] TRIAL [TRIAL|STORE|BUNDLE] ('openset records --help' shows details)");
  }
  const size_t most = action == "verify" || action == "gc" ? 0 : 1,
               least = action == "rm" || ((action == "show" || action == "spec") && !is_bundle) ? 1 : 0;
  if (action == "verify" && rest.size() == 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        rest[0], " is no bundle (BUNDLE.zip, or a published folder that contains one); a store is named by --store"));
  }
  if (rest.size() > most || rest.size() < least) {
    return absl::InvalidArgumentError(absl::StrCat("usage: openset records ", action,
                                                   action == "rm"       ? " QUERY"
                                                   : least == 1         ? " TRIAL"
                                                   : action == "export" ? " [SPEC|QUERY]"
                                                   : most == 1          ? " [QUERY]"
                                                                        : "",
                                                   " ('openset records --help' shows details)"));
  }
  const std::string argument = rest.empty() ? "" : rest[0];
  // A blank query is refused, and none means all records.
  const std::optional<std::string> query = rest.empty() ? std::nullopt : std::optional<std::string>(rest[0]);
  if (action == "ls") return ListRecords(query, config);
  if (action == "show") return ShowRecord(argument, config);
  if (action == "spec") return PrintSpec(argument, config);
  if (action == "export") return ExportRecords(query, config);
  if (action == "verify") return VerifyRecords(config);
  if (action == "rm") return RemoveRecords(argument, config);
  return CollectRecords(config);
}

}  // namespace

absl::StatusOr<Store> ExistingStore(const RunConfig& config, StoreUse use) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, use));
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  return store;
}

Command RecordsCommand() {
  Command command;
  command.name = "records";
  command.arguments =
      "ls [BUNDLE] [QUERY] | show [BUNDLE] TRIAL | diff [BUNDLE] TRIAL [TRIAL|STORE|BUNDLE] | spec [BUNDLE] TRIAL | "
      "verify [BUNDLE] | "
      "export [SPEC|QUERY] | merge STORE_OR_BUNDLE... | upgrade OLD NEW | board OUT [STORE_OR_BUNDLE...] | rm QUERY | "
      "gc";
  command.min_arguments = 1;
  command.max_arguments = 1000;
  command.summary = "Lists, shows, checks, exports, merges, publishes and cleans up the records of a store.";
  command.description =
      "ls       lists records. QUERY compares fields (method, task, split, seed, swept fields, metrics, experiment,\n"
      "         tag, changed: the flags that changed the study, host ...) with =, !=, <, <=, >, >=, ~ (contains),\n"
      "         joined by `and`, which binds first, and `or`, without parentheses. Candidates of searches are left\n"
      "         out and counted; measured_on=validation lists them\n"
      "show     prints the record of a trial, by the first digits of its id, as text or --format=json; --brief: what,\n"
      "         numbers, where and when in twenty lines\n"
      "diff     prints in what two records differ: settings, data, program and machine, metrics. With one trial, its\n"
      "         several records in the store; with a trial and a STORE or BUNDLE, its record here and its record "
      "there\n"
      "spec     prints a study that makes the trial again, with the same id: its settings, applied to a method and\n"
      "         the task in the libraries. It needs no data, because the records say what it was\n"
      "verify   reads every byte of the store and moves corrupt files to quarantine/, with the reason\n"
      "         ls, show, diff, spec and verify also take a bundle (BUNDLE.zip, or a published folder that contains "
      "it),\n"
      "         which is read like a store and never changed; --store=BUNDLE.zip is the same for every command that\n"
      "         only reads\n"
      "export   writes the records of a study's trials (SPEC), whichever run made them, or those that match QUERY,\n"
      "         with the specs, tasks and catalog entries that they name, to the archive --bundle, and prints the\n"
      "         digest that identifies it; --with=outputs,checkpoints adds outputs and checkpoints, --without=details\n"
      "         makes it several times smaller. openset 0.3 can't read the archive\n"
      "merge    adds the records of stores and bundles to --store, and nothing if one of them can't be read. If two\n"
      "         records of a trial have different numbers, both are kept and reported\n"
      "upgrade  makes a new store, or bundle, of one that openset 0.3, or an early build of 0.4, wrote: keys have\n"
      "         changed, numbers have not. The old one stays. Logs, failed attempts and unfinished trainings are\n"
      "         left behind\n"
      "board    writes a static page with the records of stores and bundles (--store without any), OUT/index.html:\n"
      "         methods by tasks with intervals, who ran what on which processor or GPU, digests, and which numbers\n"
      "         were measured again, by others, or never. It needs no server, network or script\n"
      "rm       removes the records that match QUERY, for good (--dry_run only lists them). It asks on a terminal;\n"
      "         elsewhere it needs --yes\n"
      "gc       removes temporary files of processes that no longer exist, saved states of complete trainings,\n"
      "         programs copied for Slurm that no unfinished array runs and, if older than --older_than\n"
      "         days, logs, the quarantine, and checkpoints and outputs that belong to no record; with\n"
      "         --checkpoints_older_than also checkpoints whose outputs are in the store; with --max_size the oldest\n"
      "         and least needed checkpoints and outputs, until the store is small enough. Records stay.\n"
      "\n"
      "  openset records ls 'method=openauc and openauc>0.9' --sort=-openauc\n"
      "  openset records export my_study.textproto --bundle=my_study.zip\n"
      "  openset records export 'task~cifar' --bundle=cifar.zip --with=outputs\n"
      "  openset records merge cifar.zip ../other-lab/openset-store --store=all\n"
      "  openset records board site cifar.zip ../other-lab/openset-store\n"
      "  openset records ls cifar.zip 'split=0'\n"
      "  openset records upgrade openset-store openset-store-3\n"
      "  openset records diff 3f2a91c0 81bb02d7\n"
      "  openset records diff 3f2a91c0 openset-again\n"
      "  openset records spec 3f2a91c0 > again.textproto\n"
      "  openset records rm 'experiment=first_try' --dry_run\n"
      "  openset records gc --max_size=200GB --dry_run\n";
  command.flags = {"store",    "deploy",  "format",  "sort",       "brief",
                   "bundle",   "with",    "dry_run", "older_than", "checkpoints_older_than",
                   "max_size", "private", "library", "data",       "devices",
                   "yes",      "without"};
  command.run = RunRecords;
  return command;
}

}  // namespace openset
