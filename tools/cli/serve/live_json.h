// The current runs of a store, which the pages of `openset serve` request every two seconds.
#ifndef OPENSET_TOOLS_CLI_SERVE_LIVE_JSON_H_
#define OPENSET_TOOLS_CLI_SERVE_LIVE_JSON_H_

#include <cstdint>
#include <vector>

#include "experiments/store/processes/run_state.pb.h"
#include "nlohmann/json.hpp"

namespace openset {

// {"records": N, "runs": [{"id", "study", "by", "line", "fraction", "silent", "actions": [{"line", "fraction"}]}]}.
// "id" is StudyId(); "silent" is the number of seconds without a sign of life, null within the lease. `now`: seconds
// since 1970.
nlohmann::ordered_json LiveJson(int64_t records, const std::vector<RunState>& runs, double now);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_SERVE_LIVE_JSON_H_
