#include "core/chart/vector_file.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/files/temporary_folder.h"
#include "core/process/python.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"

namespace openset {
namespace {

// The most output of the drawing program that an error shows.
constexpr int64_t kMostLogBytes = 1 << 16;

absl::StatusOr<std::string> FormatOf(const std::string& path) {
  for (const char* format : {"svg", "pdf", "png"}) {
    if (absl::EndsWithIgnoreCase(path, absl::StrCat(".", format))) return std::string(format);
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": the name of a figure's file must end in .svg, .pdf or .png"));
}

}  // namespace

absl::Status WriteVectorFiles(const std::vector<std::pair<std::string, VegaLite>>& charts,
                              std::optional<double> inches) {
  if (charts.empty()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("figures"));
  VegaLite jobs = VegaLite::array();
  std::vector<std::string> drawn;
  for (const auto& [path, spec] : charts) {
    OPENSET_ASSIGN_OR_RETURN(const std::string format, FormatOf(path));
    drawn.push_back(JoinPath(folder.path(), absl::StrCat(drawn.size())));
    VegaLite job = VegaLite::object();
    job["spec"] = spec;
    job["format"] = format;
    job["out"] = drawn.back();
    if (inches.has_value()) job["inches"] = *inches;
    jobs.push_back(job);
  }
  const std::string jobs_file = JoinPath(folder.path(), "jobs.json");
  const std::string log_file = JoinPath(folder.path(), "log");
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(jobs_file, JsonText(jobs)));
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  OPENSET_ASSIGN_OR_RETURN(
      const std::unique_ptr<Subprocess> process,
      Subprocess::Start(
          {"/usr/bin/env", PythonProgram(), JoinPath(runfiles, "openset/core/chart/vector_file.py"), jobs_file},
          {{"PYTHONPATH", JoinPath(runfiles, "vl_convert")}, {"PYTHONDONTWRITEBYTECODE", "1"}}, log_file));
  constexpr int kNotFound = 127;  // the exit code of env
  if (const ProcessEnd end = process->Wait(); !end.ok()) {
    if (end.exit_code == kNotFound) {
      return absl::UnavailableError(
          "figures are drawn by python3, which this machine does not have; install it, or "
          "use the page (.html) or the numbers (.csv), which don't need it");
    }
    const absl::StatusOr<std::string> log = ReadFile(log_file, kMostLogBytes);
    return absl::InternalError(absl::StrCat("drawing ", charts[0].first, ": the program that draws ", end.Text(),
                                            log.ok() ? absl::StrCat(": ", *log) : ""));
  }
  for (size_t i = 0; i < charts.size(); ++i) {
    OPENSET_ASSIGN_OR_RETURN(const std::string content, ReadFile(drawn[i]));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(charts[i].first, content));
  }
  return absl::OkStatus();
}

}  // namespace openset
