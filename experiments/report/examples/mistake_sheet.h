// The images of a trial's largest mistakes.
#ifndef OPENSET_EXPERIMENTS_REPORT_EXAMPLES_MISTAKE_SHEET_H_
#define OPENSET_EXPERIMENTS_REPORT_EXAMPLES_MISTAKE_SHEET_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "experiments/report/report.h"

namespace openset {

inline constexpr int kSheetColumns = 12;  // the number of tiles for each kind of mistake
inline constexpr int kSheetTile = 56;     // pixels

// Data set parts that were opened for earlier sheets, by data set and part.
using OpenParts = std::map<std::pair<std::string, std::string>, std::shared_ptr<const ImageSource>>;

// Returns a contact sheet (data/inspect/contact_sheet.h) as the bytes of a PNG file, with a row for each kind of
// mistake in the record, in their order, and the worst mistake on the left. "" for a record without mistakes. Errors:
// those of OpenPart() and of reading the images, such as kNotFound if the data is not on this machine; kInvalidArgument
// if the test samples don't include such a sample.
absl::StatusOr<std::string> MistakeSheet(const TrialSpec& trial, const TrialRecord& record, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders, OpenParts* open_parts);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_EXAMPLES_MISTAKE_SHEET_H_
