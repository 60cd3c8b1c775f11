#include "experiments/study/check_inputs.h"

#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/catalog.pb.h"
#include "data/selection.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "experiments/action/stage.h"
#include "experiments/spec/model_files.h"

namespace openset {
namespace {

// Whether the catalog lists a file of the part that has no checksum.
bool LacksChecksums(const DataSetInfo& info, const std::string& part) {
  for (const DataSetLayout& layout : info.layout()) {
    for (const DataSetPart& stored : layout.part()) {
      if (stored.name() != part) continue;
      for (const DataFile* file : FilesOf(stored)) {
        if (file->sha256_size() == 0) return true;
      }
    }
  }
  return false;
}

// The inputs of a plan's actions, or of those that are needed.
class Inputs {
 public:
  Inputs(const Plan& plan, bool needed_only) {
    for (const Action& action : plan.actions) {
      if (!needed_only || action.is_needed()) StageOf(action).AddReads(action, plan.TrialOf(action), &reads_);
    }
    for (const Selection* selection : reads_.selections) {
      for (const PartOfDataSet& part : PartsOf(*selection)) parts_.insert({selection->data_set(), part.part()});
    }
  }

  const std::set<std::pair<std::string, std::string>>& parts() const { return parts_; }
  const std::set<const ModelSpec*>& models() const { return reads_.models; }

 private:
  ActionReads reads_;
  std::set<std::pair<std::string, std::string>> parts_;
};

}  // namespace

absl::Status CheckInputs(const Plan& plan, const Catalog& catalog, const std::vector<std::string>& data_folders) {
  const Inputs inputs(plan, true);
  for (const ModelSpec* model : inputs.models()) OPENSET_RETURN_IF_ERROR(CheckModelFiles(*model, data_folders));
  for (const auto& [data_set, part] : inputs.parts()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(data_set));
    OPENSET_RETURN_IF_ERROR(CheckFiles(*info, part, data_folders));
    if (LacksChecksums(*info, part)) OPENSET_RETURN_IF_ERROR(OpenPart(*info, part, data_folders).status());
  }
  return absl::OkStatus();
}

std::vector<MissingData> FindMissingData(const Plan& plan, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders) {
  const Inputs inputs(plan, false);
  std::vector<MissingData> missing;
  for (const auto& [data_set, part] : inputs.parts()) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
    if (!info.ok() || (!missing.empty() && missing.back().data_set == data_set)) continue;
    const absl::Status files = CheckFiles(**info, part, data_folders);
    if (files.ok()) continue;
    std::string fix = absl::StrCat("openset data fetch ", data_set);
    if ((*info)->fetch_size() == 0) {
      fix = "provide the files";
    } else if (absl::c_all_of((*info)->fetch(), [](const DataSource& source) { return source.has_by_hand(); })) {
      absl::StrAppend(&fix, " says what to do by hand");
    }
    missing.push_back({data_set, OneLine(files.message()), std::move(fix)});
  }
  return missing;
}

}  // namespace openset
