// What a message needs, according to the options of its schema (core/proto/needs.proto).
#ifndef OPENSET_CORE_PROTO_NEEDS_H_
#define OPENSET_CORE_PROTO_NEEDS_H_

#include "core/proto/needs.pb.h"
#include "google/protobuf/message.h"

namespace openset {

// The needs of the message, of its fields' values and of the messages in it; of a number, the largest. A field that is
// not set has its default.
Needs NeedsOf(const google::protobuf::Message& message);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_NEEDS_H_
