#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/table.h"
#include "core/text/terminal.h"
#include "data/catalog.h"
#include "data/fetch/fetch_data_set.h"
#include "data/inspect/channel_statistics.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "tools/cli/data/actions.h"
#include "tools/cli/data/data_commands.h"
#include "tools/cli/data/data_flags.h"

ABSL_FLAG(std::vector<std::string>, parts, {}, "Parts of the data set, separated by commas. Default: all.");
ABSL_FLAG(bool, images, false, "Decode every image.");
ABSL_FLAG(
    bool, unverified, false,
    "Also download files without a published SHA-256, whose content can't be checked. Only if you trust the server.");

namespace openset {
namespace {

constexpr size_t kAnyWidth = 1000;

// "3 x 32 x 32".
std::string ShapeText(const DataSetInfo& info) {
  if (info.height() == 0) return absl::StrCat(info.channels(), " x any size");
  return absl::StrCat(info.channels(), " x ", info.height(), " x ", info.width());
}

absl::Status RunList() {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, CatalogFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> folders, DataFoldersFromFlags());
  Table table{{"data set", "images", "classes", "size", "here", "what it is"}, {}, 6};
  for (const std::string& name : catalog.names()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(name));
    std::vector<std::string> here;
    int64_t images = 0;
    bool at_most = false;
    for (const DataSetPart& part : info->layout(0).part()) {
      images += part.samples();
      at_most = at_most || CountsFiles(part);
      if (FindPartFiles(*info, part.name(), folders).ok()) here.push_back(part.name());
    }
    const bool all = here.size() == info->layout(0).part_size();
    table.rows.push_back({name, absl::StrCat(at_most ? "up to " : "", images), absl::StrCat(info->class_name_size()),
                          ShapeText(*info),
                          here.empty() ? "-"
                          : all        ? "all"
                                       : absl::StrJoin(here, ", "),
                          info->title()});
  }
  // Not split into several tables, because the last column may be cut off.
  std::cout << ToText(table, kAnyWidth)
            << "\n'openset data fetch NAME' downloads one; 'openset show data NAME' shows its details.\n";
  return absl::OkStatus();
}

absl::Status RunFetch(const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, CatalogFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(name));
  FetchOptions options;
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  // The first folder of --data, or the user's own, which is the last of the default folders.
  options.data_folder =
      deployment.spec.data_folder_size() > 0 ? deployment.spec.data_folder(0) : options.data_folders.back();
  options.parts = absl::GetFlag(FLAGS_parts);
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  options.package_script = JoinPath(runfiles, "openset/third_party/fetch.sh");
  options.say = [](const std::string& line) { std::cerr << "openset: " << line << std::endl; };
  options.say(
      absl::StrCat("licence of ", info->name(), ": ", info->licence().empty() ? "not stated" : info->licence()));
  if (!info->reference().empty()) options.say(absl::StrCat("please cite ", info->reference()));
  ProgressLine line = ProgressLine::ToStandardError("bytes");
  options.unverified = absl::GetFlag(FLAGS_unverified);
  options.download.progress = [&line](const std::string& what, int64_t done, int64_t total) {
    line.Update(what, done, total);
  };
  return FetchDataSet(*info, options);
}

// "0.4914 0.4822 0.4465".
std::string FourDigits(const std::vector<double>& values) {
  return absl::StrJoin(values, " ", [](std::string* out, double value) { absl::StrAppendFormat(out, "%.4f", value); });
}

// "mean 0.1307, std 0.3081 (as the catalog says)": within one in the fourth digit of each.
std::string StatisticsText(const ChannelStatistics& found, const DataSetInfo& info, const std::string& part) {
  const std::vector<double> means = found.Means(), deviations = found.Deviations();
  const std::string text = absl::StrCat("mean ", FourDigits(means), ", std ", FourDigits(deviations));
  if (part != "train" || info.mean_size() == 0) return text;
  const std::vector<double> known_means(info.mean().begin(), info.mean().end());
  const std::vector<double> known_deviations(info.std().begin(), info.std().end());
  const auto near = [](double a, double b) { return std::abs(a - b) < 1.5e-4; };
  const bool same =
      std::equal(means.begin(), means.end(), known_means.begin(), known_means.end(), near) &&
      std::equal(deviations.begin(), deviations.end(), known_deviations.begin(), known_deviations.end(), near);
  if (same) return text + " (as the catalog says)";
  return absl::StrCat(text, " (the catalog says ", FourDigits(known_means), " and ", FourDigits(known_deviations), ")");
}

