#include "experiments/engine/slurm/program_copy.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/files/system_calls.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

constexpr char kRunfiles[] = "program.runfiles";
constexpr char kSums[] = "files.sha256";
constexpr char kLinked[] = "linked";

struct ProgramFile {
  std::string source;  // links resolved
  std::string path;    // relative to the copy's folder; absolute if the file stays where it is
  bool is_linked = false;
};

// The contents of the two lists of a copy.
struct Lists {
  std::string sums;
  std::string linked;
};

// Sorted by path.
absl::StatusOr<std::vector<ProgramFile>> FilesOf(const std::string& runfiles, const std::vector<std::string>& others) {
  std::vector<ProgramFile> files;
  std::error_code error;
  fs::recursive_directory_iterator next(runfiles, fs::directory_options::follow_directory_symlink, error);
  for (; !error && next != fs::recursive_directory_iterator(); next.increment(error)) {
    if (next->is_directory(error)) continue;
    const std::string path = JoinPath(kRunfiles, next->path().lexically_relative(runfiles).string());
    files.push_back({next->path().string(), path});
  }
  if (error) return absl::NotFoundError(absl::StrCat("cannot list ", runfiles, ": ", error.message()));
  for (const std::string& other : others) files.push_back({other, other});
  for (ProgramFile& file : files) {
    const fs::path source = fs::canonical(file.source, error);
    if (!error) file.is_linked = static_cast<int64_t>(fs::file_size(source, error)) >= kLinkedBytes;
    if (error) return absl::NotFoundError(absl::StrCat("cannot read ", file.source, ": ", error.message()));
    file.source = source.string();
  }
  std::sort(files.begin(), files.end(), [](const ProgramFile& a, const ProgramFile& b) { return a.path < b.path; });
  return files;
}

absl::StatusOr<Lists> ListsOf(const std::vector<ProgramFile>& files) {
  Lists lists;
  for (const ProgramFile& file : files) {
    // Linked files are large, so their digests are cached.
    OPENSET_ASSIGN_OR_RETURN(const std::string sha256, file.is_linked ? DigestCache::OfUser().Sha256Hex(file.source)
                                                                      : Sha256HexOfFile(file.source));
    absl::StrAppend(file.is_linked ? &lists.linked : &lists.sums, sha256, "  ", file.path, "\n");
  }
  absl::StrAppend(&lists.sums, Sha256Hex(lists.linked), "  ", kLinked, "\n");
  return lists;
}

// Sets the mode of a copied file to its source's, restricted by the folder's mode: the source may grant more than this
// process's umask allows.
void TakeMode(const std::string& path, const std::string& folder) {
  struct stat info = {}, of_folder = {};
  if (stat(path.c_str(), &info) == 0 && stat(folder.c_str(), &of_folder) == 0) {
    chmod(path.c_str(), info.st_mode & of_folder.st_mode & 0777);
  }
}

// Makes a hard link if possible, else a symbolic link.
void Link(const std::string& source, const std::string& path, std::error_code* error) {
  fs::create_hard_link(source, path, *error);
  if (*error) fs::create_symlink(source, path, *error);
}

// Writes all files into `folder`, which is to become `copy`.
absl::Status Fill(const std::string& folder, const std::vector<ProgramFile>& files, const Lists& lists,
                  const ProgramCopy& copy) {
  for (const ProgramFile& file : files) {
    if (fs::path(file.path).is_absolute()) continue;
    const std::string path = JoinPath(folder, file.path);
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (!error && file.is_linked) {
      Link(file.source, path, &error);
    } else if (!error) {
      fs::copy_file(file.source, path, error);
      TakeMode(path, folder);
    }
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("cannot copy ", file.source, " into ", copy.folder, ": ", error.message()));
    }
  }
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, kLinked), lists.linked));
  return WriteFileAtomically(JoinPath(folder, kSums), lists.sums);
}

// Makes the copy atomically: either all of it appears or nothing. File contents are not synced: the check detects files
// that a power cut damaged.
absl::Status Make(const Store& store, const std::vector<ProgramFile>& files, const Lists& lists,
                  const ProgramCopy& copy) {
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, store.NewStagingFolder(copy.sha256));
  absl::Status made = Fill(staging, files, lists, copy);
  if (made.ok()) made = CheckProgram({fs::absolute(staging).string(), copy.sha256, ""});
  if (absl::IsFailedPrecondition(made)) {
    made = absl::FailedPreconditionError(absl::StrCat(
        copy.program, ": the program changed while it was copied here for Slurm's tasks; run the same command again"));
  }
  if (made.ok()) return store.CommitFolder(staging, copy.folder).status();
  RemoveTree(staging).IgnoreError();
  return made;
}

}  // namespace

