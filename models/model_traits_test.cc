#include "core/proto/traits.h"
#include "core/testing/parsed.h"
#include "gtest/gtest.h"
#include "models/model.pb.h"

namespace openset {
namespace {

Traits Of(const char* text) { return TraitsOf(Parsed<ModelSpec>(text)); }

// Each network's conformance test checks that it has this number (models/testing/model_conformance.cc).
TEST(ModelTraits, StagesAreThoseOfThePaper) {
  EXPECT_EQ(Of("resnet_cifar {}").stages(), 3);
  EXPECT_EQ(Of("resnet_cifar { variant: RESNET18 }").stages(), 4);
  EXPECT_EQ(Of("resnet_imagenet { variant: RESNET101 }").stages(), 4);
  EXPECT_EQ(Of("wide_resnet {}").stages(), 3);
  EXPECT_EQ(Of("densenet {}").stages(), 4);
}

TEST(ModelTraits, NoStagesWithoutMaps) {
  EXPECT_EQ(Of("vision_transformer {}").stages(), 0);
  EXPECT_EQ(Of("torch_script { file: \"net.pt\" }").stages(), 0);
  EXPECT_EQ(Of("").stages(), 0);
}

TEST(ModelTraits, ATransformerNeedsOnePatch) {
  EXPECT_EQ(Of("vision_transformer { patch: 16 }").smallest_image(), 16);
  EXPECT_EQ(Of("resnet_cifar {}").smallest_image(), 1);
  EXPECT_EQ(Of("torch_script { file: \"net.pt\" }").smallest_image(), 1);
}

TEST(ModelTraits, DropoutIsThereIfSet) {
  EXPECT_FALSE(Of("vgg32 { dropout: 0 }").dropout());
  EXPECT_TRUE(Of("vgg32 { dropout: 0.2 }").dropout());
  EXPECT_TRUE(Of("osrci_cnn { dropout: 0.5 }").dropout());
  EXPECT_TRUE(Of("wide_resnet { block_dropout: 0.3 }").dropout());
  EXPECT_TRUE(Of("resnet_cifar { feature_dropout: 0.1 }").dropout());
  EXPECT_TRUE(Of("resnet_imagenet { block_dropout: 0.1 }").dropout());
  EXPECT_FALSE(Of("densenet {}").dropout());
  EXPECT_FALSE(Of("swin_transformer {}").dropout());
}

TEST(ModelTraits, SomeHeadsHaveAPointPerClass) {
  EXPECT_TRUE(Of("head { prototype {} }").points());
  EXPECT_TRUE(Of("head { reciprocal_point {} }").points());
  EXPECT_FALSE(Of("head { linear {} }").points());
}

}  // namespace
}  // namespace openset
