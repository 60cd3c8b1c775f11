#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/shell_word.h"
#include "core/text/wrapped_text.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/spec/resolve/resolve_method.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/collect_garbage.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/verify_store.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/actions.h"

namespace openset {
namespace {

// Ok if the user says yes. Without a terminal nobody can: kInvalidArgument with the command that needs no answer.
absl::Status AskToRemove(const std::string& count, const Store& store, const std::string& query) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "this removes ", count, " of ", store.folder(), ", for good, and nobody can be asked here: openset records rm ",
        ShellWord(query), " --store=", ShellWord(store.folder()), " --yes (--dry_run instead lists them)"));
  }
  std::cout.flush();
  std::cerr << "Remove " << count << " of " << OneLine(store.folder()) << ", for good? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  if (answer == "y" || answer == "yes") return absl::OkStatus();
  return absl::FailedPreconditionError("nothing was removed");
}

// Names methods whose titles differ between records, or from the library: ids don't cover labels.
void HintAtTitles(const StoreReport& report, const RunConfig& config) {
  const absl::StatusOr<SpecFolders> folders = FindSpecFolders(config);
  const auto quoted = [](std::string* out, const std::string& title) {
    absl::StrAppend(out, "'", OneLine(title), "'");
  };
  for (const auto& [name, titles] : report.titles) {
    std::string other;
    if (titles.size() == 1 && folders.ok()) {
      const absl::StatusOr<LoadedMethod> method = LoadMethod(name, *folders, "", {}, ModelFiles::kAsWritten);
      if (!method.ok() || method->spec.title() == *titles.begin()) continue;
      other = absl::StrCat("; it is '", OneLine(method->spec.title()), "' in the library");
    }
    if (titles.size() > 1 || !other.empty()) {
      std::cerr << "hint: method " << OneLine(name) << ": its title in the records is "
                << absl::StrJoin(titles, " or ", quoted) << other << "\n";
    }
  }
}

}  // namespace

absl::Status VerifyRecords(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kRead));
  OPENSET_ASSIGN_OR_RETURN(const StoreReport report, VerifyStore(store));
  const bool dry_run = config.dry_run || store.bundle() != nullptr;
  size_t damaged = 0;
  for (const StoreProblem& problem : report.damaged) {
    std::string moved;
    if (!dry_run) {
      const absl::StatusOr<std::string> folder = store.Quarantine(problem.path, problem.what);
      if (absl::IsNotFound(folder.status())) continue;  // another process has removed it
      OPENSET_RETURN_IF_ERROR(folder.status());
      moved = absl::StrCat("; moved to ", *folder);
    }
    ++damaged;
    std::cout << OneLine(problem.what) << moved << "\n";
  }
  for (const std::string& line : report.unreadable) std::cout << OneLine(line) << "; it stays where it is\n";
  for (const std::string& path : report.strangers) std::cout << OneLine(path) << ": is not a file of openset\n";
  for (const std::string& line : report.incomplete) std::cout << line << "\n";
  std::cout << report.records << " records, " << report.replicas << " replicas, " << report.checkpoints
            << " checkpoints, " << report.outputs << " outputs, " << report.attempts << " failed attempts: " << damaged
            << " corrupt"
            << (report.unreadable.empty() ? "" : absl::StrCat(", ", report.unreadable.size(), " can't be read now"))
            << "\n"
            << Wrapped(
                   "Ids were computed again. They cover what was computed, not labels: names and titles of methods "
                   "and tasks, numbers of splits, names of swept fields and tags, the numbers and their origin "
                   "(docs/records.md).")
            << "\n";
  HintAtTitles(report, config);
  if (!report.unreadable.empty()) {
    return absl::AbortedError(absl::StrCat(store.folder(), ": ", damaged, " corrupt", dry_run ? "" : " and quarantined",
                                           ", ", report.unreadable.size(),
                                           " can't be read now and may be intact: make them readable (permissions, "
                                           "ulimit -n, the disk), then verify again"));
  }
  if (store.bundle() != nullptr) {
    std::cout << "sha256 of the content (not of the file) " << store.bundle()->digest << "\n";
  }
  if (damaged == 0 && report.strangers.empty() && report.incomplete.empty()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(store.folder(), ": ", damaged, " corrupt", dry_run ? "" : " and quarantined", ", ",
                   report.strangers.size(), " unknown files, ", report.incomplete.size(),
                   " records of other outputs; 'openset run SPEC' recreates the results that a study needs"));
}

