#include "core/files/formats/xz.h"

#include <lzma.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr size_t kPart = size_t{1} << 16;
constexpr uint32_t kPreset = 6;                       // a window of 8 MiB
constexpr uint64_t kBlockBytes = uint64_t{24} << 20;  // each compressed by one CPU; determines the compressed bytes
constexpr uint32_t kMostThreads = 4;                  // each takes about 150 MB

const uint8_t* Bytes(absl::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

// How many threads the system gives now, at most `wanted`. liblzma fails if it gets fewer than it may use.
uint32_t ThreadsGiven(uint32_t wanted) {
  std::vector<std::thread> threads;
  absl::Notification all;
  while (threads.size() < wanted) {
    threads.reserve(wanted);
    std::thread thread = TryToStartThread([&all] { all.WaitForNotification(); });
    if (!thread.joinable()) break;
    threads.push_back(std::move(thread));
  }
  all.Notify();
  for (std::thread& thread : threads) thread.join();
  return static_cast<uint32_t>(threads.size());
}

}  // namespace

// A stream of liblzma with the part of its output that was not used yet.
struct XzStream {
  XzStream() = default;
  ~XzStream() { lzma_end(&lzma); }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;

  // What lzma_code() has written since the last call.
  absl::string_view Written() {
    const absl::string_view written(part.data(), kPart - lzma.avail_out);
    lzma.next_out = reinterpret_cast<uint8_t*>(part.data());
    lzma.avail_out = kPart;
    return written;
  }

  lzma_stream lzma = LZMA_STREAM_INIT;
  lzma_ret started = LZMA_PROG_ERROR;
  std::string part = std::string(kPart, '\0');
};

struct XzWriter::Coder : XzStream {};
struct XzReader::Coder : XzStream {};

XzWriter::XzWriter(UseBytes use) : use_(std::move(use)), coder_(std::make_unique<Coder>()) {
  lzma_mt options = {};
  options.threads = ThreadsGiven(std::clamp<uint32_t>(std::thread::hardware_concurrency(), 1, kMostThreads));
  options.block_size = kBlockBytes;
  options.preset = kPreset;
  options.check = LZMA_CHECK_CRC32;
  // liblzma's encoder in the calling thread would make another stream of the same bytes.
  coder_->started = options.threads > 0 ? lzma_stream_encoder_mt(&coder_->lzma, &options) : LZMA_MEM_ERROR;
  coder_->lzma.avail_out = kPart;
  coder_->Written();
}

XzWriter::~XzWriter() = default;

absl::Status XzWriter::Write(absl::string_view bytes) { return Run(bytes, false); }
absl::Status XzWriter::Finish() { return Run("", true); }

absl::Status XzWriter::Run(absl::string_view bytes, bool is_end) {
  lzma_ret result = coder_->started;
  coder_->lzma.next_in = Bytes(bytes);
  coder_->lzma.avail_in = bytes.size();
  while (result == LZMA_OK && (is_end || coder_->lzma.avail_in > 0)) {
    result = lzma_code(&coder_->lzma, is_end ? LZMA_FINISH : LZMA_RUN);
    if (const absl::string_view written = coder_->Written(); !written.empty()) OPENSET_RETURN_IF_ERROR(use_(written));
  }
  if (result == LZMA_OK || result == LZMA_STREAM_END) return absl::OkStatus();
  if (result == LZMA_MEM_ERROR) {
    return absl::ResourceExhaustedError(
        "cannot compress: the system gives no memory or no thread (a limit on processes or memory, ulimit -u, -v)");
  }
  return absl::ResourceExhaustedError(absl::StrCat("cannot compress: liblzma says ", static_cast<int>(result)));
}

XzReader::XzReader(UseBytes use) : use_(std::move(use)), coder_(std::make_unique<Coder>()) {
  coder_->started = lzma_stream_decoder(&coder_->lzma, kMaxMemory, /*flags=*/0);
  coder_->lzma.avail_out = kPart;
  coder_->Written();
}

XzReader::~XzReader() = default;

absl::Status XzReader::Add(absl::string_view packed) {
  lzma_ret result = coder_->started;
  coder_->lzma.next_in = Bytes(packed);
  coder_->lzma.avail_in = packed.size();
  // If a part was full, there may be more output, although no input is left.
  for (bool was_full = false; result == LZMA_OK && !has_ended_ && (coder_->lzma.avail_in > 0 || was_full);) {
    result = lzma_code(&coder_->lzma, LZMA_RUN);
    has_ended_ = result == LZMA_STREAM_END;
    was_full = coder_->lzma.avail_out == 0;
    if (const absl::string_view written = coder_->Written(); !written.empty()) OPENSET_RETURN_IF_ERROR(use_(written));
  }
  if (has_ended_) {
    if (coder_->lzma.avail_in == 0) return absl::OkStatus();
    return absl::DataLossError("has bytes after the end of its xz stream");
  }
  switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:  // there was no more output: more input is needed
      return absl::OkStatus();
    case LZMA_MEMLIMIT_ERROR:
      return absl::DataLossError(absl::StrCat("needs more than ", kMaxMemory, " bytes of memory to be decompressed"));
    case LZMA_MEM_ERROR:
      return absl::ResourceExhaustedError("no memory is left to decompress it");
    case LZMA_FORMAT_ERROR:
      return absl::DataLossError("is not an xz stream");
    default:
      return absl::DataLossError("is a corrupt xz stream");
  }
}

absl::Status XzReader::Finish() {
  return has_ended_ ? absl::OkStatus() : absl::DataLossError("is cut short: its xz stream has no end");
}

}  // namespace openset
