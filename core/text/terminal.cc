#include "core/text/terminal.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <streambuf>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/text/one_line.h"

namespace openset {

// Passes its input on immediately, except for the first bytes of an incomplete character.
class PrintableBuffer : public std::streambuf {
 public:
  explicit PrintableBuffer(std::streambuf* target) : target_(target) {}

  bool WriteCodes(absl::string_view codes) {
    return HandOn(unfinished_.size()) && target_->sputn(codes.data(), codes.size()) == codes.size();
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }

  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    unfinished_.append(text, bytes);
    return HandOn(unfinished_.size() - UnfinishedBytes(unfinished_)) ? bytes : 0;
  }

  int sync() override { return HandOn(unfinished_.size()) ? target_->pubsync() : -1; }

 private:
  // Passes on the first `bytes` bytes of unfinished_.
  bool HandOn(size_t bytes) {
    if (bytes == 0) return true;
    const std::string shown = Printable(absl::string_view(unfinished_).substr(0, bytes));
    unfinished_.erase(0, bytes);
    return target_->sputn(shown.data(), shown.size()) == shown.size();
  }

  std::streambuf* target_;
  std::string unfinished_;
};

PrintableStream::PrintableStream(std::ostream* stream)
    : stream_(stream), before_(stream->rdbuf()), buffer_(std::make_unique<PrintableBuffer>(before_)) {
  stream_->rdbuf(buffer_.get());
}

PrintableStream::~PrintableStream() {
  stream_->flush();
  const std::ios::iostate state = stream_->rdstate();
  stream_->rdbuf(before_);  // clears the state
  stream_->setstate(state);
}

void WriteCodes(absl::string_view codes, std::ostream* stream) {
  auto* buffer = dynamic_cast<PrintableBuffer*>(stream->rdbuf());
  if (buffer == nullptr) {
    stream->write(codes.data(), codes.size());
  } else if (!buffer->WriteCodes(codes)) {
    stream->setstate(std::ios::badbit);
  }
}

namespace {

double MachineSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 100) return absl::StrCat(whole, " s");
  if (whole < 6000) return absl::StrCat((whole + 59) / 60, " min");
  return absl::StrFormat("%d h %02d min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string ProgressText(absl::string_view what, int64_t done, int64_t total, absl::string_view unit,
                         double per_second) {
  const bool is_bytes = unit == "bytes";
  const auto amount = [&](double value) {
    return is_bytes ? absl::StrFormat("%.1f", value / 1e6) : absl::StrFormat("%.0f", value);
  };
  std::string text = absl::StrCat(what, ": ", amount(static_cast<double>(done)));
  if (total > 0) absl::StrAppend(&text, " of ", amount(static_cast<double>(total)));
  absl::StrAppend(&text, " ", is_bytes ? "MB" : unit);
  if (total > 0) absl::StrAppend(&text, " (", 100 * done / total, " %)");
  if (per_second <= 0) return text;
  absl::StrAppend(&text, ", ", amount(per_second), is_bytes ? " MB/s" : "/s");
  if (total > done) absl::StrAppend(&text, ", ", Duration(static_cast<double>(total - done) / per_second), " left");
  return text;
}

ProgressLine::ProgressLine(std::string unit, bool to_terminal, std::ostream* out, std::function<double()> seconds)
    : unit_(std::move(unit)),
      to_terminal_(to_terminal),
      out_(out),
      seconds_(seconds != nullptr ? std::move(seconds) : MachineSeconds) {}

ProgressLine ProgressLine::ToStandardError(std::string unit) {
  return ProgressLine(std::move(unit), isatty(STDERR_FILENO) != 0, &std::cerr);
}

ProgressLine::~ProgressLine() { EndLine(); }

void ProgressLine::EndLine() {
  if (is_open_) *out_ << std::endl;
  is_open_ = false;
}

void ProgressLine::Update(const std::string& what, int64_t done, int64_t total) {
  const double now = seconds_();
  if (what != what_) {
    EndLine();
    what_ = what;
    began_ = written_ = now;
    first_done_ = done;
    return;
  }
  const double pause = to_terminal_ ? kTerminalSeconds : kFileSeconds;
  const bool is_first = written_ == began_;
  const bool is_last = is_open_ && total > 0 && done == total;
  if (now - began_ < kQuietSeconds || (!is_first && !is_last && now - written_ < pause)) return;
  written_ = now;
  const std::string text =
      OneLine(ProgressText(what, done, total, unit_, static_cast<double>(done - first_done_) / (now - began_)));
  if (to_terminal_) {
    WriteCodes("\r\033[K", out_);
    *out_ << "openset: " << text << std::flush;
    is_open_ = true;
  } else {
    *out_ << "openset: " << text << std::endl;
  }
}

}  // namespace openset
