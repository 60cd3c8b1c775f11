#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/chart/vector_file.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/table.h"
#include "experiments/figures/make_figure.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/experiment.proto.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/records/bundle_records.h"
#include "tools/cli/study_figure.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

// The path of a spec that is given by its path, or by its name in the libraries.
absl::StatusOr<std::string> SpecPath(const std::string& spec) {
  if (absl::EndsWith(spec, ".textproto")) return UserPath(spec);
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  const std::string folder = JoinPath(runfiles, "openset/experiments/figures");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> files, ListFolder(folder));
  std::vector<std::string> known;
  for (absl::string_view file : files) {
    if (!absl::ConsumeSuffix(&file, ".textproto")) continue;
    if (file == spec) return JoinPath(folder, absl::StrCat(spec, ".textproto"));
    known.emplace_back(file);
  }
  return absl::NotFoundError(UnknownName("figure", spec, known));
}

// "pets" of "results/pets.zip".
std::string NameOf(const std::string& bundle) {
  const std::string file = bundle.substr(bundle.rfind('/') + 1);
  return file.substr(0, file.size() - std::string(".zip").size());
}

// The figure and the first part of its file's name.
absl::StatusOr<std::pair<StudyFigure, std::string>> Draw(const std::string& spec, const RunConfig& config) {
  if (!IsBundle(spec)) {
    OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(spec, config));
    OPENSET_RETURN_IF_ERROR(CheckIsOfBundle(*study));
    OPENSET_ASSIGN_OR_RETURN(StudyFigure figure, DrawStudyFigure(*study, config));
    return std::pair(std::move(figure), study->name());
  }
  OPENSET_RETURN_IF_ERROR(RefuseChangeFlags("a bundle", config));
  OPENSET_ASSIGN_OR_RETURN(std::vector<TrialRecord> records, RecordsOfBundle(spec, config));
  OPENSET_ASSIGN_OR_RETURN(StudyFigure figure, DrawRecordsFigure(spec, std::move(records), config));
  return std::pair(std::move(figure), NameOf(spec));
}

absl::Status DrawStudy(const std::string& spec, const RunConfig& config) {
  if (config.width != "column" && config.width != "page") {
    return absl::InvalidArgumentError(
        absl::StrCat("--width: ", UnknownName("width", config.width, {"column", "page"})));
  }
  if (const std::string& scale = config.x_scale; scale != "auto" && scale != "linear" && scale != "log") {
    return absl::InvalidArgumentError(
        absl::StrCat("--x_scale: ", UnknownName("scale", scale, {"auto", "linear", "log"})));
  }
  if (config.folder != ".") {
    return absl::InvalidArgumentError("--folder: is for figures that need no study; use --out for a study's figure");
  }
  if (const std::string& labels = config.labels; labels != "titles" && labels != "names") {
    return absl::InvalidArgumentError(absl::StrCat("--labels: ", UnknownName("label", labels, {"titles", "names"})));
  }
  if (const auto spread = ParseSpread(config.spread); !spread.ok()) return Annotate(spread.status(), "--spread");
  OPENSET_ASSIGN_OR_RETURN(const auto drawn, Draw(spec, config));
  const auto& [figure, name] = drawn;
  const std::string file = UserPath(config.out.empty() ? absl::StrCat(name, "_", figure.name, ".svg") : config.out);
  constexpr double kColumn = 3.3, kPage = 6.6;  // inches
  OPENSET_RETURN_IF_ERROR(WriteVectorFiles({{file, figure.chart}}, config.width == "column" ? kColumn : kPage));
  std::cout << file << "\n";
  return absl::OkStatus();
}

// A spec by its path or name. Errors: a read error (core/files/system_calls.h); kInvalidArgument for an invalid spec.
// If it may be a study, the message has the command for a study's figure.
absl::StatusOr<FigureSpec> ReadFigureSpec(const std::string& name) {
  FigureSpec spec;
  const absl::StatusOr<std::string> path = SpecPath(name);
  const absl::Status status = path.ok() ? ReadTextProto(*path, &spec).status() : path.status();
  if (status.ok()) return spec;
  ExperimentSpec study;
  if (path.ok() && !ReadTextProto(*path, &study).ok()) return status;
  return absl::Status(status.code(), path.ok() ? absl::StrCat(name, ": ", kStudyFigureForms)
                                               : absl::StrCat(status.message(), "; ", kStudyFigureForms));
}

absl::Status RunFigure(const std::vector<std::string>& arguments, RunConfig config) {
  config.y = SuggestedMetric(config.y);
  config.improvement = SuggestedMetric(config.improvement);
  if (!config.x.empty() || !config.y.empty() || !config.curve.empty() || !config.improvement.empty() ||
      !config.softmax.empty()) {
    return DrawStudy(arguments[0], config);
  }
  OPENSET_ASSIGN_OR_RETURN(const FigureSpec spec, ReadFigureSpec(arguments[0]));
  if (!config.out.empty()) {
    return absl::InvalidArgumentError("--out: is for a study's figure; this figure has two files, use --folder");
  }
  const Figure figure = MakeFigure(spec);
  const std::string folder = UserPath(config.folder);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string file = JoinPath(folder, spec.name());
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(file + ".csv", ToCsv(figure.data)));
  OPENSET_RETURN_IF_ERROR(WriteVectorFiles({{file + ".svg", figure.chart}}));
  std::cout << file << ".svg\n" << file << ".csv\n";
  return absl::OkStatus();
}

}  // namespace

Command FigureCommand() {
  Command command;
  command.name = "figure";
  command.arguments = "SPEC | FOLDER | BUNDLE";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Draws a figure of a study's results, or one that needs no training.";
  command.description =
      "With --x and --y, --curve, --improvement or --softmax, SPEC is a study, a FOLDER with its spec and bundle, or\n"
      "the BUNDLE.zip of its records (except for --softmax, which needs stored outputs; --improvement then needs\n"
      "--baseline). The figure is an .svg, .pdf or .png (--out). Curves are means over splits and seeds, in a band of\n"
      "one population standard deviation on each side, or the band that --spread chooses; densities and heat maps\n"
      "show each method's first trial.\n"
      "\n"
      "Otherwise, SPEC is a FigureSpec in a .textproto, or one of openauc_figure_1 (metrics over the TPR of the\n"
      "unknown class), imbalance_figure_1 (known and unknown samples over openness), imbalance_figure_2 (base metrics\n"
      "of random predictions), toy_softmax (how confident small networks are over a plane). openset writes the\n"
      "picture and its numbers.\n"
      "\n"
      "  openset figure lambda.textproto --x=lambda --y=auroc --out=lambda.pdf\n"
      "  openset figure lambda.textproto --x=lambda --y=auroc --x_scale=log --width=page\n"
      "  openset figure quickstart --curve=loss\n"
      "  openset figure quickstart --curve=oscr --out=oscr.pdf\n"
      "  openset figure unified_benchmark_table_6 --improvement=pooled_aurc\n"
      "  openset figure unified_benchmark_table_6 --softmax=near,textures --methods=mcp,deep_ensemble\n"
      "  openset figure results.zip --improvement=auroc --baseline=mcp --labels=names\n"
      "  openset figure imbalance_figure_1\n"
      "  openset figure openauc_figure_1 --folder=figures\n";
  command.flags = {"x",      "y",       "curve",  "improvement", "softmax", "softmax_classes", "out",
                   "width",  "x_scale", "spread", "baseline",    "labels",  "title",           "legend",
                   "folder", "deploy",  "store",  "devices",     "data",    "library"};
  AddChangeFlags(&command);
  command.run = RunFigure;
  return command;
}

}  // namespace openset
