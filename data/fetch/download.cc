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
#include "core/files/input_file.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(200);
// How often the connection may break, each time after more bytes.
constexpr int kMostBreaks = 20;
// The limit on the size of the answers' headers.
constexpr int64_t kMaxHeaderBytes = 1 << 20;

bool CanBeChecked(const Download& file) { return file.has_sha256() || file.has_md5() || file.has_bytes(); }

void Remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

// The headers of a server's answers; the first ones may be redirections.
struct Answers {
  int status = 0;      // of the last one: 200, 404 ...; 0 if there is none
  int64_t length = 0;  // the last Content-Length; 0 if there is none
};

Answers ReadAnswers(const std::string& headers_path) {
  const std::string headers = ReadFile(headers_path, kMaxHeaderBytes).value_or("");
  Answers answers;
  for (const absl::string_view line : absl::StrSplit(headers, '\n')) {
    constexpr absl::string_view kLength = "content-length:";
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (absl::StartsWith(line, "HTTP/") && words.size() > 1) {
      if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(words[1]), &answers.status)) answers.status = 0;
    } else if (absl::StartsWithIgnoreCase(line, kLength)) {
      if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(line.substr(kLength.size())), &answers.length)) {
        answers.length = 0;
      }
    }
  }
  return answers;
}

// Explains the exit codes of curl that users may meet.
std::string Reason(int code) {
  switch (code) {
    case 6:
      return "its host is not known (is there a network?)";
    case 7:
      return "nothing answers there";
    case 18:
      return "the connection broke off";
    case 23:
      return "the file can't be written (is the disk full?)";
    case 28:
      return "the server was too slow";
    case 35:
    case 60:
      return "no secure connection could be made";
    default:
      return absl::StrCat("curl exited with ", code);
  }
}

// Resumes `part`. Errors: kOutOfRange if the server can't resume it; kNotFound if there is no curl; kAborted if the
// connection broke; the part then has what was downloaded.
absl::Status Continue(const std::string& url, const std::string& part, const Download& file,
                      const DownloadOptions& options) {
  const std::string headers = part + ".headers";
  // curl would write through a link.
  for (const std::string& path : {part, headers}) {
    std::error_code ignored;
    if (!std::filesystem::is_symlink(path, ignored)) continue;
    return absl::FailedPreconditionError(absl::StrCat(path, " is a link: remove it"));
  }
  const int64_t bytes = file.bytes(), most = file.has_bytes() ? bytes : file.max_bytes();
  // Less than 100 bytes/s for a minute counts as a break. "globoff": otherwise an address with braces or brackets is a
  // pattern.
  const std::vector<std::string> arguments = {"curl",
                                              "--fail",
                                              "--location",
                                              "--max-redirs",
                                              "10",
                                              "--retry",
                                              "3",
                                              "--connect-timeout",
                                              "20",
                                              "--speed-limit",
                                              "100",
                                              "--speed-time",
                                              "60",
                                              "--silent",
                                              "--globoff",
                                              "--proto",
                                              options.protocols,
                                              "--proto-redir",
                                              options.protocols,
                                              "--max-filesize",
                                              absl::StrCat(most),
                                              "--continue-at",
                                              "-",
                                              "--output",
                                              part,
                                              "--dump-header",
                                              headers,
                                              "--url",
                                              url};
  absl::StatusOr<ProcessEnd> ran_to_end;
  // Limits the file's size too: curl can check it in advance only if the server states it.
  const auto run = [&] { return RunToEnd(arguments, most); };
  const ProgressReport& progress = options.progress;
  if (progress == nullptr) {
    ran_to_end = run();
  } else {
    const int64_t before = FileSize(part);
    // If the system gives no thread, get() runs it in this one, without progress.
    std::future<absl::StatusOr<ProcessEnd>> ran = std::async(std::launch::async | std::launch::deferred, run);
    do {
      const int64_t done = FileSize(part), length = ReadAnswers(headers).length;
      const int64_t total = bytes > 0 ? bytes : length > 0 ? before + length : 0;
      progress(absl::StrCat("fetching ", std::filesystem::path(url).filename().string()), done,
               total < done ? 0 : total);
    } while (ran.wait_for(kPoll) == std::future_status::timeout);
    ran_to_end = ran.get();
  }
  const int answer = ReadAnswers(headers).status;
  Remove(headers);
  if (!ran_to_end.ok()) {
    return absl::IsNotFound(ran_to_end.status()) ? ran_to_end.status()
                                                 : absl::AbortedError(ran_to_end.status().message());
  }
  const ProcessEnd& end = *ran_to_end;
  if (end.ok()) return absl::OkStatus();
  if (answer >= 400 && answer != 416) return absl::AbortedError(absl::StrCat("the server answered ", answer));
  constexpr int kCantWrite = 23, kTooLarge = 63;
  // HTTP's "Range not satisfiable"; a server without ranges; a file that is shorter than the part (FTP, files).
  if (answer == 416 || end.exit_code == 33 || end.exit_code == 36) {
    return absl::OutOfRangeError("the server can't resume the partial download");
  }
  if (end.exit_code == kTooLarge || (end.exit_code == kCantWrite && FileSize(part) >= most)) {
    return absl::DataLossError(absl::StrCat("has more than ", most, " bytes, the limit that the catalog states"));
  }
  return end.signal == 0 ? absl::AbortedError(Reason(end.exit_code)) : end.ToStatus("curl");
}

