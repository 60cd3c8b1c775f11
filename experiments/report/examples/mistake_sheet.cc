#include "experiments/report/examples/mistake_sheet.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/inspect/contact_sheet.h"
#include "data/sets/data_set.h"
#include "data/sets/open_selection.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"

namespace openset {
namespace {

absl::StatusOr<OpenedSelection> Open(const Selection& selection, const Catalog& catalog,
                                     const std::vector<std::string>& folders, OpenParts* open_parts) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  const auto open_part = [&](const std::string& part) -> absl::StatusOr<std::shared_ptr<const ImageSource>> {
    std::shared_ptr<const ImageSource>& opened = (*open_parts)[{selection.data_set(), part}];
    if (opened == nullptr) {
      OPENSET_ASSIGN_OR_RETURN(opened, OpenPart(*info, part, folders));
    }
    return opened;
  };
  return OpenSelection(selection, *info, open_part);
}

// The sets of test samples, in the order of the outputs' rows (experiments/infer/inference.cc).
absl::StatusOr<std::vector<OpenedSelection>> OpenAll(const TaskData& data, const Catalog& catalog,
                                                     const std::vector<std::string>& folders, OpenParts* open_parts) {
  std::vector<OpenedSelection> sets;
  OPENSET_ASSIGN_OR_RETURN(sets.emplace_back(), Open(data.test_known(), catalog, folders, open_parts));
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_ASSIGN_OR_RETURN(sets.emplace_back(), Open(group.selection(), catalog, folders, open_parts));
  }
  for (const ShiftedGroup& group : data.test_shifted()) {
    OPENSET_ASSIGN_OR_RETURN(sets.emplace_back(), Open(group.selection(), catalog, folders, open_parts));
  }
  return sets;
}

absl::StatusOr<Image> ImageOf(int64_t row, const std::vector<OpenedSelection>& sets) {
  const int64_t asked = row;
  for (const OpenedSelection& set : sets) {
    if (row < 0) break;  // a record may have any value
    if (row < set.samples.size()) {
      OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, set.source->Read({set.samples.index[row]}));
      return std::move(images[0]);
    }
    row -= set.samples.size();
  }
  return absl::InvalidArgumentError(absl::StrCat("the test has no sample ", asked));
}

}  // namespace

absl::StatusOr<std::string> MistakeSheet(const TrialSpec& trial, const TrialRecord& record, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders, OpenParts* open_parts) {
  static const std::map<Mistake::Kind, std::array<uint8_t, 3>> kColours = {
      {Mistake::KNOWN_TAKEN_FOR_UNKNOWN, {0, 140, 60}},
      {Mistake::UNKNOWN_TAKEN_FOR_KNOWN, {200, 30, 30}},
      {Mistake::WRONG_CLASS, {40, 80, 200}}};
  if (record.details().mistake().empty()) return std::string();
  OPENSET_ASSIGN_OR_RETURN(const std::vector<OpenedSelection> sets,
                           OpenAll(trial.data(), catalog, data_folders, open_parts));
  std::vector<SheetRow> rows;
  for (const auto& [kind, colour] : kColours) {
    SheetRow row{colour, {}};
    for (const Mistake& mistake : record.details().mistake()) {
      if (mistake.kind() != kind || row.images.size() == kSheetColumns) continue;
      OPENSET_ASSIGN_OR_RETURN(row.images.emplace_back(), ImageOf(mistake.row(), sets));
    }
    if (!row.images.empty()) rows.push_back(std::move(row));
  }
  return EncodePng(MakeContactSheet(rows, kSheetTile));
}

}  // namespace openset
