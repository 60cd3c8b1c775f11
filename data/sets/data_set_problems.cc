#include "data/sets/data_set_problems.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/saturated.h"
#include "core/text/hex.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "data/formats/part_format.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/fetch_problems.h"

namespace openset {
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
