#include "tools/cli/task/task_new.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "data/catalog.h"
#include "data/class_names.h"
#include "data/formats/part_format.h"
#include "data/selection.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/folder_data_set.h"
#include "data/splits/class_splits.h"
#include "data/splits/repeated_splits.h"
#include "data/splits/task_problems.h"
#include "data/task.h"
#include "experiments/spec/experiment_file.h"
#include "tools/cli/data/data_flags.h"

namespace openset {
namespace {

// Returns the number if it is the only item.
std::optional<int> NumberOf(const std::vector<std::string>& list) {
  int number = 0;
  if (list.size() == 1 && absl::SimpleAtoi(list[0], &number)) return number;
  return std::nullopt;
}

// kInvalidArgument: "--FLAG: WHAT".
absl::Status FlagError(absl::string_view flag, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", what));
}

// Returns the items of a list, or of the file that "@FILE" names. Skips empty lines of a file and those that begin with
// "#". Errors: kInvalidArgument for an empty list; kNotFound if there is no such file, and other errors of reading it.
absl::StatusOr<std::vector<std::string>> ReadList(absl::string_view flag, const std::vector<std::string>& list) {
  std::vector<std::string> lines = list;
  if (list.size() == 1 && absl::StartsWith(list[0], "@")) {
    const absl::StatusOr<std::string> file = ReadGivenFile(UserPath(list[0].substr(1)));
    if (!file.ok()) return Annotate(file.status(), absl::StrCat("--", flag));
    lines = absl::StrSplit(absl::StripPrefix(*file, "\xef\xbb\xbf"), '\n');  // without a byte order mark
  }
  std::vector<std::string> items;
  for (const absl::string_view line : lines) {
    const absl::string_view item = absl::StripAsciiWhitespace(line);
    if (!item.empty() && item[0] != '#') items.emplace_back(item);
  }
  if (items.empty()) return FlagError(flag, "the list is empty");
  return items;
}

// Returns the class ids of names. A number is a class id unless a class has it as its name. Errors: kInvalidArgument
// with similar names.
absl::StatusOr<std::vector<int>> ClassIds(absl::string_view flag, const std::vector<std::string>& items,
                                          const DataSetInfo& info) {
  std::vector<int> ids;
  const std::vector<std::string> names(info.class_name().begin(), info.class_name().end());
  const ClassesByName classes(info);
  for (const std::string& item : items) {
    const std::vector<int> found = classes.Find(item);
    const std::optional<int> number = NumberOf({item});
    if (found.size() == 1) {
      ids.push_back(found[0]);
    } else if (found.size() > 1) {
      return FlagError(flag, absl::StrCat("classes ", absl::StrJoin(found, " and "), " have the name '", item,
                                          "' in two forms of Unicode: give the number"));
    } else if (number.has_value() && *number >= 0 && *number < static_cast<int>(names.size())) {
      ids.push_back(*number);
    } else {
      const bool has_commas =
          absl::c_any_of(names, [](const std::string& name) { return absl::StrContains(name, ','); });
      return FlagError(
          flag, absl::StrCat(
                    UnknownName("class", item, names, absl::StrCat("openset show data ", info.name())),
                    has_commas ? absl::StrCat("; for a name with a comma: --", flag, "=@FILE, with a name on each line")
                               : ""));
    }
  }
  return ids;
}

// The number of unknown classes with the nearest openness.
int UnknownFor(double openness, int known) {
  return std::max(1, static_cast<int>(std::lround(2 * known * (1 / ((1 - openness) * (1 - openness)) - 1))));
}

// The usual layout of open-set data: classes that only the test part has are unknown. Returns the others;
// nothing if every class has an image to train on.
std::vector<int> TrainedClasses(const TaskSpec& task, const DataSetInfo& info) {
  std::vector<int> trained;
  for (int id = 0; id < info.class_name_size(); ++id) {
    int64_t images = 0;
    for (const std::string& part : TrainParts(task)) {
      const absl::StatusOr<const DataSetPart*> found = FindPart(info, part);
      if (found.ok()) images += SamplesOfClass(**found, id);
    }
    if (images > 0) trained.push_back(id);
  }
  if (trained.size() == static_cast<size_t>(info.class_name_size())) trained.clear();
  return trained;
}

// Whether a class of the task's data set has an image to test on; in each fold, if there are folds.
bool CanBeTested(const TaskSpec& task, const DataSetInfo& info, int id) {
  int64_t images = 0;
  for (const std::string& part : TestParts(task)) {
    const absl::StatusOr<const DataSetPart*> found = FindPart(info, part);
    if (found.ok()) images += SamplesOfClass(**found, id);
  }
  return images >= (task.has_cross_validation() ? task.cross_validation().folds() : 1);
}

// The classes that can be known: those with an image to train on and one to test on.
std::vector<int> ClassesToDraw(const TaskSpec& task, const DataSetInfo& info) {
  std::vector<int> classes = TrainedClasses(task, info);
  if (classes.empty()) {
    for (int id = 0; id < info.class_name_size(); ++id) classes.push_back(id);
  }
  classes.erase(std::remove_if(classes.begin(), classes.end(), [&](int id) { return !CanBeTested(task, info, id); }),
                classes.end());
  return classes;
}

// Draws the known classes among `usable`, those that can be known, and lists them: a rule (DrawnSplits) would draw
// among all classes. `unknown`: how many of the others are unknown, in random order.
absl::Status ListDraws(const RunConfig& config, const std::vector<int>& usable, const DataSetInfo& info, int known,
                       int unknown, TaskSpec* task) {
  const int size = static_cast<int>(usable.size());
  if (known > size) {
    return FlagError("known",
                     absl::StrCat("must be 1 to ", size, ", the number of classes with images to train on and ",
                                  "to test on (is ", known, ")"));
  }
  for (int s = 0; s < config.splits; ++s) {
    ClassSplit* split = task->add_split();
    const std::string stream = absl::StrCat(task->name(), "/split ", s);
    std::set<int> drawn;
    for (const int64_t place : RandomStream(config.seed, absl::StrCat(stream, "/known")).Permutation(size)) {
      if (split->known_size() == known) break;
      split->add_known(usable[place]);
      drawn.insert(usable[place]);
    }
    for (const int64_t place : RandomStream(config.seed, stream).Permutation(info.class_name_size())) {
      const int id = static_cast<int>(place);
      if (split->unknown_size() < unknown && drawn.count(id) == 0 && CanBeTested(*task, info, id)) {
        split->add_unknown(id);
      }
    }
    const bool is_asked_for = !config.unknown.empty() || config.openness != 0;
    if (split->unknown_size() < unknown && (is_asked_for || split->unknown_size() == 0)) {
      return FlagError(config.openness != 0 ? "openness" : "unknown",
                       absl::StrCat(unknown, " unknown classes are more than the ", split->unknown_size(),
                                    " other classes with images to test on"));
    }
  }
  return absl::OkStatus();
}

absl::Status SetDrawn(const RunConfig& config, int outside_classes, const DataSetInfo& info, int known,
                      TaskSpec* task) {
  const int classes = info.class_name_size();
  const int most = outside_classes > 0 ? classes : classes - 1;
  if (known < 1 || known > most) {
    return FlagError("known", absl::StrCat("must be 1 to ", most, " of the ", classes, " classes (is ", known, ")"));
  }
  int unknown = outside_classes > 0 ? outside_classes : classes - known;
  if (config.openness != 0) {
    if (!config.unknown.empty()) return FlagError("openness", "--unknown already gives the number");
    if (!(config.openness > 0 && config.openness < 1)) {
      return FlagError("openness", absl::StrCat("must lie between 0 and 1 (is ", config.openness, ")"));
    }
    unknown = UnknownFor(config.openness, known);
  } else if (!config.unknown.empty()) {
    const std::optional<int> number = NumberOf(config.unknown);
    if (!number.has_value()) return FlagError("unknown", "must be a number, because --known is one");
    unknown = *number;
  }
  const std::vector<int> usable = ClassesToDraw(*task, info);
  if (static_cast<int>(usable.size()) < classes) {
    return ListDraws(config, usable, info, known, outside_classes > 0 ? 0 : unknown, task);
  }
  OpennessLevel* level = task->mutable_drawn()->add_level();
  level->set_known(known);
  level->set_unknown(unknown);
  task->mutable_drawn()->set_seed(config.seed);
  task->mutable_drawn()->set_repeats(config.splits);
  return absl::OkStatus();
}

// The parts to train and test on: "train" and "test", or "val" if there is no "test".
absl::Status SetParts(const DataSetInfo& info, TaskSpec* task) {
  const auto has = [&](absl::string_view part) { return FindPart(info, part).ok(); };
  if (has("train") && has("test")) return absl::OkStatus();
  if (has("train") && has("val")) {
    task->add_test_part("val");
    return absl::OkStatus();
  }
  return FlagError("data", absl::StrCat("data set '", info.name(), "' has no parts for training and testing"));
}

// "a, b and 3 others".
std::string Named(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  const size_t shown = names.size() <= kMost + 1 ? names.size() : kMost;
  const std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<int64_t>(shown), ", ");
  return names.size() == shown ? text : absl::StrCat(text, " and ", names.size() - shown, " others");
}

// The parts of a data set that is only unknown: the whole of the user's own folder; of a published data set, its part
// to test on.
std::vector<std::string> PartsOfUnknown(const DataSetInfo& info) {
  const auto has = [&](absl::string_view part) { return FindPart(info, part).ok(); };
  const absl::string_view path = info.layout(0).part(0).image_folder().path();
  const bool is_own = !path.empty() && path[0] == '/';
  std::vector<std::string> parts;
  if (is_own && has("all")) return {"all"};
  for (const char* part : {"test", "val", "train"}) {
    if (has(part) && (is_own || parts.empty())) parts.emplace_back(part);
  }
  if (parts.empty()) parts.push_back(has("all") ? "all" : info.layout(0).part(0).name());
  return parts;
}

// A name for the group of a data set: its own or, for a folder without a description, the folder's, as far as it has
// the characters of a name; made different from those that the task has.
std::string GroupName(const DataSetInfo& info, const TaskSpec& task) {
  std::string name = info.name();
  if (absl::StartsWith(name, kFolderPrefix)) name = NameLike(name.substr(name.rfind('/') + 1));
  std::string unused = name;
  for (int number = 2; absl::c_any_of(task.unknown(), [&](const UnknownSource& s) { return s.group() == unused; });) {
    if (!absl::StartsWith(info.name(), kFolderPrefix)) break;  // the same data set twice is refused
    unused = absl::StrCat(name, "_", number++);
  }
  return unused;
}

// Adds a source for each data set or folder.
absl::Status AddSources(const Catalog& catalog, absl::string_view flag, const std::vector<std::string>& data_sets,
                        UnknownGroup::Distance distance, TaskSpec* task) {
  for (const std::string& name : data_sets) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(DataSetName(name, catalog));
    if (!info.ok()) return Annotate(info.status(), absl::StrCat("--", flag));
    const std::vector<std::string> parts = PartsOfUnknown(**info);
    UnknownSource source;
    source.set_group(GroupName(**info, *task));
    source.set_data_set((*info)->name());
    if (parts[0] != "test") source.set_part(parts[0]);
    for (size_t p = 1; p < parts.size(); ++p) source.add_more_part(parts[p]);
    source.set_distance(distance);
    *task->add_unknown() = source;
  }
  return absl::OkStatus();
}

