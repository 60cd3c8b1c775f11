#include "core/text/printable_stream.h"

#include <streambuf>
#include <string>

#include "absl/strings/str_cat.h"
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

}  // namespace openset