// Downloads the complete file from one address and checks it. An existing part is resumed, as long as each connection
// adds some bytes, and stays if the download fails in the end. It is deleted and downloaded again if it turns out to be
// of another file or the server can't resume it.
absl::Status FetchFrom(const std::string& url, const std::string& part, const Download& file,
                       const DownloadOptions& options) {
  bool is_from_here = !FileExists(part);
  for (int breaks = 0;;) {
    const int64_t before = FileSize(part);
    absl::Status status = Continue(url, part, file, options);
    if (absl::IsAborted(status)) {
      if (FileSize(part) <= before || ++breaks > kMostBreaks) return status;
      continue;
    }
    if (status.ok()) status = CheckDownload(part, file);
    if ((!absl::IsDataLoss(status) && !absl::IsOutOfRange(status)) || is_from_here) return status;
    Remove(part);
    is_from_here = true;
  }
}

}  // namespace

absl::Status CheckDownload(const std::string& path, const Download& file) {
  if (file.has_bytes()) {
    OPENSET_ASSIGN_OR_RETURN(const InputFile there, OpenRegularFile(path));
    if (there.bytes() != file.bytes()) {
      return absl::DataLossError(absl::StrCat(path, ": has ", there.bytes(), " bytes, not ", file.bytes()));
    }
  }
  if (file.has_sha256()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string sum, Sha256HexOfFile(path));
    if (sum != file.sha256()) {
      return absl::DataLossError(absl::StrCat(path, ": SHA-256 is ", sum, ", not ", file.sha256()));
    }
  }
  if (file.has_md5()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string sum, Md5HexOfFile(path));
    if (sum != file.md5()) return absl::DataLossError(absl::StrCat(path, ": MD5 is ", sum, ", not ", file.md5()));
  }
  return FileExists(path) ? absl::OkStatus() : absl::NotFoundError(absl::StrCat("cannot open ", path));
}

absl::Status DownloadFile(const Download& file, const std::string& destination, const DownloadOptions& options) {
  const std::string part = destination + ".part";
  absl::Status status = CheckDownload(destination, file);
  // A file that can't be read now may be the right one.
  if (!absl::IsNotFound(status) && !absl::IsDataLoss(status)) return status;
  status = absl::OkStatus();
  // The part may already be complete, so that nothing is left to download.
  bool whole = CanBeChecked(file) && FileExists(part) && CheckDownload(part, file).ok();
  for (const std::string& url : file.url()) {
    if (whole) break;
    status = FetchFrom(url, part, file, options);
    if (absl::IsNotFound(status) || absl::IsFailedPrecondition(status)) return status;  // no curl, or a link
    whole = status.ok();
    // Bytes of a wrong file must not become the beginning of the next address's download.
    if (absl::IsDataLoss(status)) Remove(part);
  }
  if (!whole) {
    if (absl::IsDataLoss(status)) {
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
