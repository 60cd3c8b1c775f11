// The pages of `openset serve`.
#ifndef OPENSET_TOOLS_CLI_SERVE_STORE_PAGES_H_
#define OPENSET_TOOLS_CLI_SERVE_STORE_PAGES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/chart/page.h"
#include "data/catalog.h"
#include "experiments/report/examples.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "nlohmann/json.hpp"
#include "tools/cli/serve/http_server.h"
#include "tools/cli/serve/routes.h"

namespace openset {

// ---- Parts of the pages of `openset serve`.

std::string HtmlLines(const std::string& text);  // <pre>
std::string HtmlHead(const std::string& text);   // <h2>

// The line of links at the top.
std::string NavigationHtml(const std::vector<HtmlCell>& links);

// The element in which the script shows what runs: on the store, or of the study with this id.
std::string LiveHtml(const std::string& study_id = "");

// Makes the page with the styles of reports. If the page has LiveHtml(), it gets the script, whose first data is
// `live`. Errors: kNotFound if the program's own files are missing.
absl::StatusOr<HttpAnswer> AnswerOf(ChartPage page, const nlohmann::ordered_json* live);

// ---- The current runs of a store, which the pages of `openset serve` request every two seconds.

// {"records": N, "runs": [{"id", "study", "by", "line", "fraction", "silent", "actions": [{"line", "fraction"}]}]}.
// "id" is StudyId(); "silent" is the number of seconds without a sign of life, null within the lease. `now`: seconds
// since 1970.
nlohmann::ordered_json LiveJson(int64_t records, const std::vector<RunState>& runs, double now);

// The pages of `openset serve`: a function of a route and the store's current content. Writes nothing.

// The content of the store is untrusted: all of it is escaped (EscapeXml(), JSON), and a page's policy allows only the
// program's own scripts, by their hashes.
class StorePages {
 public:
  // Finds class names and the images of mistakes in `catalog` and `data_folders`, if they are there.
  StorePages(Store store, Catalog catalog, std::vector<std::string> data_folders)
      : store_(std::move(store)), catalog_(std::move(catalog)), data_folders_(std::move(data_folders)) {}

  // Answers 404 if the store doesn't have it, and 500 if it can't be read. Thread-safe; makes one report at a time.
  HttpAnswer Answer(const Route& route, absl::Time now = absl::Now());

 private:
  absl::StatusOr<HttpAnswer> Make(const Route& route, absl::Time now);
  absl::StatusOr<HttpAnswer> Overview(absl::Time now) const;
  absl::StatusOr<HttpAnswer> StudyPage(const std::string& id, absl::Time now);
  absl::StatusOr<HttpAnswer> RecordsPage(const std::string& id, int number);
  absl::StatusOr<HttpAnswer> RecordPage(const std::string& id, absl::Time now);
  absl::StatusOr<HttpAnswer> Failures() const;

  // The study with this id: its name and the ids of its records, none if it only runs. Errors: kNotFound.
  struct Found {
    std::string name;
    std::vector<std::string> records;
    std::vector<std::string> unreadable;  // what can't be read now: it may belong to the study
  };
  absl::StatusOr<Found> Find(const std::string& id);
  // The report of these records.
  absl::StatusOr<ChartPage> PageOf(const std::string& name, std::vector<TrialRecord> records,
                                   const std::vector<std::string>& problems);
  // The mistakes of a record as a PNG file. "" if it has none, or if its images are not on this machine.
  std::string Sheet(const TrialRecord& record, ExampleContext* context);

  const Store store_;
  const Catalog catalog_;
  const std::vector<std::string> data_folders_;
  std::mutex names_mutex_;
  std::map<std::string, std::string> names_;  // of records' studies, by trial id
  std::mutex report_mutex_;                   // guards all below
  OpenParts open_parts_;
};

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_STORE_PAGES_H_
