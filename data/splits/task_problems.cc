#include "data/splits/task_problems.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/saturated.h"
#include "core/text/name.h"
#include "data/sets/data_set_parts.h"
#include "data/splits/class_splits.h"

namespace openset {
namespace {

constexpr int64_t kMostDrawnClasses = 100000000;  // in all splits of a task

// Names of results over several groups: see experiments/store/records/metric_groups.h.
constexpr absl::string_view kResultsOfAll[] = {"pool", "mean of near", "mean of far"};

class Checker {
 public:
  Checker(const TaskSpec& task, const Catalog& catalog) : task_(task), catalog_(catalog), sources_(SourcesOf(task)) {}

  // Checks data sets, parts and groups. Splits can be checked only if this returns true.
  bool CheckSources() {
    CheckNames();
    known_info_ = Find("data_set", task_.data_set());
    if (known_info_ == nullptr) return false;
    CheckParts();
    if (task_.test_only() && (task_.train_part_size() > 0 || task_.has_cross_validation())) {
      Add("test_only", "there are training images: remove it, or train_part and cross_validation");
    }
    if (task_.has_fit_part() && !task_.test_only()) {
      Add("fit_part", "is for tasks with test_only; scores are fitted to the training images");
    }
    const CrossValidation& validation = task_.cross_validation();
    if (validation.tuning_shares() == 1) Add("cross_validation.tuning_shares", "must be 0 or at least 2 (is 1)");
    if (validation.on_tuning_share() && validation.tuning_shares() == 0) {
      Add("cross_validation.on_tuning_share", "no share is set aside: set tuning_shares");
    }
    if (task_.has_drawn() == (task_.split_size() > 0)) {
      Add(task_.has_drawn() ? "drawn" : "split",
          task_.has_drawn() ? "splits are listed too: remove one of them" : "missing: list splits, or set `drawn`");
    }
    CheckCount();
    std::set<std::string> groups;
    for (int s = 0; s < task_.unknown_size(); ++s) {
      const UnknownSource& source = task_.unknown(s);
      const std::string path = absl::StrCat("unknown[", s, "]");
      if (const DataSetInfo* info = Find(path + ".data_set", source.data_set())) {
        CheckPart(path + ".part", *info, source.part());
        for (int i = 0; i < source.more_part_size(); ++i) {
          CheckPart(absl::StrCat(path, ".more_part[", i, "]"), *info, source.more_part(i));
        }
        CheckClasses(path + ".class_id", source.class_id(), *info);
      }
      if (!groups.insert(source.group()).second) {
        Add(path + ".group", absl::StrCat("'", source.group(), "' is the name of another source too"));
      }
      if (absl::c_linear_search(kResultsOfAll, source.group())) {
        Add(path + ".group", absl::StrCat("'", source.group(), "' is reserved for results over several groups"));
      }
    }
    if (task_.has_external()) {
      if (const DataSetInfo* info = Find("external.data_set", task_.external().data_set())) {
        if (!task_.test_only()) CheckPart("external.part", *info, task_.external().part());
        CheckPart("external.validation_part", *info, task_.external().validation_part());
        CheckClasses("external.class_id", task_.external().class_id(), *info);
      }
    }
    for (int s = 0; s < task_.shifted_size(); ++s) {
      const std::string path = absl::StrCat("shifted[", s, "]");
      if (const DataSetInfo* info = Find(path + ".data_set", task_.shifted(s).data_set())) {
        CheckPart(path + ".part", *info, task_.shifted(s).part());
      }
      if (!groups.insert(task_.shifted(s).group()).second) {
        Add(path + ".group", absl::StrCat("'", task_.shifted(s).group(), "' is the name of another source too"));
      }
    }
    return problems_.empty();
  }

  // Checks listed or drawn splits. Precondition: CheckSources() found nothing.
  void CheckSplits() {
    const absl::StatusOr<std::vector<ClassSplit>> splits = ClassSplitsOf(task_, catalog_);
    if (!splits.ok()) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(splits.status().message(), absl::MaxSplits(": ", 1));
      return Add(parts.first, parts.second);
    }
    for (size_t i = 0; i < splits->size(); ++i) CheckSplit((*splits)[i], static_cast<int>(i));
  }

