// Merges a message into another one that it overrides.
#ifndef OPENSET_CORE_PROTO_OVERLAY_H_
#define OPENSET_CORE_PROTO_OVERLAY_H_

#include "google/protobuf/message.h"

namespace openset {

// Overrides `base` with `top`, a message of the same type. A scalar that `top` sets replaces the one in `base`.
// Messages are merged field by field. A repeated field that is not empty in `top` replaces the one in `base`, as does
// another member of a oneof. In a list that is merged by kind (core/proto/field_path.h), the n-th element of a kind in
// `top` overrides the n-th of that kind in `base`, or is appended if there is none.
void Overlay(const google::protobuf::Message& top, google::protobuf::Message* base);

// The same, but adds no message: skips each message of `top` that `base` lacks (another member of a oneof, an element
// of a kind that a list merged by kind lacks) with everything below it. Scalars and other repeated fields of the
// remaining messages override `base` as above.
void OverlayWherePresent(const google::protobuf::Message& top, google::protobuf::Message* base);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_OVERLAY_H_