absl::Status RunVerify(const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, CatalogFromFlags());
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(DataSetName(name, catalog)));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> folders, DataFoldersFromFlags());
  std::vector<std::string> parts = absl::GetFlag(FLAGS_parts);
  if (parts.empty()) parts = PartNames(*info);
  for (const std::string& part : parts) {
    OPENSET_RETURN_IF_ERROR(CheckFiles(*info, part, folders));
    OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(*info, part, folders));
    ChannelStatistics statistics;
    if (absl::GetFlag(FLAGS_images)) {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<DamagedImage> damaged,
                               ForEachImage(absl::StrCat("reading ", info->name(), " ", part), *source,
                                            [&](int64_t, const Image& image) { statistics.Add(image); }));
      if (!damaged.empty()) return DamagedStatus(damaged);
    }
    std::cout << info->name() << " " << part << ": " << source->index().size() << " images, as published\n";
    if (statistics.images() > 0) std::cout << "  " << StatisticsText(statistics, *info, part) << "\n";
  }
  return absl::OkStatus();
}

absl::Status RunData(const std::vector<std::string>& arguments) {
  const std::string& action = arguments[0];
  const std::vector<std::string> known = {"list", "fetch", "verify", "show", "describe", "audit"};
  if (std::count(known.begin(), known.end(), action) == 0) {
    return absl::InvalidArgumentError(UnknownName("action of 'openset data'", action, known));
  }
  const size_t wanted = action == "list" ? 1 : 2;
  if (arguments.size() != wanted) {
    return absl::InvalidArgumentError(absl::StrCat("usage: openset data ", action, wanted == 2 ? " NAME" : "",
                                                   " ('openset data --help' shows details)"));
  }
  if (action == "list") return RunList();
  if (action == "fetch") return RunFetch(arguments[1]);
  if (action == "verify") return RunVerify(arguments[1]);
  if (action == "show") return ShowImages(arguments[1]);
  if (action == "describe") return DescribeImages(arguments[1]);
  return AuditImages(arguments[1]);
}

}  // namespace

Command DataCommand() {
  Command command;
  command.name = "data";
  command.arguments = "list | fetch NAME | verify NAME | show NAME | describe FOLDER | audit NAME";
  command.min_arguments = 1;
  command.max_arguments = 2;
  command.summary = "Lists, downloads, checks, shows, describes and audits data sets.";
  command.description =
      "list      lists the data sets of the catalog, and which of their parts you have\n"
      "fetch     downloads a data set into the first folder of --data (default: ~/.cache/openset/data), from the\n"
      "          first source that works; resumes partial downloads, checks every file, and prints the licence and\n"
      "          what to do by hand.\n"
      "          A file without a published SHA-256 (notmnist) needs --unverified\n"
      "verify    compares the files with the published checksums; with --images, decodes every image and prints the\n"
      "          mean and standard deviation\n"
      "show      writes a contact sheet (PNG) of a data set, a folder of images, or a task's known and unknown\n"
      "          classes\n"
      "describe  writes the catalog entry of a folder of images (one folder for each class): classes, counts, mean\n"
      "          and standard deviation; says what it leaves out. Reads PNG, JPEG, WebP, TIFF, GIF, BMP and PNM\n"
      "audit     finds exact and near duplicates in a data set or between the data sets of a task\n"
      "\n"
      "  openset data fetch cifar10\n"
      "  openset data show fashion_mnist_6_4 --split=1 --sheet=fashion.png\n"
      "  openset data describe ~/photos --name=photos\n"
      "  openset data audit cifar10_plus_50\n";
  command.flags = {"data", "library",    "deploy",       "parts", "images", "unverified", "name", "into",
                   "seed", "test_share", "skip_damaged", "split", "sheet",  "per_class",  "tile", "exact"};
  command.run = RunData;
  return command;
}

}  // namespace openset
