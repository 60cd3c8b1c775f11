#!/bin/bash
# The Debian packages in the program, as C++ for revisions.h:
#   revisions.sh PATH/repositories.bzl PATH/REPOSITORY/revisions.txt ...
# Each repository is represented by its first package, with its pinned version or its replacement.
set -eu
bzl=$1
shift
libraries= others=
for revisions in "$@"; do
  repository=$(basename "$(dirname "$revisions")")
  # name = "webp",  packages = {  "libwebp-dev=1.2.4-0.2+deb12u1": "a9d0...",
  pin=$(awk -v name="\"$repository\"," '$1 == "name" { here = $3 == name } here && /^ *"[^"]*=[^"]*": "/ { print; exit }' "$bzl")
  pin=${pin#*\"} pin=${pin%%\"*}
  [ -n "$pin" ] || { echo "revisions.sh: $bzl has no Debian package of $repository" >&2; exit 1; }
  instead=$(sed -n "s/^${pin%%=*} \(.*\) instead of .*/\1/p" "$revisions")
  libraries+="${libraries:+, }$repository ${instead:-${pin#*=}}"
  while read -r line; do others+="${others:+; }$line"; done <"$revisions"
done
cat <<CODE
#include "third_party/revisions.h"
const char openset_third_party_libraries[] = "$libraries";
const char openset_third_party_revisions[] = "$others";
CODE
