// The pages of `openset serve`: a function of a route and what the store holds now. Nothing is written.
#ifndef OPENSET_TOOLS_CLI_SERVE_STORE_PAGES_H_
#define OPENSET_TOOLS_CLI_SERVE_STORE_PAGES_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/chart/page.h"
#include "data/catalog.h"
#include "experiments/report/examples/mistake_sheet.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "tools/cli/serve/http_message.h"
#include "tools/cli/serve/routes.h"

namespace openset {

// Whoever may write to the store wrote what is in it: all of it is escaped (EscapeXml(), JSON), and a page's policy
// lets only the program's own scripts run, by their hashes.
class StorePages {
 public:
  // `catalog` and `data_folders`: where class names and the images of mistakes are found, if they are here.
  StorePages(Store store, Catalog catalog, std::vector<std::string> data_folders)
      : store_(std::move(store)), catalog_(std::move(catalog)), data_folders_(std::move(data_folders)) {}

  // 404 for what the store has not; 500 for what can't be read. For several threads; reports are made one at a time.
  HttpAnswer Answer(const Route& route, absl::Time now = absl::Now());

 private:
  absl::StatusOr<HttpAnswer> Make(const Route& route, absl::Time now);
  absl::StatusOr<HttpAnswer> Overview(absl::Time now) const;
  absl::StatusOr<HttpAnswer> StudyPage(const std::string& id, absl::Time now);
  absl::StatusOr<HttpAnswer> RecordsPage(const std::string& id, int number);
  absl::StatusOr<HttpAnswer> RecordPage(const std::string& id, absl::Time now);
  absl::StatusOr<HttpAnswer> Failures() const;

  // The study that goes by this id: its name and the ids of its records, or none where it only runs. Errors: kNotFound.
  struct Found {
    std::string name;
    std::vector<std::string> records;
  };
  absl::StatusOr<Found> Find(const std::string& id);
  // The report of these records.
  absl::StatusOr<ChartPage> PageOf(const std::string& name, std::vector<TrialRecord> records,
                                   const std::vector<std::string>& problems);
  // The mistakes of a record as a PNG file; "" where it has none, or where the images that it was measured on are not
  // here.
  std::string Sheet(const TrialRecord& record);

  const Store store_;
  const Catalog catalog_;
  const std::vector<std::string> data_folders_;
  std::mutex names_mutex_;
  std::map<std::string, std::string> names_;  // of the studies of records, by trial id
  std::mutex report_mutex_;                   // of all below
  OpenParts open_parts_;
};

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_STORE_PAGES_H_
