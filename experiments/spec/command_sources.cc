#include "experiments/spec/command_sources.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

constexpr size_t kMostSources = 10000;
constexpr int64_t kMostSourceBytes = int64_t{256} << 20;

// The files of the sources, by their paths relative to the folder.
class SourceFiles {
 public:
  explicit SourceFiles(const std::string& folder) : folder_(folder) {}

  absl::Status Add(const std::string& source) {
    const std::filesystem::path path = std::filesystem::path(source).lexically_normal();
    const bool is_below = path.is_relative() && !path.empty() && *path.begin() != "..";
    if (!is_below) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", OneLine(source), "' must be a path below the folder of this file"));
    }
    return AddPath(path.has_filename() ? path : path.parent_path());
  }

  const std::map<std::string, std::string>& content() const { return content_; }

  std::string Digest() const {
    std::string lines;
    for (const auto& [path, bytes] : content_) absl::StrAppend(&lines, Sha256Hex(bytes), " ", path, "\n");
    return Sha256Hex(lines);
  }

 private:
  absl::Status AddPath(const std::filesystem::path& path) {
    const std::string whole = path == "." ? folder_ : JoinPath(folder_, path.string());
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::symlink_status(whole, error);
    if (status.type() == std::filesystem::file_type::not_found) {
      return absl::NotFoundError(absl::StrCat("no such file or folder: ", whole));
    }
    if (status.type() == std::filesystem::file_type::symlink) {
      return absl::InvalidArgumentError(absl::StrCat(whole, " is a link: name what it leads to"));
    }
    if (status.type() != std::filesystem::file_type::directory) return AddFile(path.string(), whole);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(whole));
    for (const std::string& name : names) {
      if (name[0] == '.' || name == "__pycache__" || absl::EndsWith(name, ".pyc")) continue;
      OPENSET_RETURN_IF_ERROR(AddPath(path == "." ? std::filesystem::path(name) : path / name));
    }
    return absl::OkStatus();
  }

  absl::Status AddFile(const std::string& path, const std::string& whole) {
    if (content_.count(path) > 0) return absl::OkStatus();
    OPENSET_ASSIGN_OR_RETURN(std::string bytes, ReadFile(whole, kMostSourceBytes));
    bytes_ += static_cast<int64_t>(bytes.size());
    content_.emplace(path, std::move(bytes));
    if (content_.size() <= kMostSources && bytes_ <= kMostSourceBytes) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the sources are more than ", kMostSources, " files or ",
                                                   kMostSourceBytes >> 20, " MB: name only what the program needs"));
  }

  const std::string folder_;
  std::map<std::string, std::string> content_;
  int64_t bytes_ = 0;
};

}  // namespace

std::vector<FieldProblem> ResolveCommand(const std::string& folder, CommandSpec* command) {
  command->clear_folder();
  if (command->source().empty()) return {};  // they may be those of another file, whose other fields this one changes
  command->set_folder(AbsolutePath(folder.empty() ? "." : folder));
  SourceFiles files(command->folder());
  for (int s = 0; s < command->source_size(); ++s) {
    const absl::Status added = files.Add(command->source(s));
    if (added.ok()) continue;
    if (absl::IsNotFound(added) && command->has_source_sha256()) return {};
    return {{absl::StrCat("training.command.source[", s, "]"), std::string(added.message())}};
  }
  const std::string sha256 = files.Digest();
  if (!command->has_source_sha256()) command->set_source_sha256(sha256);
  if (command->source_sha256() == sha256) return {};
  return {{"training.command.source_sha256", absl::StrCat("the sources in ", command->folder(), " have the SHA-256 ",
                                                          sha256, ": restore the original files, or correct this")}};
}

std::string SourcesText(const CommandSpec& command) {
  return absl::StrCat(OneLine(absl::StrJoin(command.source(), ", ")),
                      " (SHA-256 of all, as source_sha256: ", OneLine(command.source_sha256()), ")");
}

absl::Status FindSources(const std::vector<std::string>& folders, CommandSpec* command) {
  if (command->source().empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const std::string& folder : folders) {
    SourceFiles files(folder);
    absl::Status added;
    for (const std::string& source : command->source()) {
      if (added.ok()) added = files.Add(source);
    }
    if (added.ok() && files.Digest() == command->source_sha256()) {
      command->set_folder(folder);
      return absl::OkStatus();
    }
    lines.push_back(added.ok() ? absl::StrCat("those in ", folder, " have ", files.Digest())
                               : std::string(added.message()));
  }
  return absl::NotFoundError(absl::StrCat("the command's sources are missing: ", SourcesText(*command),
                                          ": put them into the current folder, or into the methods/ of a --library (",
                                          absl::StrJoin(lines, "; "), ")"));
}

absl::Status CopySources(const CommandSpec& command, const std::string& to) {
  SourceFiles files(command.folder());
  for (const std::string& source : command.source()) OPENSET_RETURN_IF_ERROR(files.Add(source));
  if (command.source_size() > 0 && files.Digest() != command.source_sha256()) {
    return absl::DataLossError(absl::StrCat(
        "the sources in ", command.folder(), " have SHA-256 ", files.Digest(), ", not ", command.source_sha256(),
        ": they were changed since the study was planned; run the same command again"));
  }
  for (const auto& [path, bytes] : files.content()) {
    const std::string copy = JoinPath(to, path);
    OPENSET_RETURN_IF_ERROR(MakeFolders(copy.substr(0, copy.rfind('/'))));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(copy, bytes));
  }
  return absl::OkStatus();
}

}  // namespace openset
