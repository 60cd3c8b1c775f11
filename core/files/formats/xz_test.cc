#include "core/files/formats/xz.h"

#include <lzma.h>

#include <algorithm>
#include <string>

#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

UseBytes AppendTo(std::string* all) {
  return [all](absl::string_view part) {
    EXPECT_LE(part.size(), size_t{1} << 16);
    all->append(part.data(), part.size());
    return absl::OkStatus();
  };
}

std::string Compressed(absl::string_view bytes, size_t step) {
  std::string stream;
  XzWriter writer(AppendTo(&stream));
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    EXPECT_THAT(writer.Write(bytes.substr(0, step)), IsOk());
  }
  EXPECT_THAT(writer.Finish(), IsOk());
  return stream;
}

absl::Status Decompress(absl::string_view stream, size_t step, const UseBytes& use) {
  XzReader reader(use);
  for (; !stream.empty(); stream.remove_prefix(std::min(step, stream.size()))) {
    if (absl::Status status = reader.Add(stream.substr(0, step)); !status.ok()) return status;
  }
  return reader.Finish();
}

// A text that can be compressed a little.
std::string Text(size_t size) {
  std::string text(size, '\0');
  uint32_t state = 1;
  for (char& byte : text) byte = static_cast<char>("abcdefgh"[(state = state * 1664525 + 1013904223) >> 29]);
  return text;
}

// As another program would write it.
std::string WithPreset(const std::string& text, uint32_t preset) {
  std::string stream(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                                    text.size(), reinterpret_cast<uint8_t*>(stream.data()), &size, stream.size()),
            LZMA_OK);
  stream.resize(size);
  return stream;
}

TEST(Xz, RoundTrips) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{300001}}) {
    const std::string text = Text(size), stream = Compressed(text, 1000);
    EXPECT_EQ(Compressed(text, 777777), stream);
    EXPECT_LT(stream.size(), size / 2 + 100);
    for (const size_t step : {size_t{1}, size_t{4096}, size_t{1} << 20}) {
      std::string read;
      EXPECT_THAT(Decompress(stream, step, AppendTo(&read)), IsOk());
      EXPECT_EQ(read, text);
    }
  }
}

// Two blocks, which two CPUs may compress.
TEST(Xz, LongStreams) {
  const std::string text(size_t{30} << 20, 'x'), stream = Compressed(text, size_t{1} << 20);
  EXPECT_EQ(Compressed(text, 12345678), stream);
  EXPECT_LT(stream.size(), 10000);
  std::string read;
  EXPECT_THAT(Decompress(stream, 1000, AppendTo(&read)), IsOk());
  EXPECT_TRUE(read == text);
}

TEST(Xz, DecompressionStopsWhenTheCallerStops) {
  const std::string stream = Compressed(std::string(size_t{30} << 20, '\0'), size_t{1} << 20);
  size_t seen = 0;
  const auto use = [&](absl::string_view part) {
    seen += part.size();
    return seen > (1 << 20) ? absl::OutOfRangeError("too much") : absl::OkStatus();
  };
  EXPECT_EQ(Decompress(stream, stream.size(), use), absl::OutOfRangeError("too much"));
  EXPECT_EQ(seen, (1 << 20) + (1 << 16));
  XzWriter writer([](absl::string_view) { return absl::UnavailableError("full"); });
  absl::Status status = writer.Write("text");
  status.Update(writer.Finish());
  EXPECT_EQ(status, absl::UnavailableError("full"));
}

TEST(Xz, RefusesInvalidStreams) {
  const std::string text = Text(100000), stream = Compressed(text, 1000);
  std::string read;
  const auto says = [&](const std::string& bytes, const char* message) {
    for (const size_t step : {size_t{1}, bytes.size()}) {
      EXPECT_THAT(Decompress(bytes, std::max<size_t>(step, 1), AppendTo(&read)), IsDataLoss(message));
    }
  };
  says("", "is cut short");
  says("this is no stream", "is not an xz stream");
  for (const size_t size : {size_t{5}, stream.size() / 2, stream.size() - 1}) {
    says(stream.substr(0, size), "is cut short");
  }
  says(stream + "x", "has bytes after the end");
  says(stream + stream, "has bytes after the end");
  std::string damaged = stream;
  damaged[damaged.size() / 2] ^= 1;
  says(damaged, "is a corrupt xz stream");
  // A window of 64 MiB: what only programs with as much memory read.
  says(WithPreset(text, 9), "needs more than 33554432 bytes of memory");
  read.clear();
  EXPECT_THAT(Decompress(WithPreset(text, 6), 100, AppendTo(&read)), IsOk());
  EXPECT_EQ(read, text);
}

TEST(Xz, AChangedStreamIsRefusedOrIsTheSame) {
  const std::string text = Text(2000);
  ForEachMutation("xz", Compressed(text, 1000),
                  {"YZ",
                   "\xfd"
                   "7zXZ"},
                  [&](const std::string& bytes) {
                    std::string read;
                    if (Decompress(bytes, 64, AppendTo(&read)).ok()) {
                      EXPECT_EQ(read, text);
                    }
                  });
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
