// The records of a store as named values (experiments/store/records/record_fields.h).
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_LOAD_FIELDS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_LOAD_FIELDS_H_

#include <string>
#include <vector>

#include "experiments/store/records/record_fields.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {

// FieldsOf() the records that stand for their trials (LoadFirstRecord() in experiments/store/merge.h), in the order of
// their ids, read on all CPUs; of each record only what has a name is parsed. What can't be read goes to `unread`.
std::vector<RecordFields> LoadFields(const Store& store, UnreadRecords* unread);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_LOAD_FIELDS_H_
