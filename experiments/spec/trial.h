// A resolved trial. Trials share their parts, so that a study of 100,000 trials fits in memory.
#ifndef OPENSET_EXPERIMENTS_SPEC_TRIAL_H_
#define OPENSET_EXPERIMENTS_SPEC_TRIAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/task.pb.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace openset {

// The parts of trials. Trials share equal parts, which never change.
// A method with the values of the swept fields.
struct TrialMethod {
  MethodSpec method;
  google::protobuf::RepeatedPtrField<AxisValue> axis;
};
// The data of a task for a split and an openness level.
struct TrialData {
  std::string task;
  int split = 0;
  double openness = 0;
  TaskData data;
  // The study has several openness levels, so that descriptions must name them.
  bool is_of_levels = false;
};
// How a trial is run and measured.
struct TrialProtocol {
  ExecutionSpec execution;
  google::protobuf::RepeatedPtrField<MetricSpec> metric;
  // The study's name, its file's SHA-256, the flags that changed it, and the run's tags.
  std::string experiment = {};
  std::string spec_sha256 = {};
  std::vector<std::string> overrides = {};
  std::vector<std::string> tags = {};
};

// A TrialSpec (trial.proto describes the fields) made of shared parts. Cheap to copy.
class Trial {
 public:
  Trial(std::shared_ptr<const TrialMethod> method, std::shared_ptr<const TrialData> data,
        std::shared_ptr<const TrialProtocol> protocol, uint64_t seed)
      : method_(std::move(method)), data_(std::move(data)), protocol_(std::move(protocol)), seed_(seed) {}
  // Makes a trial that shares no parts. Implicit, so that a message can be used as a trial.
  Trial(const TrialSpec& spec);  // NOLINT(google-explicit-constructor)

  const MethodSpec& method() const { return method_->method; }
  const google::protobuf::RepeatedPtrField<AxisValue>& axis() const { return method_->axis; }
  const std::string& task() const { return data_->task; }
  int split() const { return data_->split; }
  double openness() const { return data_->openness; }
  bool is_of_levels() const { return data_->is_of_levels; }
  const TaskData& data() const { return data_->data; }
  const ExecutionSpec& execution() const { return protocol_->execution; }
  const google::protobuf::RepeatedPtrField<MetricSpec>& metric() const { return protocol_->metric; }
  uint64_t seed() const { return seed_; }
  // Null unless a search chose the method's values.
  const SearchLog* search() const { return search_.get(); }

  // Returns the same trial with another part.
  Trial With(std::shared_ptr<const TrialMethod> method) const;
  Trial With(std::shared_ptr<const SearchLog> search) const;

  const std::shared_ptr<const TrialMethod>& shared_method() const { return method_; }
  const std::shared_ptr<const TrialData>& shared_data() const { return data_; }
  const std::shared_ptr<const TrialProtocol>& shared_protocol() const { return protocol_; }

  TrialSpec Spec() const;

 private:
  friend class SharedTrialSpecs;

  // All fields except the messages that are parts.
  void FillLabels(TrialSpec* spec) const;

  std::shared_ptr<const TrialMethod> method_;
  std::shared_ptr<const TrialData> data_;
  std::shared_ptr<const TrialProtocol> protocol_;
  std::shared_ptr<const SearchLog> search_;
  uint64_t seed_;
};

// The messages of many trials, on an arena. The arena has only one copy of a method, data, execution or search that
// several trials share.
class SharedTrialSpecs {
 public:
  explicit SharedTrialSpecs(google::protobuf::Arena* arena) : arena_(arena) {}

  // As Trial::Spec(), but on the arena. Precondition: the trial outlives this object.
  const TrialSpec* Add(const Trial& trial);

 private:
  template <typename Part>
  using Copies = std::unordered_map<const Part*, Part*>;

  template <typename Part>
  Part* Copy(const Part& part, Copies<Part>* copies);

  google::protobuf::Arena* const arena_;
  Copies<MethodSpec> methods_;
  Copies<TaskData> data_;
  Copies<ExecutionSpec> executions_;
  Copies<SearchLog> searches_;
};

// ---- The description of a trial.

// "2 unknown classes" in a study of several openness levels; "" in others.
std::string LevelText(const Trial& trial);

// "openauc on fashion_mnist_6_4, split 1, seed 0, lambda 0.1"; followed by ", 2 unknown classes" (LevelText()) and, on
// a rung of a search, by ", stopped after 3 epochs".
std::string Describe(const Trial& trial);

// Follows the name of a method whose values a search has chosen.
inline constexpr char kTunedSuffix[] = " (tuned)";

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_TRIAL_H_
