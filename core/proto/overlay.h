// One message laid over another.
#ifndef OPENSET_CORE_PROTO_OVERLAY_H_
#define OPENSET_CORE_PROTO_OVERLAY_H_

#include "google/protobuf/message.h"

namespace openset {

// Lays `top` over `base` (the same type): a scalar that `top` sets replaces that of `base`, messages are laid over each
// other field by field, a repeated field that is not empty in `top` replaces that of `base` as a whole, and another
// member of a oneof replaces the one `base` holds. In a list that is merged by kind (core/proto/kind.h) the n-th
// element of a kind in `top` is laid over the n-th of that kind in `base`, and put behind the others where there is
// none.
void Overlay(const google::protobuf::Message& top, google::protobuf::Message* base);

// The same, but adds no message: one of `top` that `base` has not (another member of a oneof, an element of a kind that
// a list merged by kind has not) is passed over, with all below it. Scalars and other repeated fields of messages that
// are there replace as above.
void OverlayWherePresent(const google::protobuf::Message& top, google::protobuf::Message* base);

}  // namespace openset

#endif  // OPENSET_CORE_PROTO_OVERLAY_H_
