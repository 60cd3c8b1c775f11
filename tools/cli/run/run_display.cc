#include "tools/cli/run/run_display.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/process/steady_clock.h"
#include "core/text/one_line.h"
#include "core/text/terminal.h"
#include "experiments/action/stage.h"
#include "experiments/spec/trial.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store.h"

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
  for (const std::string& flag : run.overrides()) absl::StrAppend(&text, " ", flag);
  return OneLine(text);
}

std::string RunnerText(const RunState& run) {
  return OneLine(absl::StrCat(run.user_name().empty() ? "" : absl::StrCat(run.user_name(), " on "), RunName(run.id())));
}

std::string TotalLine(const RunState& run) {
  // Shares are of the estimated work; 100 % is for the end alone.
  const double most = run.ended() < run.actions() ? 99 : 100;
  std::string line =
      absl::StrFormat("%d/%d actions, %.0f %%", run.ended(), run.actions(), std::min(100 * run.fraction(), most));
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
  const WorkProgress& progress = action.progress();
  if (progress.has_epochs()) {
    add(absl::StrCat("epoch ", progress.epoch(), "/", progress.epochs()));
  } else if (!progress.what().empty()) {
    add(progress.what());
  } else if (progress.fraction() > 0) {
    add(absl::StrFormat("%.0f %%", 100 * progress.fraction()));
  }
  if (progress.has_loss()) add(absl::StrFormat("loss %.3f", progress.loss()));
  if (progress.has_metric()) add(absl::StrFormat("%s %.3f", progress.metric(), progress.metric_value()));
  if (progress.has_images_per_second()) add(absl::StrFormat("%.0f images/s", progress.images_per_second()));
  if (action.attempt() > 1) add(absl::StrCat("attempt ", action.attempt()));
  return line;
}

namespace {

constexpr absl::Duration kPlainLineEvery = absl::Seconds(30);
// The least interval; writing takes at most a fiftieth of the time.
constexpr absl::Duration kReportEvery = absl::Seconds(10);
constexpr int kReportShare = 50;
constexpr int kMostLines = 12;  // for running actions
constexpr int kBarWidth = 24;

}  // namespace

RunDisplay::RunDisplay(const Plan& plan, RunDisplayOptions options, std::ostream* out)
    : plan_(plan),
      options_(std::move(options)),
      clock_(options_.clock != nullptr ? options_.clock : SteadyNow),
      out_(out),
      progress_(plan, clock_, options_.expected),
      last_block_(clock_()),
      last_report_(last_block_) {}

RunDisplay::~RunDisplay() { EraseBlock(); }

std::string RunDisplay::What(ActionId id) const { return openset::Describe(plan_.TrialOf(plan_[id])); }

std::string RunDisplay::LogOf(ActionId id) const {
  if (options_.store.empty()) return "";
  const std::string log = Store(options_.store).FindLog(plan_[id].key);
  return log.empty() ? "" : absl::StrCat("; log: ", log);
}

void RunDisplay::OnBegin(const std::vector<std::string>& quarantined, const std::vector<RunState>& others) {
  if (options_.on_begin != nullptr) options_.on_begin(quarantined, others);
}

void RunDisplay::OnStart(ActionId id) {
  started_.insert(id);
  elsewhere_.erase(id);
  progress_.Start(id);
}

void RunDisplay::OnProgress(ActionId id, const WorkProgress& progress) { progress_.Advance(id, progress); }

void RunDisplay::OnFinish(ActionId id, const absl::Status& status) {
  std::string how = "0s";  // for an action that was done together with another one
  if (const std::optional<absl::Duration> time = progress_.TimeOf(id); time.has_value()) {
    how = ShortDuration(*time);
    const WorkProgress* last = progress_.LastOf(id);
    if (plan_[id].kind == ActionKind::kTrain && last->has_images_per_second()) {
      absl::StrAppendFormat(&how, ", %.0f images/s", last->images_per_second());
    }
  } else if (!plan_[id].is_passenger()) {
    how = "by another process";
  }
  started_.erase(id);
  elsewhere_.erase(id);
  status.ok() ? progress_.Finish(id) : progress_.Fail(id);
  has_new_records_ |= plan_[id].kind == ActionKind::kEvaluate;
  const int width = static_cast<int>(absl::StrCat(progress_.total()).size());
  const std::string count = absl::StrFormat("[%*d/%d]", width, progress_.ended(), progress_.total());
  if (status.ok()) {
    Line(absl::StrCat(count, " ", StageOf(plan_[id]).PastTense(plan_[id].role), " ", What(id), " (", how, ")"));
  } else {
    const char* verb = StageOf(plan_[id]).Verb(plan_[id].role);
    Line(absl::StrCat(count, " FAILED to ", verb, " ", What(id), ": ", status.message(), LogOf(id)));
  }
}

