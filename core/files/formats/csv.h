// Comma-separated values (RFC 4180), also with semicolons or tabs as separators.
//
// The packaged C++ parsers fix the columns at compile time (fast-cpp-csv-parser) or have had no release for ten years
// (libcsv).
#ifndef OPENSET_CORE_FILES_FORMATS_CSV_H_
#define OPENSET_CORE_FILES_FORMATS_CSV_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace openset {

// The most bytes of a table's file. 10 million samples with 20 logits each take half of it.
inline constexpr int64_t kMaxTableBytes = int64_t{1} << 32;

// The most cells of a line, so that a file of separators takes no more memory than its size.
inline constexpr size_t kMaxCells = 1'000'000;

// Calls row(line, cells) for each record, the header first. Stops at the first error that `row` returns, and returns
// it. Lines count from 1. The separator is a comma, a semicolon or a tab, whichever occurs most often in the header
// outside quotes (in a tie, the first of them in this order). Cells may be in double quotes; they can then contain
// separators, line breaks and doubled quotes. Lines end in "\n" or "\r\n", or all of them in "\r". A byte order mark at
// the start and empty lines at the end are ignored, and so is Excel's first line "sep=;", whose separator is taken.
// Cells are only valid during the call. Errors, kInvalidArgument with "line N: ": a record with more or fewer cells
// than the first or with more than kMaxCells, an empty line before others, a quote inside an unquoted cell, text after
// a closing quote, a quote that is not closed; without a line: a NUL byte, UTF-16 text.
absl::Status ReadCsv(absl::string_view text,
                     const std::function<absl::Status(int64_t line, absl::Span<const absl::string_view> cells)>& row);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_CSV_H_
