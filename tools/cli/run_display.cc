#include "tools/cli/run_display.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "experiments/spec/describe.h"

namespace openset {
namespace {

constexpr absl::Duration kPlainLineEvery = absl::Seconds(30);
constexpr absl::Duration kRateNeeds = absl::Seconds(2);

const char* PastTense(const PlanNode& node) {
  switch (node.kind) {
    case ActionKind::kTrain:
      return node.is_import ? "imported " : "trained  ";
    case ActionKind::kInfer:
      return "inferred ";
    case ActionKind::kEvaluate:
      return "evaluated";
    case ActionKind::kChoose:
      return "chose for";
  }
  return "";
}

// Actions without image passes (evaluation) take some time too.
double WorkOf(const PlanNode& node) { return static_cast<double>(node.work) + 1; }

std::string Shortened(const std::string& text, size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

}  // namespace

std::string ShortDuration(absl::Duration duration) {
  const int64_t seconds = std::llround(absl::ToDoubleSeconds(duration));
  if (seconds < 60) return absl::StrCat(seconds, "s");
  if (seconds < 3600) return absl::StrFormat("%dm%02ds", seconds / 60, seconds % 60);
  return absl::StrFormat("%dh%02dm", seconds / 3600, seconds / 60 % 60);
}

RunDisplay::RunDisplay(const Plan& plan, bool terminal, std::ostream* out)
    : plan_(plan), terminal_(terminal), out_(out), start_(absl::Now()), last_line_(start_) {
  for (const PlanNode& node : plan_.nodes) {
    if (node.needed) Expect(node);
  }
}

void RunDisplay::Expect(const PlanNode& node) {
  ++total_;
  total_work_ += WorkOf(node);
}

RunDisplay::~RunDisplay() { EraseLine(); }

void RunDisplay::OnStart(int node) { running_[node].start = absl::Now(); }

void RunDisplay::OnProgress(int node, const WorkProgress& progress) { running_[node].progress = progress; }

void RunDisplay::OnFinish(int node, const absl::Status& status) {
  Running ended;
  ended.start = absl::Now();  // of an action that another one did along with its own
  if (const auto running = running_.find(node); running != running_.end()) {
    ended = running->second;
    running_.erase(running);
  }
  ++ended_;
  done_work_ += WorkOf(plan_.nodes[node]);
  const std::string what = Describe(plan_.TrialOf(plan_.nodes[node]));
  const std::string time = ShortDuration(absl::Now() - ended.start);
  const std::string count = absl::StrFormat("[%*d/%d]", static_cast<int>(absl::StrCat(total_).size()), ended_, total_);
  if (status.ok()) {
    std::string rate;
    if (plan_.nodes[node].kind == ActionKind::kTrain && ended.progress.has_images_per_second()) {
      rate = absl::StrFormat(", %.0f images/s", ended.progress.images_per_second());
    }
    Line(absl::StrCat(count, " ", PastTense(plan_.nodes[node]), " ", what, " (", time, rate, ")"));
  } else {
    const char* verb = plan_.nodes[node].is_import ? "import" : KindName(plan_.nodes[node].kind);
    Line(absl::StrCat(count, " FAILED to ", verb, " ", what, ": ", status.message()));
  }
}

void RunDisplay::OnSkip(int node) {
  ++ended_;
  done_work_ += WorkOf(plan_.nodes[node]);
}

void RunDisplay::OnStartFailure(int node, const absl::Status& status) {
  const char* waits = running_.empty() ? "" : "; tried again when an action has ended";
  Line(absl::StrCat("not started: ", Describe(plan_.trials[plan_.nodes[node].trials[0]]), ": ", status.message(),
                    waits));
}

void RunDisplay::OnGrowth(const std::vector<int>& added) {
  for (const int node : added) Expect(plan_.nodes[node]);
}

void RunDisplay::OnTick() {
  const absl::Time now = absl::Now();
  if (terminal_) {
    EraseLine();
    *out_ << ProgressLine() << std::flush;
    line_shown_ = true;
  } else if (now - last_line_ >= kPlainLineEvery) {
    Line(ProgressLine());
  }
}

std::string RunDisplay::ProgressLine() const {
  const absl::Duration elapsed = absl::Now() - start_;
  double work = done_work_;
  for (const auto& [node, running] : running_) work += running.progress.fraction() * WorkOf(plan_.nodes[node]);
  std::string line = absl::StrFormat("%d/%d actions, %.0f %%", ended_, total_, 100 * work / std::max(total_work_, 1.0));
  if (elapsed > kRateNeeds && work > 0) {
    absl::StrAppend(&line, ", ", ShortDuration(elapsed * ((total_work_ - work) / work)), " left");
  }
  for (const auto& [node, running] : running_) {
    if (running.progress.what().empty()) continue;
    absl::StrAppend(&line, " | ", plan_.TrialOf(plan_.nodes[node]).method().name(), ": ", running.progress.what());
    if (running.progress.has_images_per_second()) {
      absl::StrAppendFormat(&line, ", %.0f images/s", running.progress.images_per_second());
    }
  }
  return terminal_ ? Shortened(line, 110) : line;
}

void RunDisplay::EraseLine() {
  if (line_shown_) *out_ << "\r\033[K" << std::flush;
  line_shown_ = false;
}

void RunDisplay::Line(const std::string& text) {
  EraseLine();
  *out_ << text << std::endl;
  last_line_ = absl::Now();
}

}  // namespace openset
