// When a record was made.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_EVALUATED_AT_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_EVALUATED_AT_H_

#include "experiments/store/record.proto.h"

namespace openset {

// The start of the record's last stage, which is the evaluation, in seconds since 1970; 0 if the record doesn't say.
inline double EvaluatedAt(const TrialRecord& record) {
  const int stages = record.provenance().stage_size();
  return stages == 0 ? 0 : record.provenance().stage(stages - 1).started_at_seconds();
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_EVALUATED_AT_H_
