#include "experiments/spec/trial.h"

namespace openset {

Trial::Trial(const TrialSpec& spec)
    : method_(std::make_shared<TrialMethod>(TrialMethod{spec.method(), spec.axis()})),
      data_(std::make_shared<TrialData>(TrialData{spec.task(), spec.split(), spec.openness(), spec.data()})),
      protocol_(std::make_shared<TrialProtocol>(TrialProtocol{spec.execution(),
                                                              spec.metric(),
                                                              spec.experiment(),
                                                              spec.spec_sha256(),
                                                              {spec.laid_over().begin(), spec.laid_over().end()}})),
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

TrialSpec Trial::Spec() const {
  TrialSpec spec;
  spec.set_task(task());
  spec.set_split(split());
  *spec.mutable_axis() = axis();
  spec.set_openness(openness());
  *spec.mutable_method() = method();
  *spec.mutable_data() = data();
  spec.set_seed(seed());
  *spec.mutable_execution() = execution();
  *spec.mutable_metric() = metric();
  if (search() != nullptr) *spec.mutable_search() = *search();
  if (!protocol_->experiment.empty()) spec.set_experiment(protocol_->experiment);
  if (!protocol_->spec_sha256.empty()) spec.set_spec_sha256(protocol_->spec_sha256);
  spec.mutable_laid_over()->Assign(protocol_->laid_over.begin(), protocol_->laid_over.end());
  return spec;
}

}  // namespace openset
