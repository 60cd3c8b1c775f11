#include "data/readers/folder_listing.h"

#include <dirent.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/disk_error.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr int64_t kMaxMemoryBytes = int64_t{1} << 31;  // 10 million names
constexpr absl::string_view kFirstLine = "openset image names 2";

// Returns the CRC-32, computed in parallel for pieces of `bytes`.
uLong ChecksumOf(absl::string_view bytes) {
  constexpr size_t kPiece = size_t{1} << 22;
  std::vector<uLong> sums((bytes.size() + kPiece - 1) / kPiece);
  InParallel(static_cast<int64_t>(sums.size()), [&](int64_t i) {
    const absl::string_view piece = bytes.substr(i * kPiece, kPiece);
    sums[i] = crc32_z(0, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  });
  uLong sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    sum = crc32_combine(sum, sums[i], static_cast<z_off_t>(std::min(kPiece, bytes.size() - i * kPiece)));
  }
  return sum;
}

absl::Status CannotList(const std::string& folder) { return ReadError(errno, absl::StrCat("cannot list ", folder)); }

absl::StatusOr<ImageNames> ListOne(const std::string& folder) {
  ImageNames names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr && (errno == ENOENT || errno == ENOTDIR)) return names;
  if (entries == nullptr) return CannotList(folder);
  names.is_there = true;
  errno = 0;
  std::string found;
  while (const dirent* entry = readdir(entries.get())) {
    if (!IsImageName(entry->d_name)) continue;
    found.append(entry->d_name, std::strlen(entry->d_name) + 1);
    ++names.count;
  }
  if (errno != 0) return CannotList(folder);
  names.text = found;
  std::vector<absl::string_view> sorted = names.Split();
  std::sort(sorted.begin(), sorted.end());
  auto text = std::make_shared<std::string>();
  text->reserve(found.size());
  for (const absl::string_view name : sorted) text->append(name.data(), name.size() + 1);
  names.text = *text;
  names.holds = std::move(text);
  return names;
}

// The remembered listing of a folder.
struct Remembered {
  std::string state;
  ImageNames names;
};
using Memory = std::map<std::string, Remembered>;  // by the folder's path below the root

// Reads a file of the memory. Its first line has the checksum of the rest. For each folder follow a line with its
// state; a line with the number of bytes of its path, the number of images and the number of bytes of their names; the
// path; and the names. Returns an empty memory if the file does not exist or is corrupt.
Memory ReadMemory(const std::string& path) {
  absl::StatusOr<std::string> read = ReadFile(path, kMaxMemoryBytes);
  if (!read.ok()) return {};
  const auto content = std::make_shared<const std::string>(*std::move(read));
  absl::string_view rest = *content;
  const auto take = [&rest](size_t bytes) {
    const absl::string_view text = rest.substr(0, bytes);
    rest.remove_prefix(text.size());
    return text;
  };
  const auto take_line = [&] {
    const absl::string_view line = take(std::min(rest.find('\n'), rest.size()));
    take(1);
    return line;
  };
  const absl::string_view first = take_line();
  if (first != absl::StrCat(kFirstLine, " ", ChecksumOf(rest))) return {};
  Memory memory;
  while (!rest.empty()) {
    Remembered folder;
    folder.state = std::string(take_line());
    const std::vector<absl::string_view> numbers = absl::StrSplit(take_line(), ' ');
    size_t path_bytes = 0, text_bytes = 0;
    if (numbers.size() != 3 || !absl::SimpleAtoi(numbers[0], &path_bytes) ||
        !absl::SimpleAtoi(numbers[1], &folder.names.count) || !absl::SimpleAtoi(numbers[2], &text_bytes)) {
      return {};
    }
    const std::string name(take(path_bytes));
    folder.names.text = take(text_bytes);
    folder.names.holds = content;
    folder.names.is_there = true;
    memory[name] = std::move(folder);
  }
  return memory;
}

void AppendFolder(const std::string& path, const std::string& state, const ImageNames& names, std::string* content) {
  absl::StrAppend(content, state, "\n", path.size(), " ", names.count, " ", names.text.size(), "\n", path, names.text);
}

}  // namespace

bool IsImageName(absl::string_view name) {
  if (name.empty() || name[0] == '.') return false;
  for (const absl::string_view suffix : {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp", ".tif", ".tiff", ".gif",
                                         ".bmp", ".ppm", ".pgm", ".pbm", ".pnm"}) {
    if (absl::EndsWithIgnoreCase(name, suffix)) return true;
  }
  return false;
}

std::vector<absl::string_view> ImageNames::Split() const {
  std::vector<absl::string_view> names;
  names.reserve(count);
  for (size_t at = 0; at < text.size(); at += names.back().size() + 1) {
    names.push_back(text.substr(at, text.find('\0', at) - at));
  }
  return names;
}

ListingMemory ListingMemory::OfUser() { return ListingMemory(UserCacheFolder("listings")); }

absl::StatusOr<FolderListing> ListingMemory::List(const std::string& root,
                                                  const std::vector<std::string>& folder) const {
  const auto count = static_cast<int64_t>(folder.size());
  FolderListing listing{root, folder, std::vector<ImageNames>(count)};
  std::string path;
  Memory memory;
  if (!folder_.empty()) {
    std::error_code error;
    path = JoinPath(folder_, Sha256Hex(std::filesystem::absolute(root, error).lexically_normal().string()));
    memory = ReadMemory(path);
  }
  const std::time_t started = std::time(nullptr);
  std::vector<std::string> new_state(count);  // the states of folders whose new listing is remembered
  std::vector<absl::Status> status(count);
  InParallelWaiting(count, [&](int64_t i) {
    const std::string where = JoinPath(root, folder[i]);
    const FileState state = StateOf(where);
    const auto known = memory.find(folder[i]);
    if (known != memory.end() && known->second.state == state.text) {
      listing.images[i] = known->second.names;
      return;
    }
    absl::StatusOr<ImageNames> names = ListOne(where);
    status[i] = names.status();
    if (!names.ok()) return;
    listing.images[i] = *std::move(names);
    const bool has_settled = state.HadSettled(started) && StateOf(where).text == state.text;
    if (listing.images[i].is_there && has_settled) new_state[i] = state.text;
  });
  int64_t images = 0, news = 0;
  for (int64_t i = 0; i < count; ++i) {
    OPENSET_RETURN_IF_ERROR(status[i]);
    images += listing.images[i].count;
    news += new_state[i].empty() ? 0 : 1;
  }
  if (path.empty() || news == 0 || images < min_images_ || !MakeFolders(folder_).ok()) return listing;
  for (int64_t i = 0; i < count; ++i) {
    if (!new_state[i].empty()) memory[folder[i]] = {new_state[i], listing.images[i]};
  }
  std::string content;
  for (const auto& [name, remembered] : memory) AppendFolder(name, remembered.state, remembered.names, &content);
  WriteFileAtomically(path, absl::StrCat(kFirstLine, " ", ChecksumOf(content), "\n", content)).IgnoreError();
  return listing;
}

}  // namespace openset
