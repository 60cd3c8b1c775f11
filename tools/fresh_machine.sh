#!/bin/bash
# Runs the README's commands as a new user would: in a bare Debian 12 and a bare Debian 13 (debootstrap's minbase, from
# this machine's mirror), each in its own chroot with an empty home and a clone of the current commit.
#
#   tools/fresh_machine.sh [--folder=DIR] [--downloads=DIR] [SUITE...] [-- COMMAND...]
#
#   --folder     where the chroots are made, 15 GB each (default: ~/.cache/openset/fresh); existing ones are replaced
#   --downloads  a folder of downloaded files to share (~/.cache/openset/downloads); then only the clients are untested
#   SUITE        bookworm, trixie (default: both)
#   COMMAND      a command to run instead of the README's two
#
# Needs root and debootstrap. If the network needs its own certificates, SSL_CERT_FILE must name them.
set -u
folder=$HOME/.cache/openset/fresh downloads="" suites=() command=()
while [ $# -gt 0 ]; do
  case $1 in
    --folder=*) folder=${1#*=} ;;
    --downloads=*) downloads=${1#*=} ;;
    --) shift; command=("$@"); break ;;
    bookworm | trixie) suites+=("$1") ;;
    *) echo "fresh_machine: '$1' is not an option; see the head of $0" >&2; exit 2 ;;
  esac
  shift
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
cd "${BUILD_WORKSPACE_DIRECTORY:-$(dirname "$0")/..}" || exit 1
[ "$(id -u)" = 0 ] || { echo "fresh_machine: needs root (chroot, mount)" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "fresh_machine: needs debootstrap (apt-get install debootstrap)" >&2; exit 2; }

. third_party/debian_suite.sh
mirror=$(suite_sources | sed -n "s/.*\] \(.*\) $suite main$/\1/p" | head -1)
[ -n "$mirror" ] || { echo "fresh_machine: the machine's apt sources name no Debian mirror" >&2; exit 2; }

mounted=()
trap 'for m in "${mounted[@]}"; do umount "$m"; done' EXIT
mount_below() { # ROOT FOLDER WHERE
  mkdir -p "$1$3" && mount --bind "$2" "$1$3" && mounted=("$1$3" "${mounted[@]}")
}

# in_chroot ROOT COMMAND: runs it with only the certificates and proxies of this machine's environment.
in_chroot() {
  local root=$1 name settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8)
  for name in http_proxy https_proxy no_proxy; do [ -z "${!name:-}" ] || settings+=("$name=${!name}"); done
  if [ -n "${SSL_CERT_FILE:-}" ]; then
    cp "$SSL_CERT_FILE" "$root/etc/machine-certificates.pem"
    for name in SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS; do settings+=("$name=/etc/machine-certificates.pem"); done
  fi
  env -i "${settings[@]}" chroot "$root" bash -c "cd /root/openset && $2"
}

# timed WHAT COMMAND...: prints how long it took and whether it succeeded.
failed=0
timed() {
  local start=$SECONDS code
  "${@:2}"
  code=$?
  [ $code = 0 ] || failed=1
  printf '%-10s %-50s %4d min %02d s  exit code %d\n' "$release" "$1" $(((SECONDS - start) / 60)) \
    $(((SECONDS - start) % 60)) $code >>"$folder/figures.txt"
  return $code
}

folder=$(realpath -m "$folder")
mkdir -p "$folder" && : >"$folder/figures.txt"
for release in "${suites[@]}"; do
  root=$folder/$release
  # Never through a mount that a killed run has left, because its files belong to this machine.
  if grep -qF " $root/" /proc/mounts; then
    echo "fresh_machine: something is still mounted below $root; unmount it first" >&2
    exit 1
  fi
  rm -rf "$root"
  timed "debootstrap --variant=minbase" debootstrap --variant=minbase "$release" "$root" "$mirror" \
    >"$folder/$release.log" 2>&1 || continue
  before=$(chroot "$root" dpkg-query -W | wc -l)
  git clone -q --no-hardlinks . "$root/root/openset" || exit 1
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  mount_below "$root" /proc /proc
  mount_below "$root" /dev /dev
  [ -z "$downloads" ] || mount_below "$root" "$downloads" /root/.cache/openset/downloads
  if [ ${#command[@]} -gt 0 ]; then
    timed "${command[*]}" in_chroot "$root" "${command[*]}"
  else
    timed "bazelw run //experiments/specs:quickstart" in_chroot "$root" "./bazelw --yes run //experiments/specs:quickstart" &&
      timed "bazelw test //..." in_chroot "$root" "./bazelw --yes test //..."
  fi
  printf '%-10s %d packages installed, %s in /usr, %s in ~/.cache\n' "$release" \
    $(($(chroot "$root" dpkg-query -W | wc -l) - before)) "$(du -sh "$root/usr" | cut -f1)" \
    "$(du -shx "$root/root/.cache" | cut -f1)" >>"$folder/figures.txt"
  in_chroot "$root" "bazel shutdown" >/dev/null 2>&1
done
cat "$folder/figures.txt"
exit $failed
