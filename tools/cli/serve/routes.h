// The addresses of `openset serve`. A study goes by a digest of its name, a record by its id: no text of the store, and
// no name of a file, is part of one.
//
//   /                          the studies of the store, what runs, the disk
//   /study/ID                  its tables, plots, mistakes and progress
//   /study/ID/records[/PAGE]   its records, kRecordsOfPage on each page, from 1
//   /record/TRIAL              a record: its numbers, plots and mistakes
//   /failures                  what failed
//   /live.json                 what runs now
#ifndef OPENSET_TOOLS_CLI_SERVE_ROUTES_H_
#define OPENSET_TOOLS_CLI_SERVE_ROUTES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace openset {

struct Route {
  enum Kind { kNone, kOverview, kStudy, kRecords, kRecord, kFailures, kLive, kIcon };
  Kind kind = kNone;
  std::string id = "";  // of the study or the record
  int page = 1;
};

inline constexpr int kRecordsOfPage = 500;

// The route of a request's target, whose query is not looked at; kNone for whatever is not one of the above, letter by
// letter.
Route RouteOf(absl::string_view target);

// The first 16 digits of the SHA-256 of a study's name.
std::string StudyId(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_ROUTES_H_
