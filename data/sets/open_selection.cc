#include "data/sets/open_selection.h"

#include <utility>

#include "core/status_macros.h"
#include "data/joined_source.h"
#include "data/sets/data_set.h"

namespace openset {

absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const DataSetInfo& info,
                                              const PartOpener& open_part) {
  std::vector<std::shared_ptr<const ImageSource>> parts;
  for (const PartOfDataSet& part : PartsOf(selection)) {
    OPENSET_ASSIGN_OR_RETURN(parts.emplace_back(), open_part(part.part()));
  }
  OpenedSelection opened;
  opened.source = JoinSources(std::move(parts));
  OPENSET_ASSIGN_OR_RETURN(opened.samples, SelectSamples(opened.source->index(), selection, &info));
  return opened;
}

absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const Catalog& catalog,
                                              const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  return OpenSelection(selection, *info, [&](const std::string& part) { return OpenPart(*info, part, data_folders); });
}

}  // namespace openset
