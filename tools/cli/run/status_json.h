// `openset status` as JSON.
#ifndef OPENSET_TOOLS_CLI_RUN_STATUS_JSON_H_
#define OPENSET_TOOLS_CLI_RUN_STATUS_JSON_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/store/collect_garbage.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/study/failures.h"
#include "experiments/study/study.h"

namespace openset {

// {"study", "overrides", "trials", "done", "left", "waiting", "running": [...], "failed": [{"what", "kind", "log"}],
// "damaged": [...]}. `runs`: of the study.
std::string StudyStatusJson(const Study& study, const std::vector<RunState>& runs,
                            const std::vector<StudyFailure>& failures);

// {"store", "studies": [{"study", "records", "users", "last", "bytes"}], "bytes": {KIND: ...}, "running": [...]}. Times
// are seconds since 1970, UTC. `runs`: all of the store.
std::string StoreStatusJson(const std::string& store, const std::vector<StudyUsage>& studies,
                            const std::map<std::string, int64_t>& by_user,
                            const std::vector<std::pair<std::string, int64_t>>& kinds,
                            const std::vector<RunState>& runs);

// The same numbers in Prometheus' text format: openset_records and openset_study_bytes by study, openset_store_bytes by
// kind of file, openset_runs, openset_running_actions. `runs`: all of the store.
std::string PrometheusText(const std::vector<StudyUsage>& studies, const std::map<std::string, int64_t>& by_user,
                           const std::vector<std::pair<std::string, int64_t>>& kinds,
                           const std::vector<RunState>& runs);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_STATUS_JSON_H_
