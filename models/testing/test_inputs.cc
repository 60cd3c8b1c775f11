#include "models/testing/test_inputs.h"

#include "core/logging.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/random.h"
#include "models/initialise.h"

namespace openset {
namespace {

template <typename Message>
Message MessageOf(const std::string& text) {
  Message message;
  const auto source = ParseTextProto(text, "spec", &message);
  CHECK(source.ok()) << source.status();
  FillDefaults(&message);
  for (const FieldProblem& problem : FindProblems(message)) LOG(FATAL) << problem.path << ": " << problem.message;
  return message;
}

}  // namespace

ModelSpec ModelSpecOf(const std::string& text) { return MessageOf<ModelSpec>(text); }

InputSpec InputSpecOf(const std::string& text) { return MessageOf<InputSpec>(text); }

at::Tensor NoiseImages(int64_t count, const InputSpec& input, uint64_t seed) {
  const at::Tensor images = at::empty({count, input.channels(), input.size(), input.size()},
                                      at::TensorOptions().memory_format(at::MemoryFormat::ChannelsLast));
  RandomStream random(seed, "noise images");
  DrawNormal(0, 1, &random, images);
  return images;
}

}  // namespace openset
