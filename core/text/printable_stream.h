// Removes control characters for the terminal from a program's output.
#ifndef OPENSET_CORE_TEXT_PRINTABLE_STREAM_H_
#define OPENSET_CORE_TEXT_PRINTABLE_STREAM_H_

#include <memory>
#include <ostream>

#include "absl/strings/string_view.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_PRINTABLE_STREAM_H_
