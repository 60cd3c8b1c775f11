// What revisions.sh writes of the fetched Debian packages; see core/process/build_info.h.
#ifndef OPENSET_THIRD_PARTY_REVISIONS_H_
#define OPENSET_THIRD_PARTY_REVISIONS_H_

extern const char openset_third_party_libraries[];
extern const char openset_third_party_revisions[];

#endif  // OPENSET_THIRD_PARTY_REVISIONS_H_
