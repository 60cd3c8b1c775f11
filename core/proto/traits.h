// The traits of a message, according to the options of its schema (core/proto/traits.proto).
#ifndef OPENSET_CORE_PROTO_TRAITS_H_
#define OPENSET_CORE_PROTO_TRAITS_H_

#include "core/proto/traits.pb.h"
#include "google/protobuf/message.h"

namespace openset {

// The traits of the message, of its fields' values and of the messages in it; of a number or text, the largest. A field
// that is not set has its default.
Traits TraitsOf(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_TRAITS_H_
