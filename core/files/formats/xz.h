// Writes and reads an .xz stream in parts, with liblzma.
#ifndef OPENSET_CORE_FILES_FORMATS_XZ_H_
#define OPENSET_CORE_FILES_FORMATS_XZ_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace openset {

using UseBytes = std::function<absl::Status(absl::string_view bytes)>;

// Call Write() any number of times, then Finish() once. The same bytes give the same stream, for any division into
// parts and any number of CPUs. It takes a thread besides the caller's.
class XzWriter {
 public:
  // `use` gets the stream.
  explicit XzWriter(UseBytes use);
  ~XzWriter();

  // Errors: kResourceExhausted if the system gives no memory or no thread; any error that `use` returns.
  absl::Status Write(absl::string_view bytes);
  absl::Status Finish();

 private:
  struct Coder;
  absl::Status Run(absl::string_view bytes, bool is_end);

  const UseBytes use_;
  const std::unique_ptr<Coder> coder_;
};

// Call Add() any number of times, then Finish() once. The input is untrusted.
class XzReader {
 public:
  // The decoder's memory limit. The streams of XzWriter need 9 MiB.
  static constexpr uint64_t kMaxMemory = uint64_t{32} << 20;

  // `use` gets the decompressed bytes in parts of at most 64 KiB, so that it can stop a stream that is too large.
  explicit XzReader(UseBytes use);
  ~XzReader();

  // Errors, after which nothing may be added: kDataLoss for a stream that is corrupt, needs more than kMaxMemory, has
  // bytes after its end, or, in Finish(), is incomplete; kResourceExhausted if there is no memory; any error that `use`
  // returns.
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
