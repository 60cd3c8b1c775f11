#!/bin/sh
# Starts the unpacked protoc with its own libraries.
for root in external/protobuf "$0.runfiles/protobuf"; do
  if [ -x "$root/usr/bin/protoc" ]; then
    LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu" exec "$root/usr/bin/protoc" "$@"
  fi
done
echo "protoc.sh: protoc is not among the inputs" >&2
exit 1
