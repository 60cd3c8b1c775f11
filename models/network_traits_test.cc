#include "models/network_traits.h"

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

NetworkTraits Traits(const char* text) { return TraitsOf(Parsed<ModelSpec>(text)); }

// Each network's conformance test checks that it has this number (models/testing/model_conformance.cc).
TEST(NetworkTraits, StagesAreThoseOfThePaper) {
  EXPECT_EQ(Traits("resnet_cifar {}").stages, 3);
  EXPECT_EQ(Traits("resnet_cifar { variant: RESNET18 }").stages, 4);
  EXPECT_EQ(Traits("resnet_imagenet { variant: RESNET101 }").stages, 4);
  EXPECT_EQ(Traits("wide_resnet {}").stages, 3);
  EXPECT_EQ(Traits("densenet {}").stages, 4);
}

TEST(NetworkTraits, NoStagesWithoutMaps) {
  EXPECT_EQ(Traits("vision_transformer {}").stages, 0);
  EXPECT_EQ(Traits("torch_script { file: \"net.pt\" }").stages, 0);
  EXPECT_EQ(Traits("").stages, 0);
}

TEST(NetworkTraits, ATransformerNeedsOnePatch) {
  EXPECT_EQ(Traits("vision_transformer { patch: 16 }").smallest_image, 16);
  EXPECT_EQ(Traits("resnet_cifar {}").smallest_image, 1);
  EXPECT_EQ(Traits("torch_script { file: \"net.pt\" }").smallest_image, 1);
}

TEST(NetworkTraits, DropoutIsThereIfSet) {
  EXPECT_FALSE(Traits("vgg32 { dropout: 0 }").has_dropout);
  EXPECT_TRUE(Traits("vgg32 { dropout: 0.2 }").has_dropout);
  EXPECT_TRUE(Traits("osrci_cnn { dropout: 0.5 }").has_dropout);
  EXPECT_TRUE(Traits("wide_resnet { block_dropout: 0.3 }").has_dropout);
  EXPECT_TRUE(Traits("resnet_cifar { feature_dropout: 0.1 }").has_dropout);
  EXPECT_TRUE(Traits("resnet_imagenet { block_dropout: 0.1 }").has_dropout);
  EXPECT_FALSE(Traits("densenet {}").has_dropout);
  EXPECT_FALSE(Traits("swin_transformer {}").has_dropout);
}

}  // namespace
}  // namespace openset