// If sha256sum is missing or fails, the file counts as wrong. The cache of a linked file is an empty file with this
// name. A file that changed a moment ago is not cached, since it may change again within the same tick of the clock.
const char kCheckProgram[] = R"SH(cd "$program" 2>&1 && {
  { echo "$sha256  files.sha256" | sha256sum --check --quiet && sha256sum --check --quiet files.sha256; } ||
    echo "files.sha256: FAILED"
  LC_ALL=C comm -23 <(find . ! -type d -printf '%P\n' | LC_ALL=C sort) \
    <({ cut -c 67- files.sha256 linked; echo files.sha256; } | LC_ALL=C sort) |
    while IFS= read -r path; do echo "$path: FAILED, not part of the copy"; done
  remembered=${HOME:+$HOME/.cache/openset/programs}
  while read -r sum path; do
    state=$(stat --dereference --format='%d %i %s %.9Y %.9Z' "$path")
    known=$remembered/$(echo "$sum $state $(uname -n)" | sha256sum | cut -c 1-64)
    [ -n "$state" ] && [ -n "$remembered" ] && [ -f "$known" ] && continue
    now=$(date +%s)
    if [ -z "$state" ] || ! echo "$sum  $path" | sha256sum --check --quiet; then
      echo "$path: FAILED"
    elif changed=${state##* } && [ $((now - ${changed%.*})) -gt 2 ] &&
        [ "$state" = "$(stat --dereference --format='%d %i %s %.9Y %.9Z' "$path")" ] && [ -n "$remembered" ]; then
      mkdir -p -m 700 "$remembered" && : > "$known"
    fi
  done < linked
} 2>/dev/null | { read -r first && echo "$first"; }
)SH";

absl::StatusOr<ProgramCopy> CopyProgram(const Store& store, const std::string& runfiles, const std::string& program,
                                        const std::vector<std::string>& others) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ProgramFile> files, FilesOf(runfiles, others));
  const auto own =
      std::find_if(files.begin(), files.end(), [&](const ProgramFile& file) { return file.source == program; });
  if (own == files.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat(program, ": no longer matches ", runfiles,
                     ", so it can't be copied for Slurm's tasks: it was rebuilt; run the same command again"));
  }
  OPENSET_ASSIGN_OR_RETURN(const Lists lists, ListsOf(files));
  ProgramCopy copy;
  copy.sha256 = Sha256Hex(lists.sums);
  copy.folder = fs::absolute(JoinPath(JoinPath(store.folder(), "programs"), copy.sha256)).string();
  copy.program = JoinPath(copy.folder, own->path);
  OPENSET_RETURN_IF_ERROR(CheckNoLink(JoinPath(JoinPath(store.folder(), "programs"), copy.sha256)));
  if (FileExists(copy.folder)) {
    const absl::Status intact = CheckProgram(copy);
    if (intact.ok()) {
      std::error_code ignored;  // `records gc` uses this time
      fs::last_write_time(copy.folder, fs::file_time_type::clock::now(), ignored);
      return copy;
    }
    // Queued tasks use the copy, so it is only replaced if it is known to be wrong.
    if (!absl::IsFailedPrecondition(intact)) return intact;
    OPENSET_RETURN_IF_ERROR(store.Remove(copy.folder));
  }
  OPENSET_RETURN_IF_ERROR(Make(store, files, lists, copy));
  return copy;
}

absl::Status CheckProgram(const ProgramCopy& copy) {
  const std::string script = absl::StrCat("program=$1 sha256=$2\n", kCheckProgram, "true\n");
  OPENSET_ASSIGN_OR_RETURN(const std::string wrong,
                           CaptureOutput({"bash", "-c", script, "bash", copy.folder, copy.sha256}));
  if (wrong.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(copy.folder, ": ", absl::StripAsciiWhitespace(wrong),
                   ": the copied program has changed since it was submitted; run the same command again"));
}

}  // namespace openset
