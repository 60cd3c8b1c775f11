// Plots as files for papers: SVG, PDF, PNG.
#ifndef OPENSET_CORE_CHART_VECTOR_FILE_H_
#define OPENSET_CORE_CHART_VECTOR_FILE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/chart/vega_lite.h"

namespace openset {

// Draws each chart into its file, whose name ends in ".svg", ".pdf" or ".png" (at 300 dots an inch of its size in
// PDF). Each file is whole or not there.
//
// A chart is drawn on white, with text of 10 points, a pixel a point. With `inches` all of it is scaled to that width.
// Errors: kInvalidArgument for another ending, kUnavailable where the machine has no python3, kInternal with what the
// drawing program says; those of writing a file.
absl::Status WriteVectorFiles(const std::vector<std::pair<std::string, VegaLite>>& charts,
                              std::optional<double> inches = std::nullopt);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_VECTOR_FILE_H_
