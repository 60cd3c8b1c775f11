#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/records_commands.h"

namespace openset {
namespace {

absl::Status RunRecords(const std::vector<std::string>& arguments) {
  const std::string& action = arguments[0];
  const std::vector<std::string> known = {"ls", "show", "verify", "export", "merge", "gc"};
  if (std::count(known.begin(), known.end(), action) == 0) {
    return absl::InvalidArgumentError(UnknownName("action of 'openset records'", action, known));
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (action == "merge") return MergeRecords(rest);
  const size_t most = action == "verify" || action == "gc" ? 0 : 1, least = action == "show" ? 1 : 0;
  if (rest.size() > most || rest.size() < least) {
    return absl::InvalidArgumentError(absl::StrCat("usage: openset records ", action,
                                                   action == "show" ? " TRIAL"
                                                   : most == 1      ? " [QUERY]"
                                                                    : "",
                                                   " ('openset records --help' tells more)"));
  }
  const std::string argument = rest.empty() ? "" : rest[0];
  if (action == "ls") return ListRecords(argument);
  if (action == "show") return ShowRecord(argument);
  if (action == "export") return ExportRecords(argument);
  if (action == "verify") return VerifyRecords();
  return CollectRecords();
}

}  // namespace

absl::StatusOr<Store> ExistingStore() {
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags(StoreUse::kRead));
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  return store;
}

Command RecordsCommand() {
  Command command;
  command.name = "records";
  command.arguments = "ls [QUERY] | show TRIAL | verify | export [QUERY] | merge STORE_OR_BUNDLE... | gc";
  command.min_arguments = 1;
  command.max_arguments = 1000;
  command.summary = "Records of a store: lists, shows, checks, hands on, unites them, and clears up.";
  command.description =
      "ls       a line a record; QUERY compares fields (method, task, split, seed, swept fields, metrics, experiment,\n"
      "         host ...) by =, !=, <, <=, >, >=, ~ (contains), joined by `and` and `or`\n"
      "show     the record of a trial, by the first digits of its id, as text or --format=json\n"
      "verify   reads every byte of the store and puts aside what is damaged, into quarantine/, with the reason\n"
      "export   writes the records that QUERY asks for as one archive, --bundle, signed by the digest it prints\n"
      "merge    adds the records of stores and bundles to --store: the same trial with the same numbers is a replica,\n"
      "         one with other numbers is kept beside it and reported\n"
      "gc       removes temporaries of processes that are gone, states of trainings that are complete, programs that\n"
      "         were copied for Slurm and that no unfinished array there runs, and, of\n"
      "         --older_than days, logs, the quarantine, and checkpoints and outputs that no record was made of; with\n"
      "         --checkpoints_older_than also checkpoints whose outputs are there. Records stay.\n"
      "\n"
      "  openset records ls 'method=openauc and openauc>0.9' --sort=-openauc\n"
      "  openset records export 'task~cifar' --bundle=cifar.zip\n"
      "  openset records merge cifar.zip ../other-lab/openset-store --store=all\n"
      "  openset records gc --dry_run\n";
  command.flags = {"store",  "deploy", "format", "sort", "bundle", "dry_run", "older_than", "checkpoints_older_than",
                   "private"};
  command.run = RunRecords;
  return command;
}

}  // namespace openset