// The sources of unknowns that --near and --far name, after the task's own classes if --unknown or --openness requests
// any.
absl::Status AddSources(const Catalog& catalog, bool own_classes, TaskSpec* task, const RunConfig& config) {
  const std::vector<std::string>&near = config.near, &far = config.far;
  if (near.empty() && far.empty()) return absl::OkStatus();
  if (own_classes && task->unknown_size() == 0) {
    UnknownSource* own = task->add_unknown();
    own->set_group(task->data_set());
    own->set_data_set(task->data_set());
    if (task->test_part_size() > 0) own->set_part(task->test_part(0));
    own->set_distance(UnknownGroup::NEAR);
  }
  OPENSET_RETURN_IF_ERROR(AddSources(catalog, "near", near, UnknownGroup::NEAR, task));
  return AddSources(catalog, "far", far, UnknownGroup::FAR, task);
}

absl::StatusOr<TaskSpec> TaskOfFlags(const Catalog& catalog, const RunConfig& config) {
  TaskSpec task;
  if (!config.like.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
    OPENSET_ASSIGN_OR_RETURN(task, LoadTask(config.like, folders, "", catalog));
    task.clear_split();
    task.clear_drawn();
    task.set_title(absl::StrCat(task.title(), " (classes of another list)"));
    return task;
  }
  const std::optional<std::string> data = config.data;
  if (!data.has_value()) return FlagError("data", "name a data set, or a folder of images");
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(DataSetName(*data, catalog)), "--data");
  if (info->class_name_size() < 2) {
    return FlagError("data", absl::StrCat("data set '", info->name(), "' has only the class ",
                                          OneLine(info->class_name(0)), "; known classes need folders of their own"));
  }
  task.set_data_set(info->name());
  OPENSET_RETURN_IF_ERROR(SetParts(*info, &task));
  return task;
}

