#include "core/files/digest_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <unordered_map>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// The most bytes of an entry: for one file; for a folder of 10 million names.
constexpr int64_t kMaxEntryBytes = 1 << 16;
constexpr int64_t kMaxMemoryBytes = int64_t{1} << 31;

// The state of a folder's files by their names.
struct Known {
  std::string state;
  std::string digest;
};
using Memory = std::unordered_map<std::string, Known>;

// An entry of a folder's files: a line with the SHA-256 of what follows; then "DIGEST STATE/NAME" and '\0' for each.
// Nothing if it is missing or corrupt.
Memory ReadMemory(const std::string& entry) {
  const absl::StatusOr<std::string> content = ReadFile(entry, kMaxMemoryBytes);
  if (!content.ok() || content->size() < 65 || (*content)[64] != '\n') return {};
  absl::string_view rest = absl::string_view(*content).substr(65);
  if (absl::string_view(*content).substr(0, 64) != Sha256Hex(rest)) return {};
  Memory memory;
  while (!rest.empty()) {
    const absl::string_view record = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), record.size() + 1));
    const size_t slash = record.find('/');
    if (slash == absl::string_view::npos || slash < 65) return {};
    memory[std::string(record.substr(slash + 1))] = {std::string(record.substr(65, slash - 65)),
                                                     std::string(record.substr(0, 64))};
  }
  return memory;
}

std::string ToText(const Memory& memory) {
  const std::map<std::string, Known> sorted(memory.begin(), memory.end());
  std::string rest;
  for (const auto& [name, known] : sorted) {
    absl::StrAppend(&rest, known.digest, " ", known.state, "/", name, absl::string_view("", 1));
  }
  return absl::StrCat(Sha256Hex(rest), "\n", rest);
}

}  // namespace

DigestCache DigestCache::OfUser() { return DigestCache(UserCacheFolder("digests")); }

std::string DigestCache::EntryOf(const std::string& absolute) const {
  return JoinPath(folder_, openset::Sha256Hex(absolute));
}

absl::StatusOr<std::string> DigestCache::Sha256Hex(const std::string& path,
                                                   absl::Status (*check)(const std::string& path)) const {
  const auto compute = [&]() -> absl::StatusOr<std::string> {
    if (check != nullptr) OPENSET_RETURN_IF_ERROR(check(path));
    return Sha256HexOfFile(path);
  };
  const FileState state = StateOf(path);
  if (folder_.empty() || state.text.empty() || state.bytes < min_bytes_) return compute();
  const std::string absolute = AbsolutePath(path), entry = EntryOf(absolute);
  // Three lines: the path, its state, the digest.
  const std::vector<std::string> lines = absl::StrSplit(ReadFile(entry, kMaxEntryBytes).value_or(""), '\n');
  if (lines.size() == 4 && lines[0] == absolute && lines[1] == state.text && lines[2].size() == 64) return lines[2];

  const std::time_t started = std::time(nullptr);
  OPENSET_ASSIGN_OR_RETURN(std::string digest, compute());
  if (state.HadSettled(started) && StateOf(path).text == state.text && MakeFolders(folder_).ok()) {
    WriteFileAtomically(entry, absl::StrCat(absolute, "\n", state.text, "\n", digest, "\n")).IgnoreError();
  }
  return digest;
}

absl::StatusOr<std::string> DigestCache::Sha256HexOfFiles(
    const std::string& folder, const std::vector<std::string>& names,
    const std::function<bool(const std::string& path)>& hashed) const {
  // A path for the folder's files that no file has.
  const std::string entry = folder_.empty() ? "" : EntryOf(AbsolutePath(JoinPath(folder, "")));
  Memory memory = entry.empty() ? Memory() : ReadMemory(entry);
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const absl::Cleanup close_it = [descriptor] {
    if (descriptor >= 0) close(descriptor);
  };
  Sha256 sum;
  bool is_new = false;
  for (const std::string& name : names) {
    const FileState state = StateOf(descriptor, name);
    const auto found = memory.find(name);
    if (found != memory.end() && !state.text.empty() && found->second.state == state.text) {
      sum.Update(absl::StrCat(name, " ", found->second.digest, "\n"));
      continue;
    }
    const std::time_t started = std::time(nullptr);
    const std::string path = JoinPath(folder, name);
    OPENSET_ASSIGN_OR_RETURN(const std::string digest, Sha256HexOfFile(path));
    sum.Update(absl::StrCat(name, " ", digest, "\n"));
    if (hashed != nullptr && !hashed(path)) continue;
    if (state.HadSettled(started) && StateOf(descriptor, name).text == state.text) {
      memory[name] = {state.text, digest};
      is_new = true;
    }
  }
  if (is_new && !entry.empty() && MakeFolders(folder_).ok()) {
    // Files that are gone are forgotten.
    for (auto it = memory.begin(); it != memory.end();) {
      it = StateOf(descriptor, it->first).text.empty() ? memory.erase(it) : std::next(it);
    }
    WriteFileAtomically(entry, ToText(memory)).IgnoreError();
  }
  return ToHex(sum.Finish());
}

}  // namespace openset
