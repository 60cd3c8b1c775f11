#include <iostream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "data/splits/class_splits.h"
#include "data/splits/repeated_splits.h"
#include "data/task.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/study/check_inputs.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/task/split_table.h"
#include "tools/cli/task/task_new.h"
#include "tools/cli/task/task_samples.h"

namespace openset {
namespace {

// The class of each output of a network, in the order that `openset score` expects.
void ShowOutputs(const std::vector<TaskData>& data, const Catalog& catalog) {
  constexpr int kMostNamed = 30, kFirst = 3;
  std::cout << "\noutputs of a network for each split:\n";
  for (size_t split = 0; split < data.size(); ++split) {
    const Selection& known = data[split].test_known();
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(known.data_set());
    if (!info.ok()) continue;
    const auto& names = (*info)->class_title().empty() ? (*info)->class_name() : (*info)->class_title();
    const int size = known.class_id_size();
    std::vector<std::string> outputs;
    for (int k = 0; k < size; ++k) {
      if (size > kMostNamed && k == kFirst) {
        outputs.push_back("...");
        k = size - 1;
      }
      outputs.push_back(absl::StrCat("output ", k, " = ", OneLine(names.Get(known.class_id(k)))));
    }
    std::cout << Wrapped(absl::StrCat("split ", split, ": ", absl::StrJoin(outputs, ", "))) << "\n";
  }
}

// The splits of a task, and which of them are equal.
absl::Status ShowTask(const std::string& name, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, FindSpecFolders(config));
  const std::string path = absl::EndsWith(name, ".textproto") ? UserPath(name) : name;
  AddLibraryOfTask(path, &folders);
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  std::vector<std::string> hints;
  OPENSET_ASSIGN_OR_RETURN(const TaskSpec task, LoadTask(path, folders, "", catalog, &hints));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> class_splits, ClassSplitsOf(task, catalog));
  // The hash includes the content of files, as in `openset plan`.
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRead));
  OPENSET_ASSIGN_OR_RETURN(const ResolvedContents contents,
                           ResolveContentDigests(store, config.data_folders, /*progress=*/nullptr, {task},
                                                 /*study=*/"", &catalog));
  std::vector<TaskData> data;
  absl::Status training;  // networks that were trained elsewhere need no training images
  for (int split = 0; split < CountSplits(task); ++split) {
    OPENSET_ASSIGN_OR_RETURN(data.emplace_back(), ResolveTask(task, class_splits, {split}, catalog));
    if (task.test_only() || !training.ok()) continue;
    training = CheckTrainingSamples(data.back(), split, /*with_external=*/true, catalog);
  }
  std::vector<ResolvedSplit> splits;
  for (int split = 0; split < CountSplits(task); ++split) splits.push_back({task.name(), split, &data[split]});
  OPENSET_ASSIGN_OR_RETURN(const Table table, SplitTable(splits, catalog, config.data_folders));
  std::cout << task.name() << (task.title().empty() ? "" : absl::StrCat(": ", OneLine(task.title()))) << "\n\n"
            << ToText(table) << "\n"
            << Wrapped(kSplitColumns) << "\n";
  ShowOutputs(data, catalog);
  for (const std::string& line : contents.lines) std::cout << "\nhash: " << Wrapped(line) << "\n";
  for (const std::string& line : contents.changed) std::cerr << "hint: " << line << "\n";
  for (const std::string& line : hints) std::cerr << "hint: " << line << "\n";
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> repeats, RepeatTexts(task, {}, catalog));
  for (const std::string& line : repeats) std::cerr << "hint: " << line << "\n";
  if (!training.ok()) std::cerr << "warning: " << task.name() << ": " << training.message() << "\n";
  return absl::OkStatus();
}

absl::Status RunTask(const std::vector<std::string>& arguments, const RunConfig& config) {
  const std::string& what = arguments[0];
  if (what == "new" && arguments.size() == 2) return NewTask(arguments[1], config);
  if (what == "splits" && arguments.size() == 2) return ShowTask(arguments[1], config);
  if (what == "samples" && arguments.size() == 2) return WriteTaskSamples(arguments[1], config);
  const std::vector<std::string> known = {"new", "samples", "splits"};
  if (!absl::c_linear_search(known, what)) return absl::InvalidArgumentError(UnknownName("action", what, known));
  return absl::InvalidArgumentError(absl::StrCat(what, ": takes one argument, a task's name"));
}

}  // namespace

Command TaskCommand() {
  Command command;
  command.name = "task";
  command.arguments = "splits NAME | new NAME | samples NAME";
  command.min_arguments = 1;
  command.max_arguments = 2;
  command.summary = "Shows the splits of a task, makes a task, or writes its samples.";
  command.description =
      "splits   shows each split's numbers of classes and samples, openness, the ratio of unknown to known samples "
      "and\n"
      "         hash, and which output of a network is for which class; names splits that repeat another split\n"
      "new      writes tasks/NAME.textproto into the library of --into, with listed or drawn known classes; all "
      "others\n"
      "         are unknown, or those of --unknown; --near and --far name data sets or folders of unknown images\n"
      "samples  writes the test and training samples of --split as arrays into the folder --out, for networks that\n"
      "         run elsewhere: images, or paths of their files, or features; labels; groups; with\n"
      "         --validation_per_class, the samples of searches too; with --fit_part, other images to fit to.\n"
      "         Without --out, prints the test samples: class, group, and the path or the place of each\n"
      "         (--format=csv)\n"
      "\n"
      "  openset task splits cifar10\n"
      "  openset task new pets --data=photos --known=cat,dog --splits=1 --seed=0\n"
      "  openset task new found --data=found --splits=1      (classes that only its folder test has are unknown)\n"
      "  openset task new digits --data=mnist --known=6 --unknown=4 --splits=5\n"
      "  openset task new open --data=cifar100 --known=20 --openness=0.3\n"
      "  openset task new mixed --data=cifar10 --known=6 --unknown=4 --near=cifar100 --far=svhn,dtd\n"
      "  openset task new clothes --data=fashion_mnist --known=Dress,Bag --splits=1 --folds=5\n"
      "  openset task new real --like=cifar40_60 --known=@forty.txt --splits=1\n"
      "  openset task samples cifar10 --split=0 --out=samples\n"
      "  openset task samples pets --split=0 --format=csv\n"
      "\n"
      "A list has commas, or is a file with one item on each line: @FILE. Splits by attributes of classes or by "
      "WordNet\n"
      "are made in Python: python -m openset.splits --help. See docs/tasks.md.\n";
  command.flags = {"data",    "known",       "unknown",    "openness", "splits",
                   "folds",   "seed",        "like",       "into",     "near",
                   "far",     "library",     "store",      "deploy",   "split",
                   "out",     "train_limit", "test_limit", "format",   "validation_per_class",
                   "fit_part"};
  command.run = RunTask;
  return command;
}

}  // namespace openset
