// The `openset` command. It starts in milliseconds because it doesn't link LibTorch; tools/worker_main.cc does.
#include <vector>

#include "core/process/run_main.h"
#include "tools/cli/command.h"
#include "tools/cli/commands.h"

namespace {

int Run(int argc, char** argv) {
  std::vector<openset::Command> commands;
  commands = {openset::RunCommand(),        openset::PlanCommand(),          openset::StatusCommand(),
              openset::CancelCommand(),     openset::ReportCommand(),        openset::ScoreCommand(),
              openset::EvalCommand(),       openset::CompareCommand(),       openset::ThresholdCommand(),
              openset::DetectorCommand(),   openset::FigureCommand(),        openset::ListCommand(&commands),
              openset::ShowCommand(),       openset::DataCommand(),          openset::TaskCommand(),
              openset::RecordsCommand(),    openset::DevicesCommand(),       openset::ExplainCommand(),
              openset::ExportCommand(),     openset::ReproduceCommand(),     openset::ServeCommand(),
              openset::CompletionCommand(), openset::EvaluateWorkerCommand()};
  return openset::RunCommandLine(
      "openset measures open-set recognition, out-of-distribution detection and misclassification detection.", commands,
      argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  return openset::RunMain("openset", [&] { return Run(argc, argv); });
}
