// A suite of tests that every network must pass. The test of a network includes it with one line:
//
//   INSTANTIATE_TEST_SUITE_P(Vgg32, ModelConformance, ::testing::Values(ModelCase{
//       "vgg32 {} head { linear {} }", 32, "vgg32 { width: 4 dropout: 0 } head { linear {} }", 16}));
#ifndef OPENSET_MODELS_TESTING_MODEL_CONFORMANCE_H_
#define OPENSET_MODELS_TESTING_MODEL_CONFORMANCE_H_

#include <string>

#include "gtest/gtest.h"

namespace openset {

struct ModelCase {
  // A ModelSpec as text, and the height and width of its images.
  std::string spec;
  int size;
  // The same network, but narrow, for small images and without dropout, so that it is quick to differentiate and train.
  std::string narrow_spec;
  int narrow_size;
};

class ModelConformance : public ::testing::TestWithParam<ModelCase> {};

}  // namespace openset

#endif  // OPENSET_MODELS_TESTING_MODEL_CONFORMANCE_H_
