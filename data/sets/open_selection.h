// Opens the images of the parts that a selection names, as one source.
#ifndef OPENSET_DATA_SETS_OPEN_SELECTION_H_
#define OPENSET_DATA_SETS_OPEN_SELECTION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/catalog.pb.h"
#include "data/image_source.h"
#include "data/selection.h"

namespace openset {

struct OpenedSelection {
  std::shared_ptr<const ImageSource> source;  // all images of the parts, not only the selected ones
  SelectedSamples samples;
};

// Opens a part of the selection's data set. For callers that cache opened parts.
using PartOpener = std::function<absl::StatusOr<std::shared_ptr<const ImageSource>>(const std::string& part)>;

// Opens the parts in the order of PartsOf(). `info`: the selection's data set. Errors: those of `open_part` and
// SelectSamples().
absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const DataSetInfo& info,
                                              const PartOpener& open_part);

// Opens the parts with OpenPart(). Errors: also those of the catalog.
absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const Catalog& catalog,
                                              const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_OPEN_SELECTION_H_
