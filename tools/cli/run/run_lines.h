// The text of a run's state (RunState), for the terminal in which it runs and for `openset status`.
#ifndef OPENSET_TOOLS_CLI_RUN_RUN_LINES_H_
#define OPENSET_TOOLS_CLI_RUN_RUN_LINES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiments/store/processes/run_state.pb.h"

namespace openset {

// "2m05s", "1h07m".
std::string ShortDuration(absl::Duration duration);

// Shortens a text to `width` characters, the last three of which are then "...".
std::string Shortened(const std::string& text, size_t width);

// "quickstart", "quickstart --set=training.epochs=2".
std::string StudyText(const RunState& run);

// Who runs it: "anna on HOST, process PID".
std::string RunnerText(const RunState& run);

// "3/12 actions, 34 %, 12m05s left, 1 failed".
std::string TotalLine(const RunState& run);

// The same after a bar of `width` characters: "[####......] 3/12 ...".
std::string BarLine(const RunState& run, int width);

// "train openauc on fashion_mnist, split 1, seed 0: epoch 3/20, loss 0.412, accuracy 0.881, 1234 images/s"; for one
// of another process, "...: by HOST, process PID".
std::string ActionLine(const RunningAction& action);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_RUN_LINES_H_
