#include "models/stages.h"

#include "core/proto/text_proto.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

int StagesOf(const char* text) {
  ModelSpec model;
  EXPECT_TRUE(ParseTextProto(text, "model", &model).ok()) << text;
  return NumStages(model);
}

// Each network's conformance test checks that it has this number (models/testing/model_conformance.cc).
TEST(NumStages, IsThatOfThePaper) {
  EXPECT_EQ(StagesOf("resnet_cifar {}"), 3);
  EXPECT_EQ(StagesOf("resnet_cifar { variant: RESNET18 }"), 4);
  EXPECT_EQ(StagesOf("resnet_imagenet { variant: RESNET101 }"), 4);
  EXPECT_EQ(StagesOf("wide_resnet {}"), 3);
  EXPECT_EQ(StagesOf("densenet {}"), 4);
}

TEST(NumStages, AreZeroWithoutMaps) {
  EXPECT_EQ(StagesOf("vision_transformer {}"), 0);
  EXPECT_EQ(StagesOf("torch_script { file: \"net.pt\" }"), 0);
  EXPECT_EQ(StagesOf(""), 0);
}

}  // namespace
}  // namespace openset
