#include "data/fetch/member_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/path_below.h"

namespace openset {
namespace {

absl::Status SystemError(absl::string_view what, absl::string_view name) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, " ", OneLine(name), ": ", std::strerror(errno)));
}

}  // namespace

MemberWriter::~MemberWriter() {
  if (file_ >= 0) close(file_);
}

absl::Status MemberWriter::Refused(absl::string_view name, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("member '", OneLine(name), "' ", what));
}

absl::Status MemberWriter::TooLarge(absl::string_view name) const {
  return Refused(name, absl::StrCat("brings the total to more than ", limits_.bytes,
                                    " bytes, which is refused: if this is intended, unpack the archive by hand"));
}

absl::Status MemberWriter::CountMember(const std::string& name) {
  const std::string why = WhyNotBelow(name);
  if (!why.empty()) return Refused(name, absl::StrCat("has a name that ", why));
  if (++members_ > limits_.members) return Refused(name, absl::StrCat("is one more than ", limits_.members));
  return absl::OkStatus();
}

absl::Status MemberWriter::AddFolder(const std::string& name) {
  OPENSET_RETURN_IF_ERROR(CountMember(name));
  const absl::Status made = folder_.Below(name).status();
  return absl::IsFailedPrecondition(made) ? Refused(name, "is a folder where another member is a file") : made;
}

absl::Status MemberWriter::BeginFile(const std::string& name, int64_t bytes) {
  OPENSET_RETURN_IF_ERROR(CountMember(name));
  if (bytes < 0 || bytes > limits_.bytes - bytes_) return TooLarge(name);
  const size_t slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  if (last.empty() || last == ".") return Refused(name, "is a file without a name");
  const auto folder = folder_.Below(slash == std::string::npos ? "" : absl::string_view(name).substr(0, slash));
  if (absl::IsFailedPrecondition(folder.status()))
    return Refused(name, "is below a path that another member uses for a file");
  OPENSET_RETURN_IF_ERROR(folder.status());
  const auto make = [&] {
    return openat(folder->descriptor(), last.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  };
  file_ = make();
  if (file_ < 0 && errno == EEXIST && unlinkat(folder->descriptor(), last.c_str(), 0) == 0) file_ = make();
  if (file_ < 0 && (errno == EEXIST || errno == EISDIR)) return Refused(name, "is a file where another is a folder");
  if (file_ < 0) return SystemError("make", name);
  name_ = name;
  return absl::OkStatus();
}

absl::Status MemberWriter::Write(absl::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes_ > limits_.bytes) return TooLarge(name_);
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write", name_);
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status MemberWriter::EndFile() {
  return close(std::exchange(file_, -1)) == 0 || errno == EINTR ? absl::OkStatus() : SystemError("write", name_);
}

}  // namespace openset
