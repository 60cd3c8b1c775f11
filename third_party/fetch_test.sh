#!/bin/bash
# fetch.sh and the machine's apt on a mirror made of files: a pinned revision, one that a point release replaced, one
# whose upstream version is gone, a corrupt file, and a machine whose apt knows no Debian mirror.
set -u
fetch=$TEST_SRCDIR/openset/third_party/fetch.sh
mirror=$TEST_TMPDIR/mirror
export OPENSET_DOWNLOADS=$TEST_TMPDIR/downloads APT_CONFIG=$TEST_TMPDIR/apt.conf
failures=0
check() { # WHAT CONDITION...
  "${@:2}" || { echo "FAILED: $1: ${*:2}" >&2; failures=$((failures + 1)); }
}

if ! command -v apt-get >/dev/null; then
  echo "skipped: this machine has no apt"
  exit 0
fi

# The machine's sources: one unsigned mirror under the name of the Debian that this machine runs.
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
echo "deb file:$mirror $codename main" >"$TEST_TMPDIR/sources.list"
cat >"$APT_CONFIG" <<END
Dir::Etc::SourceList "$TEST_TMPDIR/sources.list";
Dir::Etc::SourceParts "/dev/null";
Acquire::AllowInsecureRepositories "true";
APT::Get::AllowUnauthenticated "true";
END

# make_package NAME VERSION: a package in the mirror's bookworm.
packages=$mirror/dists/bookworm/main/binary-amd64
mkdir -p "$packages" "$mirror/pool"
make_package() {
  local root=$TEST_TMPDIR/$1_$2 file=$mirror/pool/$1_$2_amd64.deb
  mkdir -p "$root/DEBIAN"
  printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: nobody\nDescription: a test\n' "$1" "$2" \
    >"$root/DEBIAN/control"
  dpkg-deb --build --root-owner-group "$root" "$file" >/dev/null
  (cat "$root/DEBIAN/control"
   printf 'Filename: pool/%s\nSize: %s\nSHA256: %s\n\n' "$(basename "$file")" "$(stat -c %s "$file")" "$(sum "$file")"
  ) >>"$packages/Packages"
}
sum() { sha256sum "$1" | cut -d' ' -f1; }
make_package pinned 1.0-1+deb12u2
make_package moved 2.0-3+deb12u1
make_package moved 2.0-3+deb12u2
make_package gone 4.0-1
printf 'Suite: bookworm\nCodename: bookworm\nArchitectures: amd64\nComponents: main\nDate: %s\nSHA256:\n %s %s %s\n' \
  "$(date -Ru)" "$(sum "$packages/Packages")" "$(stat -c %s "$packages/Packages")" main/binary-amd64/Packages \
  >"$mirror/dists/bookworm/Release"
absent=$(printf '0%.0s' {1..64})
pinned=$(sum "$mirror/pool/pinned_1.0-1+deb12u2_amd64.deb")
newer=$(sum "$mirror/pool/moved_2.0-3+deb12u2_amd64.deb")

out=$TEST_TMPDIR/out
bash "$fetch" apt pinned=1.0-1+deb12u2 "$pinned" "$out" || exit 1
check "the pinned revision" [ "$(sum "$out")" = "$pinned" ]
check "it is kept by its sum" [ -f "$OPENSET_DOWNLOADS/$pinned" ]
check "no other revision is noted" [ ! -e "$out.revision" ]

out=$TEST_TMPDIR/moved
message=$(bash "$fetch" apt moved=2.0-3 "$absent" "$out" 2>&1)
check "a replaced revision is fetched ($message)" [ "$(sum "$out")" = "$newer" ]
check "with a warning" grep -q 'no longer offers moved 2.0-3; taking 2.0-3+deb12u2' <<<"$message"
check "and noted" [ "$(cat "$out.revision")" = "moved 2.0-3+deb12u2 instead of 2.0-3" ]
check "under its own sum" [ -f "$OPENSET_DOWNLOADS/$newer" -a ! -e "$OPENSET_DOWNLOADS/$absent" ]

message=$(OPENSET_STRICT_PINS=1 bash "$fetch" apt moved=2.0-3 "$absent" "$TEST_TMPDIR/strict" 2>&1)
check "OPENSET_STRICT_PINS=1 fails" [ $? = 1 ]
check "and says why" grep -q 'offers 2.0-3+deb12u2 only, and OPENSET_STRICT_PINS=1 refuses' <<<"$message"
check "and writes nothing" [ ! -e "$TEST_TMPDIR/strict" ]

message=$(bash "$fetch" apt gone=3.9-1 "$absent" "$TEST_TMPDIR/gone" 2>&1)
check "another upstream version fails" [ $? = 1 ]
check "and says what there is" grep -q 'offers no revision of gone 3.9 (it has: 4.0-1)' <<<"$message"

message=$(bash "$fetch" apt gone=4.0-1 "$absent" "$TEST_TMPDIR/sum" 2>&1)
check "another file under a pinned revision fails" [ $? = 1 ]
check "and says both sums" grep -q "is $(sum "$mirror/pool/gone_4.0-1_amd64.deb"), pinned is $absent" <<<"$message"
check "and keeps nothing" [ ! -e "$OPENSET_DOWNLOADS/$absent" -a ! -e "$TEST_TMPDIR/sum" ]

: >"$TEST_TMPDIR/sources.list"
message=$(OPENSET_DOWNLOADS=$TEST_TMPDIR/empty bash "$fetch" apt pinned=1.0-1+deb12u2 "$pinned" "$TEST_TMPDIR/none" 2>&1)
check "no mirror fails" [ $? = 1 ]
check "and says so" grep -q "the machine's apt sources name no Debian mirror" <<<"$message"

[ "$failures" = 0 ]
