// Records for tests of the store.
#ifndef OPENSET_EXPERIMENTS_STORE_TESTING_RECORDS_H_
#define OPENSET_EXPERIMENTS_STORE_TESTING_RECORDS_H_

#include <string>
#include <vector>

#include "core/files/digest.h"
#include "core/files/files.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/action.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/record.pb.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "gtest/gtest.h"

namespace openset {

// Returns a key that begins with `name`; the other digits are derived from it.
inline std::string TestKey(const std::string& name) { return name + Sha256Hex(name).substr(name.size()); }

// Returns a record of this method and seed with this OpenAUC, measured on `host`. It refers to a checkpoint and
// outputs.
inline TrialRecord TestRecord(const std::string& id, const std::string& method, int seed, double openauc,
                              const std::string& host = "here", double at = 0) {
  TrialRecord record;
  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(id);
  record.mutable_trial()->mutable_method()->set_name(method);
  record.mutable_trial()->set_task("task");
  record.mutable_trial()->set_split(0);
  record.mutable_trial()->set_seed(seed);
  MetricRecord* metric = record.add_metric();
  metric->set_name("openauc");
  metric->set_value(openauc);
  metric->mutable_group()->set_kind(MetricGroup::POOL);
  record.set_checkpoint_key(TestKey("c" + id.substr(0, 4)));
  record.set_outputs_key(TestKey("0" + id.substr(0, 4)));
  StageProvenance* stage = record.mutable_provenance()->add_stage();
  stage->set_stage(StageProvenance::EVALUATE);
  stage->set_key(id);
  stage->set_host(host);
  stage->set_started_at_seconds(at);
  // The id is made up, so it can't be recomputed from the trial.
  record.mutable_provenance()->add_raised_revision("openset.TestSpec 2");
  return record;
}

// RecordIds() of a store in which everything can be read.
inline std::vector<std::string> AllRecordIds(const Store& store) {
  UnreadRecords unread;
  std::vector<std::string> ids = RecordIds(store, &unread);
  EXPECT_TRUE(unread.Problems().ok()) << unread.Problems();
  return ids;
}

// Commit valid checkpoints and outputs. The key is made up, so that it is not the digest of the action.
inline void CommitTestCheckpoint(const Store& store, const std::string& key, int seed = 1) {
  const std::string staging = store.NewStagingFolder(key).value();
  TrainSummary summary;
  summary.mutable_action()->mutable_train()->set_seed(seed);
  summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
  summary.mutable_provenance()->set_key(key);
  ASSERT_TRUE(WriteFileAtomically(JoinPath(staging, kCheckpointFile), "weights").ok());
  ASSERT_TRUE(store.CommitResult(staging, summary).ok());
}

inline void CommitTestOutputs(const Store& store, const std::string& key, const std::string& content = "outputs") {
  const std::string staging = store.NewStagingFolder(key).value();
  InferSummary summary;
  summary.mutable_action()->mutable_infer()->mutable_inference()->mutable_plain();
  summary.mutable_provenance()->set_stage(StageProvenance::INFER);
  summary.mutable_provenance()->set_key(key);
  ASSERT_TRUE(WriteFileAtomically(JoinPath(staging, kOutputsFile), content).ok());
  ASSERT_TRUE(store.CommitResult(staging, summary).ok());
}

// Returns the path of a store in the test's own folder, which is empty at first.
inline std::string TestFolder() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return JoinPath(::testing::TempDir(), std::string(info->test_suite_name()) + "." + info->name());
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_TESTING_RECORDS_H_
