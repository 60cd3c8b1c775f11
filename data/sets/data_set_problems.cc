#include "data/sets/data_set_problems.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/saturated.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "data/path_below.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/fetch_problems.h"

namespace openset {
namespace {

// As in data/readers/images/decode_image.h.
constexpr int64_t kMostPixels = int64_t{1} << 26;
constexpr int64_t kMostSamples = 1'000'000'000'000;

bool IsSha256(absl::string_view text) { return IsHex(text, 64); }

// Of images that are files of their own.
void FindImageFileProblems(const DataSetInfo& info, const std::string& path, std::vector<FieldProblem>* problems) {
  if (info.channels() != 1 && info.channels() != 3) {
    problems->push_back({path, absl::StrCat("holds images of 1 or 3 channels, not ", info.channels())});
  }
  if ((info.height() == 0) != (info.width() == 0)) {
    problems->push_back({path, "height and width must both be 0 where images have sizes of their own"});
  }
}

void FindFolderProblems(const DataSetInfo& info, const ImageFolderFiles& folder, const std::string& path,
                        std::vector<FieldProblem>* problems) {
  if (folder.class_folder_size() != 0 && folder.class_folder_size() != info.class_name_size()) {
    problems->push_back({absl::StrCat(path, ".class_folder"),
                         absl::StrCat("must have one folder for each of the ", info.class_name_size(), " classes (has ",
                                      folder.class_folder_size(), ")")});
  }
  if (folder.has_listing_sha256() && !IsSha256(folder.listing_sha256())) {
    problems->push_back({absl::StrCat(path, ".listing_sha256"), "must be 64 lower-case hexadecimal digits"});
  }
  FindImageFileProblems(info, path, problems);
  if (folder.class_folder_size() != 0) return;
  for (int id = 0; id < info.class_name_size(); ++id) {  // which are the folders
    const std::string why = WhyNotBelow(info.class_name(id));
    if (why.empty()) continue;
    problems->push_back({absl::StrCat("class_name[", id, "]"),
                         absl::StrCat("'", OneLine(info.class_name(id)), "' ", why, ", and is a folder below that of ",
                                      path, ": name the folders in class_folder")});
  }
}

// The labels that stand for the classes in a file.
template <typename Labels>
void FindLabelProblems(const DataSetInfo& info, const Labels& labels, const std::string& path,
                       std::vector<FieldProblem>* problems) {
  if (labels.empty()) return;
  if (labels.size() != info.class_name_size()) {
    problems->push_back({path, absl::StrCat("must have one label for each of the ", info.class_name_size(),
                                            " classes (has ", labels.size(), ")")});
  } else if (std::set<int32_t>(labels.begin(), labels.end()).size() != labels.size()) {
    problems->push_back({path, "has a label for two classes"});
  }
}

// Problems of one part by itself.
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
    problems->push_back({absl::StrCat(path, ".content_sha256"), "is taken from the files: leave it out"});
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
  FindLabelProblems(info, part.idx().class_label(), absl::StrCat(path, ".idx.class_label"), problems);
  FindLabelProblems(info, part.mat().class_label(), absl::StrCat(path, ".mat.class_label"), problems);
  FindLabelProblems(info, part.npz().class_label(), absl::StrCat(path, ".npz.class_label"), problems);
  if (part.has_image_folder()) {
    FindFolderProblems(info, part.image_folder(), absl::StrCat(path, ".image_folder"), problems);
  } else if (part.has_image_list()) {
    FindImageFileProblems(info, absl::StrCat(path, ".image_list"), problems);
    if (part.image_list().has_part_table() != part.image_list().has_part_value()) {
      problems->push_back({absl::StrCat(path, ".image_list.part_value"), "belongs to part_table"});
    }
  } else if (info.height() == 0 || info.width() == 0) {
    problems->push_back({path, "holds images of one size, which height and width must say"});
  }
  if (part.has_cifar_binary() && part.cifar_binary().label_at() >= part.cifar_binary().label_bytes()) {
    problems->push_back({absl::StrCat(path, ".cifar_binary.label_at"), "must be below label_bytes"});
  }
  if (part.has_png_sheet() && info.channels() != 3) {
    problems->push_back({absl::StrCat(path, ".png_sheet"), "holds images of 3 channels"});
  }
  if (part.has_noise() && SamplesOfClass(part, 0) != part.samples()) {
    problems->push_back({absl::StrCat(path, ".noise"), "makes images of class 0 only"});
  }
  if (part.has_npz() && info.channels() != 1 && info.channels() != 3) {
    problems->push_back({absl::StrCat(path, ".npz"), "holds images of 1 or 3 channels"});
  }
  if (part.has_idx() && info.channels() != 1) {
    problems->push_back({absl::StrCat(path, ".idx"), "holds images of 1 channel"});
  }
}

// Problems of what is said beside the layouts.
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

// Name and numbers of samples of every part: what layouts share.
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
        problems.push_back({absl::StrCat(path, ".name"), absl::StrCat("'", part.name(), "' is there twice")});
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