  void CheckSplit(const ClassSplit& split, int number) {
    const std::string path = absl::StrCat("split[", number, "]");
    if (split.known().empty()) Add(path + ".known", "missing: list the known classes, or name them in known_class");
    CheckClasses(path + ".known", split.known(), *known_info_);
    for (size_t s = 0; s < sources_.size(); ++s) {
      if (sources_[s].data_set() != sources_[0].data_set()) continue;
      const bool is_pool = task_.has_drawn() && sources_[s].data_set() != task_.data_set();
      if (split.unknown_size() == 0 || sources_[s].class_id_size() == 0 || is_pool) continue;
      return Add(path + ".unknown", absl::StrCat("lists classes, and so does unknown[", s, "].class_id"));
    }
    CheckClasses(path + ".unknown", split.unknown(), *catalog_.Find(sources_[0].data_set()).value());
    for (size_t s = 0; s < sources_.size(); ++s) {
      if (sources_[s].data_set() != task_.data_set()) continue;
      for (const int id : sources_[s].class_id()) {
        if (!absl::c_linear_search(split.known(), id)) continue;
        Add(path, absl::StrCat("class ", id, " (", NameOf(*known_info_, id), ") is known, and unknown in unknown[", s,
                               "].class_id"));
      }
    }
    if (sources_[0].data_set() == task_.data_set()) {
      for (int i = 0; i < split.unknown_size(); ++i) {
        if (absl::c_linear_search(split.known(), split.unknown(i))) {
          Add(absl::StrCat(path, ".unknown[", i, "]"),
              absl::StrCat("class ", split.unknown(i), " (", NameOf(*known_info_, split.unknown(i)),
                           ") is both known and unknown"));
        }
      }
    }
    for (int s = 0; s < task_.unknown_size(); ++s) {
      const DataSetInfo* info = catalog_.Find(task_.unknown(s).data_set()).value();
      if (UnknownClasses(task_, split, task_.unknown(s), *info).empty()) {
        Add(path, absl::StrCat("leaves no class for unknown[", s, "], as all are known"));
      }
    }
    for (int s = 0; s < task_.shifted_size() && problems_.empty(); ++s) {
      const DataSetInfo* info = catalog_.Find(task_.shifted(s).data_set()).value();
      if (ShiftedClasses(split, *known_info_, *info).class_id.empty()) {
        Add(absl::StrCat("shifted[", s, "].data_set"),
            absl::StrCat("no class of '", info->name(), "' has the name of a known one of split ", number));
      }
    }
    if (task_.has_external()) CheckExternalClasses(path, split);
  }

  std::vector<FieldProblem> TakeProblems() { return std::move(problems_); }

 private:
  using ClassIds = google::protobuf::RepeatedField<int32_t>;

  static std::string NameOf(const DataSetInfo& info, int id) {
    return id >= 0 && id < info.class_name_size() ? info.class_name(id) : "no such class";
  }

  void Add(const std::string& path, const std::string& message) { problems_.push_back({path, message}); }

  const DataSetInfo* Find(const std::string& path, const std::string& name) {
    const absl::StatusOr<const DataSetInfo*> info = catalog_.Find(name);
    if (info.ok()) return *info;
    Add(path, std::string(info.status().message()));
    return nullptr;
  }

  void CheckNames() {
    const auto check = [this](const std::string& path, const std::string& name) {
      if (const std::string problem = NameProblem(name); !problem.empty()) Add(path, problem);
    };
    check("name", task_.name());
    for (int s = 0; s < task_.unknown_size(); ++s)
      check(absl::StrCat("unknown[", s, "].group"), task_.unknown(s).group());
    for (int s = 0; s < task_.shifted_size(); ++s)
      check(absl::StrCat("shifted[", s, "].group"), task_.shifted(s).group());
  }

  // Checks the number of splits, before any is drawn.
  void CheckCount() {
    const int64_t count = CountSplits(task_);
    const DrawnSplits& drawn = task_.drawn();
    if (count > kMostSplits) {
      Add(task_.has_drawn()              ? "drawn"
          : task_.has_cross_validation() ? "cross_validation"
                                         : "split",
          absl::StrCat("these are ", count, " splits",
                       task_.has_cross_validation() ? absl::StrCat(", ", Folds(task_), " folds of each counted") : "",
                       "; a task may have at most ", kMostSplits));
    }
    int64_t classes = 0;
    for (const OpennessLevel& level : drawn.level()) classes += int64_t{level.known()} + level.unknown();
    if (SaturatedProduct(classes, drawn.repeats()) > kMostDrawnClasses) {
      Add("drawn", absl::StrCat("these are ", SaturatedProduct(classes, drawn.repeats()),
                                " classes in all splits together; a task may draw at most ", kMostDrawnClasses));
    }
  }

