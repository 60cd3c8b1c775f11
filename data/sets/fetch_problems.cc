#include "data/sets/fetch_problems.h"

#include <regex>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/text/hex.h"
#include "core/text/one_line.h"
#include "data/path_below.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

bool IsPath(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         absl::c_linear_search(std::vector<std::string>{"path", "folder", "class_folder"}, field.name());
}

void CheckPath(const std::string& value, const std::string& place, std::vector<FieldProblem>* problems) {
  absl::string_view path = value;
  // `openset data describe` writes the absolute path of the user's images.
  if (absl::EndsWith(place, ".image_folder.path")) absl::ConsumePrefix(&path, "/");
  std::string why = path.empty() ? "" : WhyNotBelow(path);
  if (why.empty() && absl::StrContains(path, "//")) why = "has '//' in it";
  if (!why.empty())
    problems->push_back({place, absl::StrCat("'", OneLine(value), "' ", why, ", but must be below its folder")});
}

// Checks all paths in a message.
void FindPathProblems(const Message& message, const std::string& place, std::vector<FieldProblem>* problems) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!is_message && !IsPath(*field)) continue;
    const std::string name = absl::StrCat(place, place.empty() ? "" : ".", field->name());
    if (!field->is_repeated()) {
      if (is_message) {
        FindPathProblems(reflection.GetMessage(message, field), name, problems);
      } else {
        CheckPath(reflection.GetString(message, field), name, problems);
      }
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      const std::string element = absl::StrCat(name, "[", i, "]");
      if (is_message) {
        FindPathProblems(reflection.GetRepeatedMessage(message, field, i), element, problems);
      } else {
        CheckPath(reflection.GetRepeatedString(message, field, i), element, problems);
      }
    }
  }
}

// Whether `url` is an HTTPS address that curl can't mistake for anything else.
bool IsAddress(absl::string_view url) {
  constexpr absl::string_view kScheme = "https://";
  constexpr size_t kMostBytes = 2000;
  return absl::StartsWith(url, kScheme) && url.size() > kScheme.size() && url.size() <= kMostBytes &&
         absl::ascii_isalnum(url[kScheme.size()]) && absl::c_all_of(url, [](char c) { return absl::ascii_isgraph(c); });
}

void FindDownloadProblems(const Download& file, const std::string& place, std::vector<FieldProblem>* problems) {
  for (int u = 0; u < file.url_size(); ++u) {
    if (IsAddress(file.url(u))) continue;
    problems->push_back(
        {absl::StrCat(place, ".url[", u, "]"), "must be an address https://HOST/... in printable ASCII"});
  }
  if (file.unpack() == Download::KEEP && file.path().empty()) {
    problems->push_back({place + ".path", "must be set for a file that is kept"});
  }
  if (file.has_sha256() && !IsSha256(file.sha256())) {
    problems->push_back({place + ".sha256", "must be 64 lower-case hexadecimal digits"});
  }
  if (file.has_md5() && !IsHex(file.md5(), 32)) {
    problems->push_back({place + ".md5", "must be 32 lower-case hexadecimal digits"});
  }
  if (file.has_sha256() == !file.unverified().empty()) {
    problems->push_back({place + ".sha256", "must be given or, if it is not published, 'unverified' with the reason"});
  }
}

void FindPackageProblems(const PackageSource& package, const std::string& place, std::vector<FieldProblem>* problems) {
  static const auto* const debian = new std::regex("[a-z0-9][a-z0-9+.-]*=[A-Za-z0-9][A-Za-z0-9.+:~-]*");
  static const auto* const npm = new std::regex("(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@[0-9][A-Za-z0-9.+-]*");
  constexpr size_t kMostBytes = 200;
  const bool is_npm = package.registry() == PackageSource::NPM;
  if (package.package().size() > kMostBytes || !std::regex_match(package.package(), is_npm ? *npm : *debian)) {
    problems->push_back({place + ".package", is_npm ? "must be NAME@VERSION" : "must be NAME=VERSION"});
  }
  if (!IsSha256(package.sha256())) {
    problems->push_back({place + ".sha256", "must be 64 lower-case hexadecimal digits"});
  }
}

}  // namespace

void FindFetchProblems(const DataSetInfo& info, std::vector<FieldProblem>* problems) {
  FindPathProblems(info, "", problems);
  for (int s = 0; s < info.fetch_size(); ++s) {
    const std::string source = absl::StrCat("fetch[", s, "]");
    for (int f = 0; f < info.fetch(s).urls().file_size(); ++f) {
      FindDownloadProblems(info.fetch(s).urls().file(f), absl::StrCat(source, ".urls.file[", f, "]"), problems);
    }
    if (info.fetch(s).has_package()) FindPackageProblems(info.fetch(s).package(), source + ".package", problems);
  }
}

}  // namespace openset
