#include "tools/cli/run/run_lines.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "core/text/one_line.h"
#include "experiments/store/processes/leases.h"

namespace openset {

std::string ShortDuration(absl::Duration duration) {
  const int64_t seconds = std::llround(absl::ToDoubleSeconds(duration));
  if (seconds < 60) return absl::StrCat(seconds, "s");
  if (seconds < 3600) return absl::StrFormat("%dm%02ds", seconds / 60, seconds % 60);
  return absl::StrFormat("%dh%02dm", seconds / 3600, seconds / 60 % 60);
}

std::string Shortened(const std::string& text, size_t width) {
  if (text.size() <= width || width < 3) return text;
  const absl::string_view start = absl::string_view(text).substr(0, width - 3);
  return absl::StrCat(start.substr(0, start.size() - UnfinishedBytes(start)), "...");
}

std::string StudyText(const RunState& run) {
  std::string text = run.experiment();
  for (const std::string& flag : run.laid_over()) absl::StrAppend(&text, " ", flag);
  return OneLine(text);
}

std::string RunnerText(const RunState& run) {
  return OneLine(absl::StrCat(run.user_name().empty() ? "" : absl::StrCat(run.user_name(), " on "), RunName(run.id())));
}

std::string TotalLine(const RunState& run) {
  std::string line = absl::StrFormat("%d/%d actions, %.0f %%", run.ended(), run.actions(), 100 * run.fraction());
  if (run.has_seconds_left()) {
    absl::StrAppend(&line, ", ", run.left_is_rough() ? "roughly " : "",
                    ShortDuration(absl::Seconds(run.seconds_left())), " left");
  }
  if (run.failed() > 0) absl::StrAppend(&line, ", ", run.failed(), " failed");
  return line;
}

std::string BarLine(const RunState& run, int width) {
  const int done = std::clamp(static_cast<int>(width * run.fraction()), 0, width);
  return absl::StrCat("[", std::string(done, '#'), std::string(width - done, '.'), "] ", TotalLine(run));
}

std::string ActionLine(const RunningAction& action) {
  std::string line = absl::StrCat(action.kind(), " ", action.description());
  if (!action.elsewhere().empty()) return absl::StrCat(line, ": by ", action.elsewhere());
  std::string separator = ": ";
  const auto add = [&](const std::string& text) {
    absl::StrAppend(&line, separator, text);
    separator = ", ";
  };
  if (action.has_epochs()) {
    add(absl::StrCat("epoch ", action.epoch(), "/", action.epochs()));
  } else if (!action.what().empty()) {
    add(action.what());
  } else if (action.fraction() > 0) {
    add(absl::StrFormat("%.0f %%", 100 * action.fraction()));
  }
  if (action.has_loss()) add(absl::StrFormat("loss %.3f", action.loss()));
  if (action.has_metric()) add(absl::StrFormat("%s %.3f", action.metric(), action.metric_value()));
  if (action.has_images_per_second()) add(absl::StrFormat("%.0f images/s", action.images_per_second()));
  if (action.attempt() > 1) add(absl::StrCat("attempt ", action.attempt()));
  return line;
}

}  // namespace openset