// The number of known classes in --known; nothing if it names them. It is a number, unless a class has that name and
// neither --unknown nor --openness is a number.
std::optional<int> NumberToDraw(const RunConfig& config, const DataSetInfo& info) {
  const bool is_name = config.known.size() == 1 && absl::c_linear_search(info.class_name(), config.known[0]);
  if (is_name && !NumberOf(config.unknown).has_value() && config.openness == 0) return std::nullopt;
  return NumberOf(config.known);
}

// Fills in the splits of `task`, whose data set is `info`. If --known is a number, the known classes are drawn, by a
// rule (DrawnSplits), or by ListDraws() if some classes can't be known. If it lists them, they are known in
// each split, and the split lists the unknown classes: the classes of --unknown, or all others in the order of the
// stream (seed, "NAME/split S"), of which openness levels use the first. If the sources of `task` define the unknown
// samples, the data set's other classes are neither known nor unknown. `outside_classes`: of the first source of
// unknown samples, if it is another data set. Errors: kInvalidArgument with the flag.
absl::Status MakeSplits(const RunConfig& config, int outside_classes, const DataSetInfo& info, TaskSpec* task) {
  if (config.known.empty()) {
    return FlagError(
        "known",
        "give the known classes by name (cat,dog), or their number (6); only if some classes have no image to "
        "train on can it be left out: then they are unknown, and all others known");
  }
  if (config.splits < 1 || config.splits > 1000) return FlagError("splits", "must be 1 to 1000");
  if (config.folds < 1) return FlagError("folds", "must be at least 1");
  if (config.folds > 1) {
    task->mutable_cross_validation()->set_folds(config.folds);
    task->mutable_cross_validation()->set_seed(config.seed);
  }
  if (const std::optional<int> number = NumberToDraw(config, info); number.has_value()) {
    return SetDrawn(config, outside_classes, info, *number, task);
  }
  if (config.openness != 0) return FlagError("openness", "needs a number of classes in --known, not a list");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> known, ReadList("known", config.known));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> known_ids, ClassIds("known", known, info));
  std::vector<int> unknown_ids;
  if (!config.unknown.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> unknown, ReadList("unknown", config.unknown));
    const std::optional<int> number = NumberOf(unknown);
    if (number.has_value() && ClassesByName(info).Find(unknown[0]).empty()) {
      const bool is_id = *number >= 0 && *number < info.class_name_size();
      return FlagError(
          "unknown",
          absl::StrCat(
              "is the number ", *number, ", but --known names classes: name these, too",
              is_id ? absl::StrCat(" (class ", *number, " is called ", OneLine(info.class_name(*number)), ")") : "",
              "; without --unknown, all others are unknown"));
    }
    OPENSET_ASSIGN_OR_RETURN(unknown_ids, ClassIds("unknown", unknown, info));
  }
  const bool elsewhere = task->unknown_size() > 0;  // then the sources define what is unknown
  for (int s = 0; s < config.splits; ++s) {
    ClassSplit* split = task->add_split();
    for (const int id : known_ids) split->add_known(id);
    for (const int id : unknown_ids) split->add_unknown(id);
    if (!unknown_ids.empty() || elsewhere) continue;
    const std::string stream = absl::StrCat(task->name(), "/split ", s);
    for (const int64_t id : RandomStream(config.seed, stream).Permutation(info.class_name_size())) {
      const int class_id = static_cast<int>(id);
      if (!absl::c_linear_search(known_ids, class_id) && CanBeTested(*task, info, class_id)) {
        split->add_unknown(class_id);
      }
    }
  }
  return absl::OkStatus();
}

