// Text for a terminal: without control characters, and progress of long work.
#ifndef OPENSET_CORE_TEXT_TERMINAL_H_
#define OPENSET_CORE_TEXT_TERMINAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace openset {

// ---- Removes control characters for the terminal from a program's output.

class PrintableBuffer;

// During its lifetime, everything written to `stream` passes through Printable() (core/text/one_line.h). `stream` must
// outlive it.
class PrintableStream {
 public:
  explicit PrintableStream(std::ostream* stream);
  ~PrintableStream();

  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;

 private:
  std::ostream* stream_;
  std::streambuf* before_;
  std::unique_ptr<PrintableBuffer> buffer_;
};

// Writes intended control codes of a terminal ("\r\033[K") to a stream that may be a PrintableStream's.
void WriteCodes(absl::string_view codes, std::ostream* stream);

// ---- Progress of long work, for people.

// Called by long work repeatedly, with what it is doing and how much is done. `total` is 0 if it is not known.
using ProgressReport = std::function<void(const std::string& what, int64_t done, int64_t total)>;

// "hashing images of dtd: 1200 of 5640 images (21 %), 340/s, 14 s left". Bytes are shown as "12.3 of 170.5 MB (7
// %), 4.1 MB/s" (10^6). If `per_second` is 0, it and the time left are not shown.
std::string ProgressText(absl::string_view what, int64_t done, int64_t total, absl::string_view unit,
                         double per_second);

// Writes such a line when the work has taken kQuietSeconds, and from time to time after that. On a terminal, it
// replaces the last line. The rate counts from the work's first report, so that what was done before (by a download
// that is resumed) doesn't count.
class ProgressLine {
 public:
  static constexpr double kQuietSeconds = 2;
  static constexpr double kTerminalSeconds = 0.5;
  static constexpr double kFileSeconds = 10;

  // `unit` is "images", "files", or "bytes" for sizes. `seconds` is the time of a monotonic clock; null for the
  // machine's.
  ProgressLine(std::string unit, bool to_terminal, std::ostream* out, std::function<double()> seconds = nullptr);
  // To standard error.
  static ProgressLine ToStandardError(std::string unit);
  // Ends a line that is open.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Call it from one thread at a time. A new `what` starts a new piece of work.
  void Update(const std::string& what, int64_t done, int64_t total);

 private:
  void EndLine();

  const std::string unit_;
  const bool to_terminal_;
  std::ostream* const out_;
  const std::function<double()> seconds_;
  std::string what_;
  double began_ = 0, written_ = 0;  // seconds
  int64_t first_done_ = 0;
  bool is_open_ = false;
};

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_TERMINAL_H_
