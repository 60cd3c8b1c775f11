#include "data/sets/data_set_problems.h"

#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/saturated.h"
#include "core/text/hex.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "data/formats/part_format.h"
#include "data/path_below.h"
#include "data/sets/data_set_parts.h"

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
  // `openset data describe` writes the absolute path of the user's images or features.
  if (absl::EndsWith(place, ".image_folder.path") || absl::EndsWith(place, ".clusters.path") ||
      absl::EndsWith(place, ".features.file.path")) {
    absl::ConsumePrefix(&path, "/");
  }
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
  if (!IsSha256(package.sha256())) problems->push_back({place + ".sha256", "must be 64 lower-case hexadecimal digits"});
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

namespace {

// As in data/readers/images/decode_image.h.
constexpr int64_t kMostPixels = int64_t{1} << 26;
constexpr int64_t kMostSamples = 1'000'000'000'000;

// Finds the problems of a single part.
void FindPartProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                      std::vector<FieldProblem>* problems) {
  if (part.samples_per_class_size() != 1 && part.samples_per_class_size() != info.class_name_size()) {
    problems->push_back({absl::StrCat(path, ".samples_per_class"),
                         absl::StrCat("must have one number, or one for each of the ", info.class_name_size(),
                                      " classes (has ", part.samples_per_class_size(), ")")});
  } else {
    int64_t sum = 0;
    for (int id = 0; id < info.class_name_size(); ++id) sum = SaturatedSum(sum, SamplesOfClass(part, id));
    if (sum != part.samples()) {
      problems->push_back({absl::StrCat(path, ".samples_per_class"),
                           absl::StrCat("sums to ", sum, ", but samples is ", part.samples())});
    }
  }
  if (part.samples() > kMostSamples) {
    problems->push_back({absl::StrCat(path, ".samples"), absl::StrCat("must be at most ", kMostSamples)});
  }
  if (part.has_content_sha256()) {
    problems->push_back({absl::StrCat(path, ".content_sha256"), "is computed from the files: remove it"});
  }
  for (const DataFile* file : FilesOf(part)) {
    if (file->has_md5() && !IsHex(file->md5(), 32)) {
      problems->push_back({path, absl::StrCat("md5 of ", file->path(), " must be 32 lower-case hexadecimal digits")});
    }
    for (const std::string& sum : file->sha256()) {
      if (!IsSha256(sum)) {
        problems->push_back(
            {path, absl::StrCat("sha256 of ", file->path(), " must be 64 lower-case hexadecimal digits")});
      }
    }
  }
  FormatOf(part).FindProblems(info, part, path, problems);
}

// Finds the problems of fields outside the layouts.
void FindClassProblems(const DataSetInfo& info, std::vector<FieldProblem>* problems) {
  if (info.class_title_size() > 0 && info.class_title_size() != info.class_name_size()) {
    problems->push_back({"class_title", absl::StrCat("must have one for each of the ", info.class_name_size(),
                                                     " classes (has ", info.class_title_size(), ")")});
  }
  std::map<absl::string_view, int> first;
  for (int id = 0; id < info.class_name_size(); ++id) {
    const auto [known, is_new] = first.emplace(info.class_name(id), id);
    if (is_new) continue;
    problems->push_back({absl::StrCat("class_name[", id, "]"),
                         absl::StrCat("'", OneLine(info.class_name(id)), "' is class ", known->second, " already")});
  }
  for (int g = 0; g < info.class_group_size(); ++g) {
    for (int i = 0; i < info.class_group(g).class_id_size(); ++i) {
      if (info.class_group(g).class_id(i) < info.class_name_size()) continue;
      problems->push_back({absl::StrCat("class_group[", g, "].class_id[", i, "]"),
                           absl::StrCat("there is no class ", info.class_group(g).class_id(i))});
    }
  }
  if (int64_t{info.height()} * info.width() > kMostPixels) {
    problems->push_back({"height", absl::StrCat("an image has at most ", kMostPixels, " pixels, not ", info.height(),
                                                " x ", info.width())});
  }
  for (const auto& [field, size] : {std::pair{"mean", info.mean_size()}, {"std", info.std_size()}}) {
    if (size == 0 || size == info.channels()) continue;
    problems->push_back({field, absl::StrCat("must have one for each of the ", info.channels(), " channels")});
  }
}

// The names and numbers of samples of all parts, which must be equal in all layouts.
std::string Signature(const DataSetInfo& info, const DataSetLayout& layout) {
  std::string text;
  for (const DataSetPart& part : layout.part()) {
    absl::StrAppend(&text, part.name());
    for (int id = 0; id < info.class_name_size(); ++id) absl::StrAppend(&text, " ", SamplesOfClass(part, id));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace

std::vector<FieldProblem> FindDataSetProblems(const DataSetInfo& info) {
  std::vector<FieldProblem> problems;
  FindClassProblems(info, &problems);
  FindFetchProblems(info, &problems);
  for (int l = 0; l < info.layout_size(); ++l) {
    std::vector<std::string> names;
    for (int p = 0; p < info.layout(l).part_size(); ++p) {
      const DataSetPart& part = info.layout(l).part(p);
      const std::string path = absl::StrCat("layout[", l, "].part[", p, "]");
      FindPartProblems(info, part, path, &problems);
      if (const std::string problem = NameProblem(part.name()); !problem.empty()) {
        problems.push_back({absl::StrCat(path, ".name"), problem});
      }
      if (absl::c_linear_search(names, part.name())) {
        problems.push_back({absl::StrCat(path, ".name"), absl::StrCat("'", part.name(), "' is listed twice")});
      }
      names.push_back(part.name());
    }
  }
  if (!problems.empty()) return problems;
  for (int l = 1; l < info.layout_size(); ++l) {
    if (Signature(info, info.layout(l)) != Signature(info, info.layout(0))) {
      problems.push_back(
          {absl::StrCat("layout[", l, "]"), "must have the parts of layout[0], with as many samples of each class"});
    }
  }
  return problems;
}

}  // namespace openset