absl::Status CollectRecords(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kChange));
  GarbagePolicy policy;
  constexpr absl::Duration kDay = absl::Hours(24);
  const double days = config.older_than, of_checkpoints = config.checkpoints_older_than;
  if (!(days >= 0)) return absl::InvalidArgumentError("--older_than: give a number of days, 0 or more");
  policy.older_than = days * kDay;
  OPENSET_ASSIGN_OR_RETURN(policy.programs_in_use, ProgramsInUse(store));
  if (of_checkpoints >= 0) policy.checkpoints_older_than = of_checkpoints * kDay;
  if (!config.max_size.empty()) {
    const absl::StatusOr<int64_t> bytes = ParseBytes(config.max_size);
    if (!bytes.ok()) return Annotate(bytes.status(), "--max_size");
    policy.most_bytes = *bytes;
  }
  OPENSET_ASSIGN_OR_RETURN(const GarbageFound found, FindGarbage(store, policy));
  OPENSET_ASSIGN_OR_RETURN(int64_t left, BytesOfStore(store));
  int64_t bytes = 0;
  for (const Garbage& one : found.garbage) {
    bytes += one.bytes;
    std::cout << OneLine(one.path) << ": " << one.reason << ", " << BytesText(one.bytes) << "\n";
  }
  if (!found.clock.ok()) {
    std::cout << "the ages are by this machine's clock, because the clock of the store's disk can't be read: "
              << OneLine(found.clock.message()) << "\n";
  }
  // Where no file can be made, none can be removed.
  if (!config.dry_run) OPENSET_RETURN_IF_ERROR(Annotate(found.clock, "nothing was removed"));
  if (!config.dry_run) OPENSET_RETURN_IF_ERROR(RemoveGarbage(store, found));
  std::cout << (config.dry_run ? "would remove " : "removed ") << found.garbage.size() << ", " << BytesText(bytes)
            << "; files younger than an hour stay, because a run may be writing them\n";
  left -= bytes;
  if (!policy.most_bytes.has_value() || left <= *policy.most_bytes) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the store ", config.dry_run ? "would still have " : "still has ",
                                         BytesText(left), ", more than --max_size=", config.max_size,
                                         ": the rest is records, reports and files younger than an hour"));
}

absl::Status RemoveRecords(const std::string& text, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(RecordQuery query, RecordQuery::Parse(text));
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kChange));
  UnreadRecords unread;
  const std::vector<RecordFields> all = LoadFields(store, &unread);
  OPENSET_RETURN_IF_ERROR(unread.ReadFailure());  // they may match
  for (const std::string& line : unread.VersionLines()) std::cerr << line << "\n";
  for (const std::string& line : unread.damaged) std::cerr << "not looked at: " << line << "\n";
  OPENSET_RETURN_IF_ERROR(query.Resolve(all));
  const std::vector<std::string> ids = query.TrialsOf(all);
  if (ids.empty()) return absl::NotFoundError(absl::StrCat("no record of ", store.folder(), " matches"));
  const std::string count = absl::StrCat(ids.size(), " of ", all.size(), all.size() == 1 ? " record" : " records");
  if (!config.dry_run && !config.yes) OPENSET_RETURN_IF_ERROR(AskToRemove(count, store, text));
  for (const std::string& id : ids) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> replicas, ReplicaPaths(store, id));
    if (!config.dry_run) {
      OPENSET_RETURN_IF_ERROR(store.Remove(store.RecordPath(id)));
      for (const std::string& path : replicas) OPENSET_RETURN_IF_ERROR(store.Remove(path));
    }
    std::cout << id << "\n";
  }
  std::cout << (config.dry_run ? "would remove " : "removed ") << count
            << "; 'openset records gc' removes their checkpoints and outputs if no other record needs them\n";
  return absl::OkStatus();
}

}  // namespace openset
