#include "tools/cli/records/brief_record.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"

namespace openset {
namespace {

TEST(BriefText, DescribesMeasurementNumbersOriginAndTime) {
  const TrialRecord record = Parsed<TrialRecord>(R"(
    trial_id: 'ab12' split_sha256: '0123456789abcdef'
    trial { method { name: 'mcp' title: 'Maximum\nsoftmax' } task: 'cats' split: 1 seed: 7 experiment: 'study'
            overrides: '--seeds=7' }
    metric { name: 'accuracy' spec { accuracy {} } value: 0.875 group { kind: POOL } }
    metric { name: 'auroc' spec { auroc {} } absent_reason: 'no unknown samples' group { kind: POOL } }
    metric { name: 'auroc' spec { auroc {} } value: 0.5 group { kind: SET set: 'dogs' } }
    counts { known: 60 known_classes: 6 unknown: 40 unknown_classes: 4 }
    epoch { epoch: 0 loss: 2 } epoch { epoch: 1 loss: 0.5 train_accuracy: 0.75 }
    provenance {
      stage { stage: TRAIN user_name: 'anna' host: 'lab' commit: 'c0ffee' dirty: true cpu: 'Xeon' cpu_capability: 'AVX2'
              started_at_seconds: 1000 ended_at_seconds: 2000 cpu_seconds: 1800 }
      stage { stage: EVALUATE user_name: 'anna' host: 'lab' commit: 'c0ffee' dirty: true started_at_seconds: 2800
              ended_at_seconds: 3000 }
    })");
  const std::string text = BriefText(record, absl::UnixEpoch() + absl::Seconds(3000) + absl::Hours(49));
  EXPECT_THAT(text, HasSubstr("trial      ab12\nmethod     mcp\n"));
  EXPECT_THAT(text, HasSubstr("task       cats, split 1, seed 7\n"
                              "samples    60 known of 6 classes, 40 unknown of 4\n"
                              "numbers    accuracy, % 87.50; AUROC, % undefined (no unknown samples)\n"
                              "training   2 epochs, last objective 0.5, training accuracy 75.0 %\n"
                              "study      study\n"
                              "changed    --seeds=7\n"));
  EXPECT_THAT(text, HasSubstr(", 2 days ago; 0.5 CPU hours\n"));
  EXPECT_THAT(text, HasSubstr("by         anna on lab\nprogram    commit c0ffee, with changes\n"));
  EXPECT_THAT(text, HasSubstr("processor  Xeon (AVX2)\n"));
  EXPECT_THAT(text, HasSubstr("split      0123456789ab\n"));
  EXPECT_THAT(text, Not(HasSubstr("Maximum\n")));  // a title is one line
  EXPECT_THAT(text, Not(HasSubstr("LibTorch")));   // unknown facts are omitted
}

TEST(AgeText, UsesTheLargestUnitWithAtLeastTwo) {
  EXPECT_EQ(AgeText(absl::Seconds(59)), "0 minutes");
  EXPECT_EQ(AgeText(absl::Seconds(60)), "1 minute");
  EXPECT_EQ(AgeText(absl::Minutes(119)), "119 minutes");
  EXPECT_EQ(AgeText(absl::Minutes(120)), "2 hours");
  EXPECT_EQ(AgeText(absl::Hours(48)), "2 days");
  EXPECT_EQ(AgeText(-absl::Hours(48)), "0 minutes");  // another machine's clock
}

}  // namespace
}  // namespace openset
