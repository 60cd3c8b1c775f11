// Messages from text protos.
#ifndef OPENSET_CORE_TESTING_PARSED_H_
#define OPENSET_CORE_TESTING_PARSED_H_

#include "absl/strings/string_view.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "gtest/gtest.h"

namespace openset {

// The message that `text` describes; fails the test with the text's error.
template <typename Message>
Message Parsed(absl::string_view text) {
  Message message;
  const absl::StatusOr<TextSource> source = ParseTextProto(text, "text", &message);
  EXPECT_TRUE(source.ok()) << source.status() << "\nin: " << text;
  return message;
}

// The same with the schema's defaults (FillDefaults()).
template <typename Message>
Message ParsedWithDefaults(absl::string_view text) {
  Message message = Parsed<Message>(text);
  FillDefaults(&message);
  return message;
}

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_PARSED_H_
