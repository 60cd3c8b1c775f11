#include "data/fetch/download.h"

#include <chrono>
#include <filesystem>
#include <future>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/md5.h"
#include "core/process/run_program.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(200);

bool HasSum(const Download& file) { return file.has_sha256() || file.has_md5(); }

void Remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

// 0 if there is none.
int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  return error ? 0 : size;
}

// The last Content-Length of a server's answers, of which a redirection's may be the first; 0 if there is none.
int64_t ContentLength(const std::string& headers_path) {
  const std::string headers = ReadFile(headers_path).value_or("");
  int64_t length = 0;
  for (absl::string_view line : absl::StrSplit(headers, '\n')) {
    constexpr absl::string_view kName = "content-length:";
    if (!absl::StartsWithIgnoreCase(line, kName)) continue;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(line.substr(kName.size())), &length)) length = 0;
  }
  return length;
}

// Goes on with `part`.
absl::Status Continue(const std::string& url, const std::string& part, int64_t bytes, const ProgressReport& progress) {
  const std::string headers = part + ".headers";
  const std::vector<std::string> arguments = {
      "curl",         "--fail",        "--location", "--retry",  "3",  "--connect-timeout", "20",    "--silent",
      "--show-error", "--continue-at", "-",          "--output", part, "--dump-header",     headers, url};
  if (progress == nullptr) {
    const absl::Status status = RunProgram(arguments);
    Remove(headers);
    return status;
  }
  const int64_t before = SizeOf(part);
  std::future<absl::Status> ran = std::async(std::launch::async, [&] { return RunProgram(arguments); });
  do {
    const int64_t done = SizeOf(part);
    const int64_t length = ContentLength(headers);
    const int64_t total = bytes > 0 ? bytes : length > 0 ? before + length : 0;
    progress(absl::StrCat("fetching ", std::filesystem::path(url).filename().string()), done, total < done ? 0 : total);
  } while (ran.wait_for(kPoll) != std::future_status::ready);
  Remove(headers);
  return ran.get();
}

}  // namespace

absl::Status CheckDownload(const std::string& path, const Download& file) {
  if (file.has_sha256()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string sum, Sha256HexOfFile(path));
    if (sum == file.sha256()) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(path, ": SHA-256 is ", sum, ", not ", file.sha256()));
  }
  if (file.has_md5()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string sum, Md5HexOfFile(path));
    if (sum == file.md5()) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat(path, ": MD5 is ", sum, ", not ", file.md5()));
  }
  return FileExists(path) ? absl::OkStatus() : absl::NotFoundError(absl::StrCat("cannot open ", path));
}

absl::Status DownloadFile(const Download& file, const std::string& destination, const ProgressReport& progress) {
  const std::string part = destination + ".part";
  if (FileExists(destination) && CheckDownload(destination, file).ok()) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(destination).parent_path().string()));
  absl::Status status;
  // A part may be whole already: then there is nothing to go on with.
  bool whole = HasSum(file) && FileExists(part) && CheckDownload(part, file).ok();
  for (const std::string& url : file.url()) {
    if (whole) break;
    const bool had_part = FileExists(part);
    status = Continue(url, part, file.bytes(), progress);
    if (absl::IsNotFound(status)) return status;  // no curl
    if (!status.ok() && !had_part) continue;
    if (status.ok()) status = CheckDownload(part, file);
    whole = status.ok();
    if (whole || !had_part) continue;
    // What was there was of another file, or the server can't go on.
    Remove(part);
    status = Continue(url, part, file.bytes(), progress);
    if (status.ok()) status = CheckDownload(part, file);
    whole = status.ok();
  }
  if (!whole) {
    if (absl::IsDataLoss(status)) {
      Remove(part);
      return absl::DataLossError(absl::StrCat(status.message(), "; it came from ", file.url(file.url_size() - 1)));
    }
    return absl::UnavailableError(absl::StrCat("cannot fetch ", file.url(file.url_size() - 1), ": ", status.message()));
  }
  std::error_code error;
  std::filesystem::rename(part, destination, error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot make ", destination, ": ", error.message()));
  return absl::OkStatus();
}

}  // namespace openset
