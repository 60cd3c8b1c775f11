// A row of the tables that component_fingerprints() (tools/build_defs/fingerprints.bzl) makes.
#ifndef OPENSET_EXPERIMENTS_STORE_FINGERPRINT_ROW_H_
#define OPENSET_EXPERIMENTS_STORE_FINGERPRINT_ROW_H_

namespace openset {

struct FingerprintRow {
  const char* family;  // the message with the oneof: "ScoreSpec"; null in the last row, which ends the table
  const char* member;  // "fdbd"; "": the family as a whole
  const char* target;  // "eval/scores/fdbd"
  const char* sha256;  // over the target's sources, in hexadecimal
};

// Points to the first row.
using FingerprintTable = const FingerprintRow*;

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_FINGERPRINT_ROW_H_
