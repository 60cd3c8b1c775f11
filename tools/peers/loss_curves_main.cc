// Runs the trainings of loss_curves.h and writes them for another program to follow.
#include "core/tensor/torch.h"
// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
#include <iostream>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/process/exit_code.h"
#include "core/status_macros.h"
#include "tools/peers/loss_curves.h"

namespace openset {
namespace {

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("three arguments are needed: FOLDER MODEL STEPS [LOSS]..., of the models ",
                     absl::StrJoin(LossCurveModels(), ", "), ", for example: loss_curves ~/curves osrci_cnn 100"));
  }
  const std::string &folder = arguments[0], &model = arguments[1];
  if (!absl::c_linear_search(LossCurveModels(), model)) {
    return absl::InvalidArgumentError(
        absl::StrCat("MODEL: '", model, "' is not one of ", absl::StrJoin(LossCurveModels(), ", ")));
  }
  int64_t steps = 0;
  if (!absl::SimpleAtoi(arguments[2], &steps) || steps < 1 || steps > 10000) {
    return absl::InvalidArgumentError(
        absl::StrCat("STEPS: must be a whole number from 1 to 10000 (is '", arguments[2], "')"));
  }
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  std::vector<std::string> names(arguments.begin() + 3, arguments.end());
  if (names.empty()) names = LossCurveNames();
  for (const std::string& name : names) {
    if (!absl::c_linear_search(LossCurveNames(), name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("LOSS: '", name, "' is not one of ", absl::StrJoin(LossCurveNames(), ", ")));
    }
    OPENSET_RETURN_IF_ERROR(WriteLossCurve(RunLossCurve(name, model, steps), folder, name));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  openset::InitLogging(argv[0]);
  const absl::Status status = openset::Run({argv + 1, argv + argc});
  if (!status.ok()) std::cerr << "loss_curves: " << status.message() << "\n";
  return openset::ExitCode(status);
}