  // Checks the parts of the known classes.
  void CheckParts() {
    std::set<std::string> used;
    const auto check = [&](const std::string& field, bool named, const std::vector<std::string>& parts) {
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::string path = named ? absl::StrCat(field, "[", i, "]") : "data_set";
        CheckPart(path, *known_info_, parts[i]);
        if (!used.insert(parts[i]).second) Add(path, absl::StrCat("part '", parts[i], "' is used twice"));
      }
    };
    if (task_.has_cross_validation()) {
      check("train_part", false, TrainParts(task_));
      if (task_.has_validation_part()) Add("validation_part", "cross_validation has its own (tuning_shares)");
      return;
    }
    if (task_.has_fit_part()) {
      CheckPart("fit_part", *known_info_, task_.fit_part());
      const std::vector<std::string> test = TestParts(task_);
      if (absl::c_linear_search(test, task_.fit_part())) Add("fit_part", "is a part of the test images too");
    } else if (!task_.test_only()) {
      check("train_part", task_.train_part_size() > 0, TrainParts(task_));
    }
    check("test_part", task_.test_part_size() > 0, TestParts(task_));
    if (task_.has_fit_part()) used.insert(task_.fit_part());
    if (task_.has_validation_part()) {
      CheckPart("validation_part", *known_info_, task_.validation_part());
      if (!used.insert(task_.validation_part()).second) Add("validation_part", "is a part for training or testing too");
    }
  }

  void CheckPart(const std::string& path, const DataSetInfo& info, const std::string& part) {
    const absl::Status status = FindPart(info, part).status();
    if (!status.ok()) Add(path, std::string(status.message()));
  }

  void CheckClasses(const std::string& path, const ClassIds& ids, const DataSetInfo& info) {
    std::set<int32_t> seen;
    for (int i = 0; i < ids.size(); ++i) {
      const std::string element = absl::StrCat(path, "[", i, "]");
      if (ids[i] < 0 || ids[i] >= info.class_name_size()) {
        Add(element, absl::StrCat("data set '", info.name(), "' has no class ", ids[i], " (0 to ",
                                  info.class_name_size() - 1, ")"));
      } else if (!seen.insert(ids[i]).second) {
        Add(element, absl::StrCat("class ", ids[i], " (", NameOf(info, ids[i]), ") is listed twice"));
      }
    }
  }

  // Checks that no external class is known or unknown in the split.
  void CheckExternalClasses(const std::string& path, const ClassSplit& split) {
    const std::string& data_set = task_.external().data_set();
    const DataSetInfo& info = *catalog_.Find(data_set).value();
    std::set<int> tested;
    if (data_set == task_.data_set()) tested.insert(split.known().begin(), split.known().end());
    for (const UnknownSource& source : sources_) {
      if (source.data_set() != data_set) continue;
      for (const int id : UnknownClasses(task_, split, source, info)) tested.insert(id);
    }
    for (const int id : ExternalClasses(task_.external(), info)) {
      if (tested.count(id) == 0) continue;
      return Add(path, absl::StrCat("class ", id, " (", NameOf(info, id), ") is external too; list others in ",
                                    "external.class_id"));
    }
  }

  const TaskSpec& task_;
  const Catalog& catalog_;
  const std::vector<UnknownSource> sources_;
  const DataSetInfo* known_info_ = nullptr;
  std::vector<FieldProblem> problems_;
};

}  // namespace

std::vector<FieldProblem> FindTaskProblems(const TaskSpec& task, const Catalog& catalog) {
  if (HasFilesOfSplits(task)) {
    if (task.split().empty()) return {{"split", "missing: files of each split ({split}) need listed splits"}};
    for (int s = 0; s < task.split_size(); ++s) {
      std::vector<FieldProblem> problems = FindSplitProblems(TaskOfSplit(task, s), task.split(s), s, catalog);
      if (!problems.empty()) return problems;
    }
    return {};
  }
  Checker checker(task, catalog);
  if (checker.CheckSources()) checker.CheckSplits();
  return checker.TakeProblems();
}

std::vector<FieldProblem> FindSplitProblems(const TaskSpec& task, const ClassSplit& split, int number,
                                            const Catalog& catalog) {
  Checker checker(task, catalog);
  if (checker.CheckSources()) checker.CheckSplit(split, number);
  return checker.TakeProblems();
}

absl::Status ReplaceFitPart(const std::string& part, const Catalog& catalog, TaskSpec* task) {
  if (part.empty()) return absl::OkStatus();
  if (!task->has_fit_part()) {
    return absl::InvalidArgumentError(absl::StrCat("task ", task->name(), " has no fit_part to replace"));
  }
  task->set_name(absl::StrCat(task->name(), "_fit_", part));
  task->set_fit_part(part);
  for (const FieldProblem& problem : FindTaskProblems(*task, catalog)) {
    return absl::InvalidArgumentError(problem.message);
  }
  return absl::OkStatus();
}

}  // namespace openset