// Makes the splits. If openset draws the known classes and two splits get the same ones, which are one draw and not
// two, draws with other seeds, unless --seed was given. Sets the seed that was used, and warns of splits that are left
// equal.
absl::Status DrawSplits(int outside_classes, const DataSetInfo& info, const Catalog& catalog, RunConfig* config,
                        TaskSpec* task) {
  constexpr int kMostDraws = 100;
  const TaskSpec without = *task;
  const uint64_t first_seed = config->seed;
  std::vector<RepeatedSplit> first_repeats;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    *task = without;
    config->seed = first_seed + draw;
    OPENSET_RETURN_IF_ERROR(MakeSplits(*config, outside_classes, info, task));
    if (!NumberToDraw(*config, info).has_value()) return absl::OkStatus();
    TaskSpec filled = *task;
    FillDefaults(&filled);
    if (!FindProblems(filled).empty() || !FindTaskProblems(filled, catalog).empty()) return absl::OkStatus();
    OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> splits, ClassSplitsOf(filled, catalog));
    const std::vector<RepeatedSplit> repeats = FindRepeatedSplits(splits);
    if (draw == 0) first_repeats = repeats;
    if (repeats.empty() && draw > 0) {
      std::cout << "drawn with --seed=" << config->seed << ": with " << first_seed << ", "
                << RepeatText(first_repeats[0]) << "\n";
    }
    if (repeats.empty()) return absl::OkStatus();
    if (config->given.count("seed") > 0) break;
  }
  *task = without;
  config->seed = first_seed;
  for (const RepeatedSplit& repeat : first_repeats) {
    std::cerr << "hint: " << task->name() << ": " << RepeatText(repeat) << "\n";
  }
  return MakeSplits(*config, outside_classes, info, task);
}

