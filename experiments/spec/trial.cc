#include "experiments/spec/trial.h"

#include "absl/strings/str_cat.h"
#include "core/text/one_line.h"

namespace openset {

Trial::Trial(const TrialSpec& spec)
    : method_(std::make_shared<TrialMethod>(TrialMethod{spec.method(), spec.axis()})),
      data_(std::make_shared<TrialData>(TrialData{spec.task(), spec.split(), spec.openness(), spec.data()})),
      protocol_(std::make_shared<TrialProtocol>(TrialProtocol{spec.execution(),
                                                              spec.metric(),
                                                              spec.experiment(),
                                                              spec.spec_sha256(),
                                                              {spec.overrides().begin(), spec.overrides().end()},
                                                              {spec.tag().begin(), spec.tag().end()}})),
      search_(spec.has_search() ? std::make_shared<SearchLog>(spec.search()) : nullptr),
      seed_(spec.seed()) {}

Trial Trial::With(std::shared_ptr<const TrialMethod> method) const {
  Trial trial = *this;
  trial.method_ = std::move(method);
  return trial;
}

Trial Trial::With(std::shared_ptr<const SearchLog> search) const {
  Trial trial = *this;
  trial.search_ = std::move(search);
  return trial;
}

void Trial::FillLabels(TrialSpec* spec) const {
  spec->set_task(task());
  spec->set_split(split());
  *spec->mutable_axis() = axis();
  spec->set_openness(openness());
  spec->set_seed(seed());
  *spec->mutable_metric() = metric();
  if (!protocol_->experiment.empty()) spec->set_experiment(protocol_->experiment);
  if (!protocol_->spec_sha256.empty()) spec->set_spec_sha256(protocol_->spec_sha256);
  spec->mutable_overrides()->Assign(protocol_->overrides.begin(), protocol_->overrides.end());
  spec->mutable_tag()->Assign(protocol_->tags.begin(), protocol_->tags.end());
}

TrialSpec Trial::Spec() const {
  TrialSpec spec;
  FillLabels(&spec);
  *spec.mutable_method() = method();
  *spec.mutable_data() = data();
  *spec.mutable_execution() = execution();
  if (search() != nullptr) *spec.mutable_search() = *search();
  return spec;
}

template <typename Part>
Part* SharedTrialSpecs::Copy(const Part& part, Copies<Part>* copies) {
  Part*& copy = (*copies)[&part];
  if (copy == nullptr) {
    copy = google::protobuf::Arena::CreateMessage<Part>(arena_);
    *copy = part;
  }
  return copy;
}

const TrialSpec* SharedTrialSpecs::Add(const Trial& trial) {
  auto* const spec = google::protobuf::Arena::CreateMessage<TrialSpec>(arena_);
  trial.FillLabels(spec);
  // A message on an arena owns none of its parts.
  spec->unsafe_arena_set_allocated_method(Copy(trial.method(), &methods_));
  spec->unsafe_arena_set_allocated_data(Copy(trial.data(), &data_));
  spec->unsafe_arena_set_allocated_execution(Copy(trial.execution(), &executions_));
  if (trial.search() != nullptr) spec->unsafe_arena_set_allocated_search(Copy(*trial.search(), &searches_));
  return spec;
}

std::string LevelText(const Trial& trial) {
  if (!trial.is_of_levels()) return "";
  int classes = 0;
  for (const UnknownGroup& group : trial.data().test_unknown()) classes += group.selection().class_id_size();
  return absl::StrCat(classes, classes == 1 ? " unknown class" : " unknown classes");
}

std::string Describe(const Trial& trial) {
  std::string text =
      absl::StrCat(trial.method().name(), " on ", trial.task(), ", split ", trial.split(), ", seed ", trial.seed());
  if (trial.is_of_levels()) absl::StrAppend(&text, ", ", LevelText(trial));
  for (const AxisValue& axis : trial.axis()) absl::StrAppend(&text, ", ", axis.name(), " ", axis.value());
  if (const int epochs = trial.method().training().stop_after_epochs(); epochs > 0) {
    absl::StrAppend(&text, ", stopped after ", epochs, epochs == 1 ? " epoch" : " epochs");
  }
  return OneLine(text);  // values of axes may have several
}

}  // namespace openset
