// Makes what the hostile cases damage, with the project's own code:
//   hostile_tool store WORK                 trains, infers and evaluates the study in WORK with made-up results, and
//                                           writes bundle.zip and full.zip. Prints a line for each trial: its id, and
//                                           the keys of its outputs and its checkpoint.
//   hostile_tool change TYPE FILE           prints the record file FILE ("": an empty message) after the changes on
//                                           standard input: "PATH VALUE" sets a field, "-FIELD" clears one of the
//                                           message, "+TEXT" merges a text
//   hostile_tool mutate TYPE FILE SEED      prints FILE, a record file (.rec) or a text, with random changes of fields
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/proto/field_path.h"
#include "core/proto/record_file.h"
#include "core/random.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/proto_mutation.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/slurm/slurm_array.pb.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/published/published.pb.h"
#include "experiments/spec/action.pb.h"
#include "experiments/spec/experiment.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/bundle.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/record.pb.h"
#include "experiments/study/study.h"
#include "experiments/testing/stored_results.h"
#include "experiments/worker/worker.pb.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

using google::protobuf::Message;

// Outputs for the task's 3 known classes with 10 images each, and its 2 unknown classes.
Outputs MadeUpOutputs(const std::string& key) {
  Outputs outputs;
  outputs.num_outputs = 3;
  outputs.group_names = {"unknown"};
  RandomStream random(0, key);
  for (int i = 0; i < 50; ++i) {
    const bool known = i < 30;
    outputs.label.push_back(known ? i / 10 : -1);
    outputs.class_id.push_back(i / 10);
    outputs.group.push_back(known ? -1 : 0);
    for (int c = 0; c < 3; ++c) {
      outputs.logits.push_back(static_cast<float>(random.Normal() + (c == outputs.label.back() ? 2 : 0)));
    }
  }
  return outputs;
}

void MakeStore(const std::string& work) {
  const Store store(work + "/store");
  StudyOptions options;
  options.data_folders = {work + "/files"};
  const std::unique_ptr<Study> study =
      Study::Load(work + "/study.textproto", SpecFoldersBelow(work), store, options).value();
  const Plan& plan = study->plan();
  for (const Action& action : plan.actions) {
    const ActionSpec spec = plan.RequestOf(action).action();
    if (action.kind == ActionKind::kTrain) CommitMadeUpCheckpoint(spec, store);
    if (action.kind == ActionKind::kInfer) CommitMadeUpOutputs(spec, MadeUpOutputs(action.key), store);
    if (action.kind == ActionKind::kEvaluate) {
      const absl::Status evaluated = EvaluateTrial(action.key, spec, plan.TrialOf(action).Spec(), store);
      CHECK(evaluated.ok()) << evaluated;
    }
  }
  std::vector<std::string> trials;
  for (size_t t = 0; t < plan.trials.size(); ++t) {
    trials.push_back(plan.trial_id(static_cast<int>(t)));
    const TrialRecord record = store.LoadRecord(trials.back()).value();
    std::cout << record.trial_id() << " " << record.outputs_key() << " " << record.checkpoint_key() << "\n";
  }
  CHECK(study->RecordContents().ok());
  CHECK(WriteBundle(store, trials, work + "/bundle.zip").ok());
  BundleExtras extras;
  extras.outputs = extras.checkpoints = true;
  extras.library["specs/study.textproto"] = ReadFile(work + "/study.textproto").value();
  extras.library["tasks/task.textproto"] = ReadFile(work + "/data/tasks/task.textproto").value();
  extras.library["catalog/digits.textproto"] = ReadFile(work + "/data/catalog/digits.textproto").value();
  CHECK(WriteBundle(store, trials, work + "/full.zip", extras).ok());
}

std::unique_ptr<Message> New(const std::string& type) {
  for (const Message* message : std::vector<const Message*>{
           &TrialRecord::default_instance(), &TrainSummary::default_instance(), &InferSummary::default_instance(),
           &RunState::default_instance(), &FailureRecord::default_instance(), &WorkEvent::default_instance(),
           &ExperimentSpec::default_instance(), &MethodSpec::default_instance(), &TaskSpec::default_instance(),
           &DataSetInfo::default_instance(), &DeploySpec::default_instance(), &PublishedTable::default_instance(),
           &SlurmArray::default_instance()}) {
    if (message->GetDescriptor()->name() == type) return std::unique_ptr<Message>(message->New());
  }
  LOG(FATAL) << "no message " << type;
}

std::string Changed(const std::string& type, const std::string& file) {
  const std::unique_ptr<Message> message = New(type);
  if (!file.empty()) CHECK(ReadRecordFile(file, message.get()).ok()) << file;
  for (std::string line; std::getline(std::cin, line);) {
    const auto* const descriptor = message->GetDescriptor();
    if (line[0] == '-') {
      message->GetReflection()->ClearField(message.get(), descriptor->FindFieldByName(line.substr(1)));
    } else if (line[0] == '+') {
      google::protobuf::TextFormat::Parser parser;
      CHECK(parser.MergeFromString(line.substr(1), message.get())) << line.substr(0, 1000);
    } else {
      const size_t blank = line.find(' ');
      const absl::Status set = SetField(line.substr(0, blank), line.substr(blank + 1), message.get());
      CHECK(set.ok()) << set;
    }
  }
  return FramedRecord(message->SerializePartialAsString());
}

std::string Mutated(const std::string& type, const std::string& file, uint64_t seed) {
  const std::unique_ptr<Message> message = New(type);
  RandomStream random(seed, "hostile case");
  Extremes extremes;
  if (type == "WorkEvent") {  // all of it must fit on a command line
    extremes.most_text = 300, extremes.most_repeats = 20, extremes.most_depth = 20;
  }
  if (absl::EndsWith(file, ".rec")) {
    ReadRecordFile(file, message.get()).IgnoreError();
    return FramedRecord(MutatedWire(*message, extremes, &random));
  }
  google::protobuf::TextFormat::ParseFromString(ReadFile(file).value(), message.get());
  return MutatedText(*message, extremes, &random);
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  using openset::Changed, openset::MakeStore, openset::Mutated;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words[0] == "store") MakeStore(words[1]);
  if (words[0] == "change") std::cout << Changed(words[1], words[2]);
  if (words[0] == "mutate") std::cout << Mutated(words[1], words[2], std::stoull(words[3]));
}