// Returns a line about the classes of the task's data set that a split does not use; "" if there are none. `is_drawn`:
// whether each split has other classes.
std::string UnusedLine(const TaskSpec& task, bool is_drawn, const ClassSplit& split, const DataSetInfo& info) {
  std::set<int> used(split.known().begin(), split.known().end());
  for (const UnknownSource& source : SourcesOf(task)) {
    if (source.data_set() != info.name()) continue;
    for (const int id : UnknownClasses(task, split, source, info)) used.insert(id);
  }
  if (task.has_external() && task.external().data_set() == info.name()) {
    for (const int id : ExternalClasses(task.external(), info)) used.insert(id);
  }
  std::vector<std::string> unused, untested;
  for (int id = 0; id < info.class_name_size(); ++id) {
    if (used.count(id) == 0) (CanBeTested(task, info, id) ? unused : untested).push_back(OneLine(info.class_name(id)));
  }
  std::vector<std::string> texts;
  if (is_drawn && !unused.empty()) {
    texts.push_back(absl::StrCat(unused.size(), unused.size() == 1 ? " class" : " classes", " of each split"));
  } else if (!unused.empty()) {
    texts.push_back(absl::StrCat(Named(unused), " (they are unknown if --unknown names them)"));
  }
  if (!untested.empty()) {
    texts.push_back(absl::StrCat(
        Named(untested), task.has_cross_validation() ? " (fewer images than folds)" : " (no image to test on)"));
  }
  return texts.empty() ? "" : absl::StrCat("not used: ", absl::StrJoin(texts, "; "));
}

