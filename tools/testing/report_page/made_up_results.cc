#include "tools/testing/report_page/made_up_results.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/logging.h"
#include "core/proto/text_proto.h"
#include "core/random.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/spec/method.pb.h"
#include "experiments/store/outputs.h"

namespace openset {
namespace {

constexpr int kKnown = 6;
constexpr int kUnknown = 4;  // classes of each set

constexpr char kTrial[] = R"(
  method { score { max_logit {} } }
  data { train { data_set: "fashion_mnist" part: "train" class_id: [0, 1, 2, 3, 4, 5] }
         test_known { data_set: "fashion_mnist" part: "test" class_id: [0, 1, 2, 3, 4, 5] }
         test_unknown { name: "clothes" distance: NEAR selection { data_set: "fashion_mnist" part: "test" class_id: [6, 7, 8, 9] } }
         test_unknown { name: "digits" distance: FAR selection { data_set: "mnist" part: "test" class_id: [0, 1, 2, 3] } } }
  metric { accuracy {} } metric { auroc {} } metric { openauc {} } metric { aurc {} } metric { youden_macro {} })";

Outputs DrawOutputs(int samples, double strength, RandomStream* random) {
  Outputs outputs;
  outputs.num_outputs = kKnown;
  outputs.group_names = {"clothes", "digits"};
  for (int i = 0; i < samples; ++i) {
    const int set = i % 4 == 2 ? 0 : i % 4 == 3 ? 1 : -1;
    const int label = i / 4 % kKnown;
    for (int k = 0; k < kKnown; ++k) {
      const double mean = set < 0 && k == label ? 3 * strength : set == 1 ? -strength : 0;
      outputs.logits.push_back(static_cast<float>(mean + random->Normal()));
    }
    outputs.label.push_back(set < 0 ? label : -1);
    outputs.class_id.push_back(set < 0 ? label : set == 0 ? 6 + i / 4 % kUnknown : i / 4 % kUnknown);
    outputs.group.push_back(set);
  }
  return outputs;
}

}  // namespace

MadeUpResults MakeUpResults(const MadeUpOptions& options) {
  MadeUpResults made;
  TrialSpec pattern;
  CHECK(ParseTextProto(kTrial, "trial", &pattern).ok());
  for (int task = 0; task < options.tasks; ++task) {
    for (int m = 0; m < options.methods + 2; ++m) {
      const bool swept = m >= options.methods - 1;
      const std::string method = swept ? "openauc" : absl::StrCat("method_", m);
      for (int split = 0; split < options.splits; ++split) {
        for (int seed = 0; seed < options.seeds; ++seed) {
          TrialSpec& trial = made.trials.emplace_back(pattern);
          trial.set_task(absl::StrCat("task_", task));
          trial.mutable_method()->set_name(method);
          trial.set_split(split);
          trial.set_seed(seed);
          if (swept) {
            AxisValue* axis = trial.add_axis();
            axis->set_name("lambda");
            axis->set_value(absl::StrCat(0.1 * (1 << (m - options.methods + 1))));
          }
          const std::string id = absl::StrCat("task ", task, ", method ", m, ", split ", split, ", seed ", seed);
          RandomStream random(seed, id);
          const double strength = 0.6 + 0.2 * m / (options.methods + 1);
          TrialRecord record = Measure(trial, DrawOutputs(options.samples, strength, &random)).value();
          record.set_trial_id(id);
          record.set_split_sha256(Sha256Hex(absl::StrCat("split ", split)));
          *record.mutable_trial() = trial;
          for (int e = 0; e < options.epochs; ++e) {
            EpochSummary* epoch = record.add_epoch();
            epoch->set_epoch(e);
            epoch->set_loss(2.0 / (1 + e) + 0.05 * random.Uniform());
            epoch->set_train_accuracy(1 - 0.8 / (1 + e));
          }
          StageProvenance* stage = record.mutable_provenance()->add_stage();
          stage->set_stage(StageProvenance::TRAIN);
          stage->set_key(Sha256Hex(id));
          stage->set_commit("0123456789abcdef");
          stage->set_compiler("gcc 12.2.0");
          stage->set_cpu("a made-up processor");
          stage->set_wall_seconds(60);
          stage->set_cpu_seconds(100);
          made.records.push_back(std::move(record));
          made.results.push_back({&trial, &made.records.back()});
        }
      }
    }
  }
  return made;
}

}  // namespace openset
