#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/chart/vector_file.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "core/table.h"
#include "experiments/figures/make_figure.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"

ABSL_FLAG(std::string, folder, ".", "Folder for the figure's .svg and .csv.");

namespace openset {
namespace {

// The path of a spec that is given by path, or by the name of one that comes with the program.
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

absl::Status RunFigure(const std::vector<std::string>& arguments) {
  OPENSET_ASSIGN_OR_RETURN(const std::string path, SpecPath(arguments[0]));
  FigureSpec spec;
  OPENSET_RETURN_IF_ERROR(ReadTextProto(path, &spec).status());
  const Figure figure = MakeFigure(spec);
  const std::string folder = UserPath(absl::GetFlag(FLAGS_folder));
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
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Draws a figure that needs no training, from made-up predictions.";
  command.description =
      "SPEC is a FigureSpec in a .textproto, or one of openauc_figure_1 (metrics over the TPR of the unknown class),\n"
      "imbalance_figure_1 (known and unknown samples over openness), imbalance_figure_2 (base metrics of random\n"
      "predictions). Writes the picture and the numbers in it.\n"
      "\n"
      "  openset figure imbalance_figure_1\n"
      "  openset figure openauc_figure_1 --folder=figures\n";
  command.flags = {"folder"};
  command.run = RunFigure;
  return command;
}

}  // namespace openset