// The task as a file, which names the classes of its splits.
std::string TextWithNames(TaskSpec task, const DataSetInfo& info, const DataSetInfo& unknown_info) {
  for (ClassSplit& split : *task.mutable_split()) {
    for (const int id : split.known()) split.add_known_class(info.class_name(id));
    for (const int id : split.unknown()) split.add_unknown_class(unknown_info.class_name(id));
    split.clear_known();
    split.clear_unknown();
  }
  return ToText(task);
}

// "16 images to train on, 8 known and 4 unknown ones to test on", as far as the catalog knows.
absl::StatusOr<std::string> CountsText(const TaskData& data, bool test_only, const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const int64_t train, CountSamples(data.train(), catalog));
  OPENSET_ASSIGN_OR_RETURN(const int64_t known, CountSamples(data.test_known(), catalog));
  int64_t unknown = 0;
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_ASSIGN_OR_RETURN(const int64_t more, CountSamples(group.selection(), catalog));
    unknown += more;
  }
  const bool is_estimate = DividesClusters(data.train(), catalog) || DividesClusters(data.test_known(), catalog);
  return absl::StrCat(is_estimate ? "about " : "", test_only ? "" : absl::StrCat(train, " images to train on, "), known,
                      " known and ", unknown, " unknown ones to test on");
}

