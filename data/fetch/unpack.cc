#include "data/fetch/unpack.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/zip_reader.h"
#include "core/files/input_file.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "data/fetch/folder_below.h"
#include "data/fetch/member_writer.h"
#include "data/fetch/tar_archive.h"

namespace openset {
namespace {

absl::Status UnpackZip(const std::string& archive, int64_t max_bytes, MemberWriter* members) {
  OPENSET_ASSIGN_OR_RETURN(ZipReader zip, ZipReader::Open(archive, max_bytes));
  for (const std::string& name : zip.Names()) {
    const uint32_t kind = zip.UnixMode(name) & S_IFMT;
    if (kind != 0 && kind != S_IFREG && kind != S_IFDIR) {
      return MemberWriter::Refused(name, "is a link, a device or a pipe, which no data set needs");
    }
    if (absl::EndsWith(name, "/")) {
      OPENSET_RETURN_IF_ERROR(members->AddFolder(name));
      continue;
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string content, zip.Read(name));
    OPENSET_RETURN_IF_ERROR(members->BeginFile(name, static_cast<int64_t>(content.size())));
    OPENSET_RETURN_IF_ERROR(members->Write(content));
    OPENSET_RETURN_IF_ERROR(members->EndFile());
  }
  return absl::OkStatus();
}

// Returns the path of the archive itself or, if a program must decompress it, of the result in `folder`.
absl::StatusOr<std::string> Decompressed(const std::string& archive, const std::string& folder, int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(archive));
  std::string magic(6, '\0');
  OPENSET_ASSIGN_OR_RETURN(const size_t got, file.Read(magic.data(), magic.size()));
  magic.resize(got);
  const bool is_xz = magic == absl::string_view(
                                  "\xfd"
                                  "7zXZ\0",
                                  6),
             is_bzip2 = absl::StartsWith(magic, "BZh");
  if (!is_xz && !is_bzip2) return archive;
  const std::string unpacked = JoinPath(folder, "archive.tar"), link = unpacked + (is_xz ? ".xz" : ".bz2");
  std::error_code error;
  std::filesystem::create_symlink(std::filesystem::absolute(archive, error), link, error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot make ", link, ": ", error.message()));
  // "force": otherwise the program refuses links.
  OPENSET_RETURN_IF_ERROR(RunProgram({is_xz ? "xz" : "bzip2", "--decompress", "--keep", "--force", link}, max_bytes));
  return unpacked;
}

}  // namespace

absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& root,
                    const std::string& path) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(root));
  OPENSET_ASSIGN_OR_RETURN(const OpenFolder top, OpenFolder::Open(root));
  const std::string own = TemporaryName(JoinPath(root, ".unpacked")), files = JoinPath(own, "files");
  const absl::Cleanup remove = [&own] {
    std::error_code ignored;
    std::filesystem::remove_all(own, ignored);
  };
  if (mkdir(own.c_str(), 0700) != 0) return absl::UnavailableError(absl::StrCat("cannot make the folder ", own));
  OPENSET_RETURN_IF_ERROR(MakeFolders(files));
  OPENSET_ASSIGN_OR_RETURN(const OpenFolder fresh, OpenFolder::Open(files));
  const int64_t max_bytes = std::max(kMaxUnpackedBytes, kMaxUnpacking * FileSize(archive));
  MemberWriter members(fresh, {max_bytes});
  absl::Status status;
  if (format == Download::ZIP) {
    status = UnpackZip(archive, max_bytes, &members);
  } else {
    const absl::StatusOr<std::string> tar = Decompressed(archive, own, max_bytes);
    status = tar.ok() ? UnpackTar(*tar, &members) : tar.status();
  }
  if (absl::IsAborted(status) || absl::IsInvalidArgument(status)) status = absl::DataLossError(status.message());
  OPENSET_RETURN_IF_ERROR(status, archive, ": cannot be unpacked");
  OPENSET_ASSIGN_OR_RETURN(const OpenFolder target, top.Below(path));
  return MoveInto(fresh, target);
}

}  // namespace openset
