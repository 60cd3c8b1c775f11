#include "data/catalog.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/proto/proto_digest.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "data/folder_data_set.h"
#include "data/selection.h"

namespace openset {
namespace {

bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}
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
    for (int id = 0; id < info.class_name_size(); ++id) sum += SamplesOfClass(part, id);
    if (sum != part.samples()) {
      problems->push_back({absl::StrCat(path, ".samples_per_class"),
                           absl::StrCat("sums to ", sum, ", but samples is ", part.samples())});
    }
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
  for (int g = 0; g < info.class_group_size(); ++g) {
    for (int i = 0; i < info.class_group(g).class_id_size(); ++i) {
      if (info.class_group(g).class_id(i) < info.class_name_size()) continue;
      problems->push_back({absl::StrCat("class_group[", g, "].class_id[", i, "]"),
                           absl::StrCat("there is no class ", info.class_group(g).class_id(i))});
    }
  }
  for (const auto& [field, size] : {std::pair{"mean", info.mean_size()}, {"std", info.std_size()}}) {
    if (size == 0 || size == info.channels()) continue;
    problems->push_back({field, absl::StrCat("must have one for each of the ", info.channels(), " channels")});
  }
  for (int s = 0; s < info.fetch_size(); ++s) {
    for (int f = 0; f < info.fetch(s).urls().file_size(); ++f) {
      const Download& file = info.fetch(s).urls().file(f);
      const std::string path = absl::StrCat("fetch[", s, "].urls.file[", f, "]");
      if (file.unpack() == Download::KEEP && file.path().empty()) {
        problems->push_back({path + ".path", "must be set for a file that is kept"});
      }
      if (file.has_sha256() && !IsSha256(file.sha256())) {
        problems->push_back({path + ".sha256", "must be 64 lower-case hexadecimal digits"});
      }
      if (file.has_md5() && !IsHex(file.md5(), 32)) {
        problems->push_back({path + ".md5", "must be 32 lower-case hexadecimal digits"});
      }
    }
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
  for (int l = 0; l < info.layout_size(); ++l) {
    std::vector<std::string> names;
    for (int p = 0; p < info.layout(l).part_size(); ++p) {
      const DataSetPart& part = info.layout(l).part(p);
      const std::string path = absl::StrCat("layout[", l, "].part[", p, "]");
      FindPartProblems(info, part, path, &problems);
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

absl::StatusOr<Catalog> Catalog::Open(const std::string& folder) { return Open(std::vector<std::string>{folder}); }

absl::StatusOr<Catalog> Catalog::Open(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> paths;  // by file name
  std::vector<std::string> lines;
  for (const std::string& folder : folders) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder));
    for (const std::string& file : names) {
      if (!absl::EndsWith(file, ".textproto")) continue;
      const std::string path = JoinPath(folder, file);
      const auto [entry, is_new] = paths.emplace(file, path);
      if (is_new || ReadFile(path).value_or("") == ReadFile(entry->second).value_or("")) continue;
      lines.push_back(absl::StrCat("two files are data set '", absl::StripSuffix(file, ".textproto"),
                                   "': ", entry->second, " and ", path, "; give one another name"));
    }
  }
  std::vector<DataSetInfo> data_sets;
  for (const auto& [file, path] : paths) {
    DataSetInfo info;
    const absl::StatusOr<TextSource> source = ReadTextProto(path, &info);
    if (!source.ok()) {
      lines.emplace_back(source.status().message());
      continue;
    }
    FillDefaults(&info);
    for (const FieldProblem& problem : FindDataSetProblems(info)) {
      lines.push_back(absl::StrCat(source->Where(problem.path), ": ", problem.message));
    }
    if (absl::StrCat(info.name(), ".textproto") != file) {
      lines.push_back(absl::StrCat(source->Where("name"), ": must be the file's name"));
    }
    data_sets.push_back(std::move(info));
  }
  if (!lines.empty()) return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
  return Catalog(data_sets);
}

Catalog::Catalog(const std::vector<DataSetInfo>& data_sets) {
  for (const DataSetInfo& info : data_sets) data_sets_[info.name()] = info;
}

absl::StatusOr<const DataSetInfo*> Catalog::Find(absl::string_view name) const {
  if (absl::StartsWith(name, kFolderPrefix)) {
    const std::lock_guard<std::mutex> lock(folders_->mutex);
    const auto known = folders_->found.find(name);
    if (known != folders_->found.end()) return &known->second;
    const FolderRequest request{std::string(name), std::string(absl::StripPrefix(name, kFolderPrefix))};
    OPENSET_ASSIGN_OR_RETURN(DataSetInfo info, DescribeFolder(request), "data set '", name, "'");
    return &folders_->found.emplace(name, std::move(info)).first->second;
  }
  const auto found = data_sets_.find(name);
  if (found == data_sets_.end()) return absl::NotFoundError(UnknownName("data set", name, names()));
  return &found->second;
}

DataSetInfo* Catalog::FindMutable(absl::string_view name) {
  const absl::StatusOr<const DataSetInfo*> found = Find(name);
  // What it finds is in a map of this catalog, which is not const.
  return found.ok() ? const_cast<DataSetInfo*>(*found) : nullptr;
}

std::vector<std::string> Catalog::names() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : data_sets_) names.push_back(name);
  return names;
}

