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

// Draws each chart into its file, whose name ends in ".svg", ".pdf" or ".png" (300 dots per inch at the size of the
// PDF). Each file is complete or absent.
//
// The background is white, text is 10 points high, and a pixel is a point. `inches` scales the whole chart to that
// width. Errors: kInvalidArgument for another file extension, kUnavailable if the machine has no python3, kInternal
// with the drawing program's message, kNotFound if openset's own files are missing; a write error (core/files/files.h).
absl::Status WriteVectorFiles(const std::vector<std::pair<std::string, VegaLite>>& charts,
                              std::optional<double> inches = std::nullopt);

}  // namespace openset

#endif  // OPENSET_CORE_CHART_VECTOR_FILE_H_
