#include "data/catalog.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/suggest.h"
#include "data/formats/part_format.h"
#include "data/selection.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/sets/feature_data_set.h"
#include "data/sets/folder_data_set.h"

namespace openset {
namespace {

bool HasSameText(const std::string& a, const std::string& b) {
  return ReadFile(a, kMaxTextBytes).value_or("") == ReadFile(b, kMaxTextBytes).value_or("");
}

// Describes a data set whose name contains its path.
absl::StatusOr<DataSetInfo> Describe(const std::string& name) {
  const std::string path = name.substr(name.find(':') + 1);
  if (absl::StartsWith(name, kFeaturesPrefix)) return DescribeFeatures(name, path);
  return DescribeFolder({name, path});
}

}  // namespace

absl::StatusOr<Catalog> Catalog::Open(const std::string& folder) { return Open(std::vector<std::string>{folder}); }

absl::StatusOr<Catalog> Catalog::Open(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> paths;  // by file name
  std::vector<std::string> lines;
  for (const std::string& folder : folders) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder));
    for (const std::string& file : names) {
      if (!absl::EndsWith(file, ".textproto")) continue;
      const std::string path = JoinPath(folder, file);
      if (const std::string problem = NameProblem(absl::StripSuffix(file, ".textproto")); !problem.empty()) {
        lines.push_back(absl::StrCat(folder, ": ", problem, "; rename the file"));
        continue;
      }
      const auto [entry, is_new] = paths.emplace(file, path);
      if (is_new || HasSameText(path, entry->second)) continue;
      lines.push_back(absl::StrCat("two files define data set '", absl::StripSuffix(file, ".textproto"),
                                   "': ", entry->second, " and ", path, "; rename one"));
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
  if (absl::StartsWith(name, kFolderPrefix) || absl::StartsWith(name, kFeaturesPrefix)) {
    const std::lock_guard<std::mutex> lock(described_->mutex);
    const auto known = described_->found.find(name);
    if (known != described_->found.end()) return &known->second;
    OPENSET_ASSIGN_OR_RETURN(DataSetInfo info, Describe(std::string(name)), "data set '", name, "'");
    return &described_->found.emplace(name, std::move(info)).first->second;
  }
  const auto found = data_sets_.find(name);
  if (found == data_sets_.end())
    return absl::NotFoundError(UnknownName("data set", name, names(), "openset data list"));
  return &found->second;
}

DataSetInfo* Catalog::FindMutable(absl::string_view name) {
  if (!Find(name).ok()) return nullptr;
  if (const auto found = data_sets_.find(name); found != data_sets_.end()) return &found->second;
  const std::lock_guard<std::mutex> lock(described_->mutex);
  return &described_->found.find(name)->second;
}

std::vector<std::string> Catalog::names() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : data_sets_) names.push_back(name);
  return names;
}

absl::StatusOr<int64_t> CountSamples(const Selection& selection, const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  std::vector<const DataSetPart*> parts;
  for (const PartOfDataSet& wanted : PartsOf(selection)) {
    OPENSET_ASSIGN_OR_RETURN(parts.emplace_back(), FindPart(*info, wanted.part()));
    if (!wanted.has_part_digest()) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::string digest, PartDigest(*info, wanted.part()));
    if (wanted.part_digest() == digest) continue;
    return absl::DataLossError(absl::StrCat("part '", wanted.part(), "' of data set '", info->name(),
                                            "' has changed since the study was planned, in its files or in the "
                                            "catalog; put the old files back, or run the same command again to "
                                            "measure the changed data"));
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
  if (selection.has_draw()) {
    const bool again = selection.draw().with_replacement() && selection.limit_per_class() == 0 && count > 0;
    count = again ? selection.draw().samples() : std::min(count, selection.draw().samples());
  }
  return selection.index_size() > 0 ? std::min<int64_t>(count, selection.index_size()) : count;
}

bool DividesClusters(const Selection& selection, const Catalog& catalog) {
  const absl::StatusOr<const DataSetInfo*> info = catalog.Find(selection.data_set());
  return DividesClasses(selection) && info.ok() && absl::c_any_of(PartsOf(selection), [&](const PartOfDataSet& wanted) {
           const absl::StatusOr<const DataSetPart*> part = FindPart(**info, wanted.part());
           return part.ok() && HasClusters(**part);
         });
}

bool IsEstimate(const Selection& selection, const Catalog& catalog) {
  if (DividesClusters(selection, catalog)) return true;
  return (selection.has_draw() || selection.index_size() > 0) && selection.limit_per_class() > 0 &&
         selection.class_id_size() > 1;
}

}  // namespace openset
