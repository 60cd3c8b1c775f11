// `openset records board`: the numbers of stores and bundles on a static page, who measured them on what, and which of
// them were measured again.
#ifndef OPENSET_TOOLS_CLI_RECORDS_BOARD_H_
#define OPENSET_TOOLS_CLI_RECORDS_BOARD_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "experiments/store/record.proto.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// A store or a bundle.
struct BoardSource {
  std::string name;
  std::string digest;  // of a bundle's content; "" for a store
  int records = 0;
};

struct BoardRecord {
  std::string sha256;                  // of the record's file
  TrialRecord record;                  // epochs and details are not used
  std::set<std::string> sources = {};  // names of those that have it, each with the digest of a bundle's content
};

// What a trial's records say about its numbers. Two records are independent if they have no execution of a stage in
// common: no stage with the same key, host and start. (A record that was evaluated again on another record's outputs
// shares its training and inference.) A record without hosts or times is independent of no other.
enum class Rerun {
  kOnce,  // no record is independent of the first
  // An independent one has the same numbers, as CompareAgain() judges (difference_size.h): within the spread if any
  // record of the trial has other bits.
  kAgainWithinSpread,
  kAgain,
  // One of these has no pair of user and host in common with the first.
  kByOthersWithinSpread,
  kByOthers,
  kOtherNumbers,  // any record has other numbers than the first, or there are too few runs to judge
};

// `records` of one trial, the first one represents it; `stored`: records of the same method and task, for their spread.
Rerun RerunOf(absl::Span<const TrialRecord* const> records, absl::Span<const TrialRecord> stored);

struct Board {
  std::string page;  // HTML, without scripts
  std::string csv;   // a row for each record
};

// For each metric a table of methods (rows, in alphabetical order) by tasks and groups of unknown samples: the mean
// over splits and seeds, half of its 95 % interval (SpreadOf(), experiments/report/statistics.h) or a single run's own
// interval, the number of runs, what RerunOf() says of them, and whether their outputs were imported. Then who ran how
// many stages on what, the sources with their digests, and the records with their digests and sources. A function of
// the sets of records and of sources: no time, no order. Names come from strangers and are escaped. Errors: kNotFound
// if the program's own files are missing.
absl::StatusOr<Board> MakeBoard(std::vector<BoardSource> sources, std::vector<BoardRecord> records);

// Reads these stores and bundles, or --store if there are none, and writes OUT/index.html and OUT/records.csv, in place
// of earlier ones. Corrupt records are left out and listed: kAborted, after the files were written. Other errors:
// kInvalidArgument if `out` is a bundle or a store; kNotFound without records, or for a source that doesn't exist;
// kFailedPrecondition for a source that is not a store or has another schema version; kDataLoss for a corrupt bundle; a
// read error (core/files/system_calls.h) of a source; a write error (core/files/files.h).
absl::Status WriteBoard(const std::string& out, const std::vector<std::string>& sources, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RECORDS_BOARD_H_