void RunDisplay::OnSkip(ActionId id) {
  started_.erase(id);
  progress_.Skip(id);
}

void RunDisplay::OnStartFailure(ActionId id, const absl::Status& status) {
  const char* waits = started_.empty() ? "" : "; openset retries it when an action ends";
  Line(absl::StrCat("not started: ", What(id), ": ", status.message(), waits));
}

void RunDisplay::OnGpuLost(ActionId id, const absl::Status& why) {
  started_.erase(id);
  progress_.TakeBack(id);
  if (lost_gpus_.insert(std::string(why.message())).second) Line(std::string(why.message()));
}

void RunDisplay::OnRetry(ActionId id, const absl::Status& status, absl::Duration wait) {
  started_.erase(id);
  progress_.Retry(id);
  Line(absl::StrCat("will be retried in ", ShortDuration(wait), ": ", KindName(plan_[id].kind), " ", What(id), ": ",
                    status.message(), LogOf(id)));
}

void RunDisplay::OnElsewhere(ActionId id, const std::string& run_id, bool was_ours) {
  started_.erase(id);
  progress_.WaitFor(id, run_id);
  const std::string what = absl::StrCat(KindName(plan_[id].kind), " ", What(id));
  if (was_ours) {
    Line(absl::StrCat(RunName(run_id), " took over while this process was suspended: ", what,
                      "; this process uses its result"));
  } else if (elsewhere_.insert(id).second) {
    Line(absl::StrCat(RunName(run_id), " runs ", what, "; this process uses its result"));
  }
}

void RunDisplay::OnGrowth(const std::vector<ActionId>& added) {
  for (const ActionId id : added) progress_.Expect(id);
}

void RunDisplay::OnTick() {
  RefreshReport();
  const absl::Duration now = clock_();
  if (options_.width != nullptr) {
    EraseBlock();
    DrawBlock();
  } else if (now - last_block_ >= kPlainLineEvery) {
    last_block_ = now;
    RunState state;
    progress_.Describe(&state);
    std::string line = TotalLine(state);
    const int shown = std::min(state.running_size(), kMostLines);
    for (int i = 0; i < shown; ++i) absl::StrAppend(&line, " | ", ActionLine(state.running(i)));
    if (state.running_size() > shown) absl::StrAppend(&line, " | and ", state.running_size() - shown, " more");
    Line(line);
  }
}

void RunDisplay::Describe(RunState* state) const {
  state->set_experiment(options_.experiment);
  state->mutable_overrides()->Assign(options_.overrides.begin(), options_.overrides.end());
  if (!options_.slurm_job.empty()) state->set_slurm_job(options_.slurm_job);
  progress_.Describe(state);
}

void RunDisplay::RefreshReport() {
  const absl::Duration start = clock_();
  if (options_.refresh_report == nullptr || !has_new_records_) return;
  if (start - last_report_ < std::max(kReportEvery, kReportShare * report_cost_)) return;
  if (const std::string line = options_.refresh_report(); !line.empty()) Line(line);
  has_new_records_ = false;
  last_report_ = clock_();
  report_cost_ = last_report_ - start;
}

void RunDisplay::DrawBlock() {
  // The last column stays free: some terminals go to the next line after it.
  const size_t width = std::max(20, options_.width() - 1);
  RunState state;
  progress_.Describe(&state);
  const int shown = std::min(state.running_size(), kMostLines);
  std::vector<std::string> lines;
  for (int i = 0; i < shown; ++i) lines.push_back(absl::StrCat("  ", ActionLine(state.running(i))));
  if (state.running_size() > shown) lines.push_back(absl::StrCat("  and ", state.running_size() - shown, " more"));
  lines.push_back(BarLine(state, kBarWidth));
  for (size_t l = 0; l < lines.size(); ++l) *out_ << (l > 0 ? "\n" : "") << Shortened(OneLine(lines[l]), width);
  *out_ << std::flush;
  block_lines_ = static_cast<int>(lines.size());
}

void RunDisplay::EraseBlock() {
  for (int l = 0; l < block_lines_; ++l) WriteCodes(l > 0 ? "\033[A\r\033[K" : "\r\033[K", out_);
  if (block_lines_ > 0) *out_ << std::flush;
  block_lines_ = 0;
}

void RunDisplay::Line(const std::string& text) {
  EraseBlock();
  // Indents further lines of a message, so that they don't look like our own lines.
  *out_ << absl::StrReplaceAll(Printable(text), {{"\n", "\n    "}}) << std::endl;
}

}  // namespace openset
