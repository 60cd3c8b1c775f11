// Checks a plan against the guidelines of Komorniczak and Ksieniewicz 2024 (section 5) for evaluating open-set
// recognition.
#ifndef OPENSET_EXPERIMENTS_STUDY_GUIDELINES_H_
#define OPENSET_EXPERIMENTS_STUDY_GUIDELINES_H_

#include <string>
#include <vector>

#include "data/catalog.h"
#include "experiments/spec/trial.h"

namespace openset {

struct Guideline {
  bool kept;
  std::string text;  // "one openness only (0.225): ..."
};

// In this order:
//   several levels of openness (numbers of known and unknown classes) over all tasks
//   several draws of the classes within each task and level
//   a headline (the first metric that reads unknown samples) that is neither an F-score nor accuracy
//   a metric of the closed-set and the open-set decision together (OpenAUC, OSCR, Halfpoint, Overall ...)
//   the ratio of known to unknown test samples, and whether one side is ten times the other
// Empty without trials. `trials`: the reported ones.
std::vector<Guideline> CheckGuidelines(const std::vector<const Trial*>& trials, const Catalog& catalog);

// One line for each method that does not use all of the image: "warning: softmax+laptop sees grey images of 28 x 28
// pixels, but the images of photos are in colour: another preset (laptop_colour), or input.channels, keeps the
// colours". Then one line for each folder of images without a catalog entry, whose images nobody has read yet.
std::vector<std::string> InputWarnings(const std::vector<const Trial*>& trials, const Catalog& catalog);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_GUIDELINES_H_
