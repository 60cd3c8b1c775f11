// Reads tables of samples (comma-separated values) as the named arrays that an .npz would contain.
#ifndef OPENSET_EVAL_FILES_CSV_ARRAYS_H_
#define OPENSET_EVAL_FILES_CSV_ARRAYS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/files/formats/npz.h"

namespace openset {

// A strict reader of comma-separated values (RFC 4180), also with semicolons or tabs as separators.
//
// The packaged C++ parsers fix the columns at compile time (fast-cpp-csv-parser) or have had no release for ten years
// (libcsv).

// The largest table's file. 10 million samples with 20 logits each need half of it.
inline constexpr int64_t kMaxTableBytes = int64_t{1} << 32;

// The most cells of a line, so that a file of separators takes no more memory than its size.
inline constexpr size_t kMaxCells = 1'000'000;

// Calls row(line, cells) for each record, the header first. Stops at the first error that `row` returns, and returns
// it. Lines count from 1. The separator is the one of comma, semicolon and tab that occurs most often in the header
// outside quotes (the first of these if there is a tie). Cells may be in double quotes; they can then contain
// separators, line breaks and doubled quotes. Lines end in "\n" or "\r\n", or all of them in "\r". A byte order mark at
// the start and empty lines at the end are ignored, and so is Excel's first line "sep=;", whose separator is taken.
// Cells are only valid during the call. Errors, kInvalidArgument with "line N: ": a record with more or fewer cells
// than the first or with more than kMaxCells, an empty line before others, a quote inside an unquoted cell, text after
// a closing quote, a quote that is not closed; without a line: a NUL byte, UTF-16 text.
absl::Status ReadCsv(absl::string_view text,
                     const std::function<absl::Status(int64_t line, absl::Span<const absl::string_view> cells)>& row);

// Reads CSV tables of samples as the named arrays that an .npz would contain.

struct CsvArrays {
  NpzArrays arrays;
  std::vector<std::string> columns;  // all names in the header, as written there
  // If cells contain names of classes: the names that labels and predictions are indices of, in the order of the logit
  // columns, or otherwise of appearance. Empty if cells contain numbers.
  std::vector<std::string> class_names;
  std::vector<int64_t> lines;  // of each row; empty if row r is in line r + 2
};

// A header, then a line for each sample. Column names may have any case, and spaces or hyphens instead of underscores.
// Other columns than these are ignored, also an index without a name.
//   * logit_0, logit_1, ... or two or more columns logit_NAME, whose names keep their case, become the array `logits`
//     [N, K]; feature_0, ... become `features` [N, D];
//   * unknown_score and conf: doubles;
//   * label, prediction, pred: integers, also written as floats ("3.0"), or all of them names of classes. A label that
//     is blank, "unknown", "nan" or "<NA>", in any case, or -1 means an unknown sample: -1;
//   * correct and loss: doubles, NaN for a blank cell; "true" and "false", in any case, are 1 and 0;
//   * num_classes: the same integer in each line;
//   * `group`: a name for each sample, blank for samples without a group: the arrays `group` and `group_names`, in
//     order of appearance;
//   * `cluster`: a text for each sample, the array of this name.
// Errors, kInvalidArgument with the line and the column: those of ReadCsv; no line after the header; duplicates of
// these columns, `pred` next to `prediction`; missing numbers of logit_ or feature_ columns, numbered logits next to
// named ones; a cell that is not a number; numbers among names of
// classes; a prediction that is blank or "unknown"; names of classes with numbered logits, or that no logit has;
// numbers of classes with named logits; labels that are True and False; different values of num_classes.
absl::StatusOr<CsvArrays> ParseCsvArrays(absl::string_view text);

// Whether a class has a name that people give to unknown samples: "UNK", "<ood>", "N/A" and the like, in any case. In a
// column `label`, only "unknown", "nan" and "<NA>" of them mean one.
bool LooksUnknown(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_CSV_ARRAYS_H_
