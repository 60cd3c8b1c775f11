// Loads a store's records as named values (experiments/store/records/record_fields.h).
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_LOAD_FIELDS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_LOAD_FIELDS_H_

#include <string>
#include <vector>

#include "experiments/store/records/record_fields.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"

namespace openset {

// Returns FieldsOf() each trial's representative record (LoadFirstRecord() in experiments/store/merge.h), in the order
// of the ids. Reads on all CPUs, and parses only the parts of a record that have names. Folders and records that can't
// be read go to `unread`.
std::vector<RecordFields> LoadFields(const Store& store, UnreadRecords* unread);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_LOAD_FIELDS_H_
