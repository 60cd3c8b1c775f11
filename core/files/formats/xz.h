// One .xz stream, written and read part by part, by liblzma.
#ifndef OPENSET_CORE_FILES_FORMATS_XZ_H_
#define OPENSET_CORE_FILES_FORMATS_XZ_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace openset {

using UseBytes = std::function<absl::Status(absl::string_view bytes)>;

// Write() any number of times, then Finish() once. The same bytes give the same stream, however they are divided and
// however many CPUs there are.
class XzWriter {
 public:
  // `use` gets the stream.
  explicit XzWriter(UseBytes use);
  ~XzWriter();

  // Errors: those of `use`; kResourceExhausted.
  absl::Status Write(absl::string_view bytes);
  absl::Status Finish();

 private:
  struct Coder;
  absl::Status Run(absl::string_view bytes, bool is_end);

  const UseBytes use_;
  const std::unique_ptr<Coder> coder_;
};

// Add() any number of times, then Finish() once. What is read may be anybody's.
class XzReader {
 public:
  // What the decoder may take: the streams of XzWriter need 9 MiB.
  static constexpr uint64_t kMaxMemory = uint64_t{32} << 20;

  // `use` gets what was compressed, in parts of at most 64 KiB: it may end a stream that unfolds to too much.
  explicit XzReader(UseBytes use);
  ~XzReader();

  // Errors: those of `use`, after which nothing may be added; kDataLoss for a stream that is damaged, needs more than
  // kMaxMemory, has bytes behind its end, or, by Finish(), has no end.
  absl::Status Add(absl::string_view packed);
  absl::Status Finish();

 private:
  struct Coder;

  const UseBytes use_;
  const std::unique_ptr<Coder> coder_;
  bool has_ended_ = false;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_XZ_H_
