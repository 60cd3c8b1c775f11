// The addresses of `openset serve`. A study is named by a digest of its name, a record by its id, so that no address
// contains text from the store or the name of a file.
//
//   /                          the studies of the store, what runs, the disk
//   /study/ID                  its tables, plots, mistakes and progress
//   /study/ID/records[/PAGE]   its records, kRecordsOfPage on each page, from 1
//   /record/TRIAL              a record: its numbers, plots and mistakes
//   /failures                  what failed
//   /live.json                 what runs now
//   /status.json               the same as `openset status --format=json`
//   /metrics                   records, disk and running actions, for Prometheus
//   /health                    "ok" if the store can be read; needs no token
#ifndef OPENSET_TOOLS_CLI_SERVE_ROUTES_H_
#define OPENSET_TOOLS_CLI_SERVE_ROUTES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace openset {

struct Route {
  enum Kind { kNone, kOverview, kStudy, kRecords, kRecord, kFailures, kLive, kStatus, kMetrics, kHealth, kIcon };
  Kind kind = kNone;
  std::string id = "";  // of the study or the record
  int page = 1;
};

inline constexpr int kRecordsOfPage = 500;

// Returns the route of a request's target, ignoring its query. kNone if it is not exactly one of the above.
Route RouteOf(absl::string_view target);

// The first 16 digits of the SHA-256 of a study's name.
std::string StudyId(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_ROUTES_H_