// Prints a line for each group of other data sets, and a hint if classes in it have the names of known ones.
absl::Status ShowGroups(const TaskData& data, const Catalog& catalog) {
  const std::string& data_set = data.test_known().data_set();
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* known_info, catalog.Find(data_set));
  std::set<std::string> known;
  for (const int id : data.test_known().class_id()) known.insert(Composed(known_info->class_name(id)));
  for (const UnknownGroup& group : data.test_unknown()) {
    const Selection& selection = group.selection();
    if (selection.data_set() == data_set) continue;
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
    std::vector<std::string> twice;
    for (const int id : selection.class_id()) {
      if (known.count(Composed(info->class_name(id))) > 0) twice.push_back(OneLine(info->class_name(id)));
    }
    if (!twice.empty()) {
      std::cerr << "hint: unknown classes of " << group.name() << " have the names of known ones: " << Named(twice)
                << "\n";
    }
    OPENSET_ASSIGN_OR_RETURN(const int64_t images, CountSamples(selection, catalog));
    std::vector<std::string> parts;
    for (const PartOfDataSet& part : PartsOf(selection)) parts.push_back(part.part());
    std::cout << group.name() << ": " << images << (images == 1 ? " image" : " images") << " of "
              << selection.class_id_size() << (selection.class_id_size() == 1 ? " class, part " : " classes, part ")
              << absl::StrJoin(parts, " and ") << " of " << OneLine(selection.data_set()) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status NewTask(const std::string& name, RunConfig config) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  OPENSET_ASSIGN_OR_RETURN(TaskSpec task, TaskOfFlags(catalog, config));
  task.set_name(name);
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(task.data_set()));
  if (config.known.empty()) {
    const std::vector<int> trained = TrainedClasses(task, *info);
    for (const int id : trained) config.known.push_back(absl::StrCat(id));
    // A list of one number would be the number of classes.
    if (trained.size() == 1) config.known = {info->class_name(trained[0])};
  }
  OPENSET_RETURN_IF_ERROR(AddSources(catalog, !config.unknown.empty() || config.openness != 0, &task, config));
  int outside_classes = 0;
  if (task.unknown_size() > 0 && task.unknown(0).data_set() != task.data_set()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* outside, catalog.Find(task.unknown(0).data_set()));
    outside_classes = outside->class_name_size();
  }
  OPENSET_RETURN_IF_ERROR(DrawSplits(outside_classes, *info, catalog, &config, &task));
  TaskSpec filled = task;
  FillDefaults(&filled);
  for (const FieldProblem& problem : FindProblems(filled)) {
    return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
  }
  for (const FieldProblem& problem : FindTaskProblems(filled, catalog)) {
    return absl::InvalidArgumentError(absl::StrCat(problem.path, ": ", problem.message));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> splits, ClassSplitsOf(filled, catalog));
  std::vector<TaskData> data;  // of each split's first fold
  for (int s = 0; s < CountSplits(filled); ++s) {
    absl::StatusOr<TaskData> resolved = ResolveTask(filled, splits, {s}, catalog);
    absl::Status status = resolved.status();
    if (status.ok() && !filled.test_only())
      status = CheckTrainingSamples(*resolved, s, /*with_external=*/true, catalog);
    if (!status.ok() && filled.has_drawn()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--known: ", status.message(), "; or name the known classes instead of their number"));
    }
    OPENSET_RETURN_IF_ERROR(status);
    if (s % Folds(filled) == 0) data.push_back(*std::move(resolved));
  }
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* unknown_info, catalog.Find(SourcesOf(task)[0].data_set()));
  OPENSET_ASSIGN_OR_RETURN(
      const std::string path,
      WriteIntoLibrary("tasks", name,
                       absl::StrCat("# proto-file: data/task.proto\n# proto-message: openset.TaskSpec\n\n",
                                    TextWithNames(task, *info, *unknown_info)),
                       config));
  if (absl::StartsWith(info->name(), kFolderPrefix)) {  // otherwise `openset data describe` has said it
    for (const std::string& line : LeftOutLines(info->name().substr(kFolderPrefix.size()), *info)) {
      std::cout << line << "\n";
    }
  }
  if (const std::string line = UnusedLine(filled, NumberToDraw(config, *info).has_value(), splits[0], *info);
      !line.empty())
    std::cout << line << "\n";
  OPENSET_RETURN_IF_ERROR(ShowGroups(data[0], catalog));
  for (size_t s = 0; s < splits.size(); ++s) {
    OPENSET_ASSIGN_OR_RETURN(const std::string counts, CountsText(data[s], filled.test_only(), catalog));
    std::cout << "split " << s << ": known: "
              << absl::StrJoin(splits[s].known(), ", ",
                               [&](std::string* out, int id) { out->append(OneLine(info->class_name(id))); })
              << " (" << counts << ")\n";
  }
  std::cout << "openness " << Openness(data[0]) << "\n";
  const auto has_classes_of_first = [&](const ClassSplit& split) {
    return std::set<int>(split.known().begin(), split.known().end()) ==
           std::set<int>(splits[0].known().begin(), splits[0].known().end());
  };
  if (filled.split_size() > 1 && !filled.has_cross_validation() && absl::c_all_of(splits, has_classes_of_first)) {
    std::cerr
        << "hint: the splits have the same classes, and differ only in the order of the unknown ones: --splits=1 is "
           "enough; --folds gives a spread over samples, and a number of classes in --known one over draws\n";
  }
  std::cout << path << "\n";
  return absl::OkStatus();
}

}  // namespace openset