std::vector<std::string> PartNames(const DataSetInfo& info) {
  std::vector<std::string> names;
  for (const DataSetPart& part : info.layout(0).part()) names.push_back(part.name());
  return names;
}

absl::StatusOr<const DataSetPart*> FindPart(const DataSetInfo& info, absl::string_view part) {
  for (const DataSetPart& candidate : info.layout(0).part()) {
    if (candidate.name() == part) return &candidate;
  }
  return absl::NotFoundError(
      absl::StrCat("data set '", info.name(), "': ", UnknownName("part", part, PartNames(info))));
}

int64_t SamplesOfClass(const DataSetPart& part, int class_id) {
  return part.samples_per_class(part.samples_per_class_size() == 1 ? 0 : class_id);
}

std::vector<const DataFile*> FilesOf(const DataSetPart& part) {
  std::vector<const DataFile*> files;
  switch (part.format_case()) {
    case DataSetPart::kIdx:
      files = {&part.idx().images(), &part.idx().labels()};
      break;
    case DataSetPart::kCifarBinary:
      for (const DataFile& file : part.cifar_binary().file()) files.push_back(&file);
      break;
    case DataSetPart::kPngSheet:
      for (const DataFile& file : part.png_sheet().sheet()) files.push_back(&file);
      files.push_back(&part.png_sheet().labels());
      break;
    case DataSetPart::kImageList:  // its images are too many to list
      for (const DataFile& file : part.image_list().list()) files.push_back(&file);
      if (part.image_list().has_part_table()) files.push_back(&part.image_list().part_table());
      break;
    case DataSetPart::kMat:
      files = {&part.mat().file()};
      break;
    case DataSetPart::kNpz:
      files = {&part.npz().images()};
      if (part.npz().has_labels()) files.push_back(&part.npz().labels());
      break;
    case DataSetPart::kImageFolder:  // too many to list
    case DataSetPart::kNoise:
    case DataSetPart::FORMAT_NOT_SET:
      break;
  }
  return files;
}

bool HasChecksums(const DataSetPart& part) {
  return !part.has_image_folder() && !part.has_image_list() &&
         absl::c_all_of(FilesOf(part), [](const DataFile* file) { return file->sha256_size() > 0; });
}

absl::StatusOr<std::string> PartDigest(const DataSetInfo& info, absl::string_view part_name) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetPart* part, FindPart(info, part_name));
  PartIdentity identity;
  identity.set_data_set(info.name());
  identity.set_part(part->name());
  identity.set_channels(info.channels());
  identity.set_height(info.height());
  identity.set_width(info.width());
  for (int id = 0; id < info.class_name_size() && !part->image_folder().count_files(); ++id) {
    identity.add_samples_per_class(SamplesOfClass(*part, id));
  }
  const std::vector<const DataFile*> files = FilesOf(*part);
  if (absl::c_all_of(files, [](const DataFile* file) { return file->sha256_size() > 0; })) {
    for (const DataFile* file : files) identity.add_sha256(file->sha256(0));
  }
  const ImageFolderFiles& folder = part->image_folder();
  if (folder.has_listing_sha256()) identity.add_sha256(folder.listing_sha256());
  if (folder.has_share()) *identity.mutable_share() = folder.share();
  *identity.mutable_skip() = folder.skip();
  if (part->has_noise()) *identity.mutable_noise() = part->noise();
  if (part->has_content_sha256()) identity.set_content_sha256(part->content_sha256());
  return MessageDigest(identity);
}

absl::StatusOr<int64_t> CountSamples(const Selection& selection, const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  std::vector<const DataSetPart*> parts;
  for (const PartOfDataSet& wanted : PartsOf(selection)) {
    OPENSET_ASSIGN_OR_RETURN(parts.emplace_back(), FindPart(*info, wanted.part()));
    if (!wanted.has_part_digest()) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::string digest, PartDigest(*info, wanted.part()));
    if (wanted.part_digest() == digest) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("part '", wanted.part(), "' of data set '", info->name(),
                     "' has changed since the study was planned, in its files or in the "
                     "catalog; the same command plans it anew"));
  }
  int64_t count = 0;
  for (const int32_t id : selection.class_id()) {
    if (id < 0 || id >= info->class_name_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("data set '", info->name(), "' has no class ", id, " (0 to ", info->class_name_size() - 1, ")"));
    }
    int64_t samples = 0;
    for (const DataSetPart* part : parts) samples += SamplesOfClass(*part, id);
    const SampleRange range = RangeOfClass(selection, FoldSamples(selection, samples));
    count += range.end - range.begin;
  }
  if (selection.has_draw()) count = std::min(count, selection.draw().samples());
  return selection.index_size() > 0 ? std::min<int64_t>(count, selection.index_size()) : count;
}

}  // namespace openset
