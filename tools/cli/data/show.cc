#include <iostream>
#include <map>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/inspect/contact_sheet.h"
#include "tools/cli/data/actions.h"
#include "tools/cli/data/data_flags.h"
#include "tools/cli/data/sets.h"
#include "tools/cli/flags/library_flags.h"

ABSL_FLAG(std::string, sheet, "sheet.png", "The contact sheet to write (PNG).");
ABSL_FLAG(int, per_class, 12, "Images of each class on the contact sheet.");
ABSL_FLAG(int, tile, 48, "Height and width of an image on the contact sheet.");

namespace openset {

absl::Status ShowImages(const std::string& name) {
  const int per_class = absl::GetFlag(FLAGS_per_class), tile = absl::GetFlag(FLAGS_tile);
  if (per_class < 1 || per_class > 1000) return absl::InvalidArgumentError("--per_class: must be 1 to 1000");
  if (tile < 8 || tile > 1024) return absl::InvalidArgumentError("--tile: must be 8 to 1024");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<NamedSamples> sets, SamplesOf(name));
  static const std::map<NamedSamples::Role, std::array<uint8_t, 3>> kColours = {
      {NamedSamples::PLAIN, {120, 120, 120}},
      {NamedSamples::TRAIN, {0, 140, 60}},
      {NamedSamples::KNOWN, {0, 140, 60}},
      {NamedSamples::UNKNOWN, {200, 30, 30}},
      {NamedSamples::EXTERNAL, {40, 80, 200}}};
  std::vector<SheetRow> rows;
  for (const NamedSamples& set : sets) {
    if (set.role == NamedSamples::TRAIN) continue;  // the classes are those of the test samples
    std::map<int64_t, std::vector<int64_t>> of_class;
    for (size_t i = 0; i < set.samples.index.size(); ++i) {
      std::vector<int64_t>& some = of_class[set.samples.label[i]];
      if (some.size() < per_class) some.push_back(set.samples.index[i]);
    }
    for (const auto& [label, samples] : of_class) {
      OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, set.source->Read(samples));
      rows.push_back({kColours.at(set.role), std::move(images)});
      std::cout << "row " << rows.size() << ": " << OneLine(absl::StrCat(set.name, ", ", set.class_name[label]))
                << "\n";
    }
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string png, EncodePng(MakeContactSheet(rows, tile)));
  const std::string path = UserPath(absl::GetFlag(FLAGS_sheet));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, png));
  std::cout << path << " (marks: green known, red unknown, blue external)\n";
  return absl::OkStatus();
}

}  // namespace openset
