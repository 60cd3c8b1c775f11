#!/bin/bash
# Tests the wheel on machines that only have Python: a bare Debian 12, Debian 13 and Ubuntu 22.04 with python3-venv,
# each in its own chroot. Installs the wheel, evaluates a file without PyTorch, and uninstalls it; nothing may be left.
# Ubuntu 20.04's glibc is too old: there, pip must refuse the wheel.
#
#   bare_machine_test.sh WHEEL [--train] [SUITE...]        by //tools/python:bare_machine_test
#
#   --train   also installs PyTorch, fetches Fashion-MNIST and trains the quickstart for one epoch
#   SUITE     bookworm, trixie, jammy, focal (default: all)
#
# Prints how long each step took. Needs root and the network. Uses debootstrap, which it fetches if it is missing, and
# this machine's Debian mirror, certificates and proxies. Skipped without root.
set -eu
[ "$(id -u)" = 0 ] || { echo "bare_machine_test: skipped: needs root (chroot, mount)" >&2; exit 0; }
# Its mounts disappear when it ends.
[ "${OPENSET_OWN_MOUNTS:-}" = 1 ] || exec env OPENSET_OWN_MOUNTS=1 unshare --mount --propagation private "$0" "$@"

wheel=$(realpath "$1")
shift
train=no suites=()
for word in "$@"; do
  case $word in
    --train) train=yes ;;
    bookworm | trixie | jammy | focal) suites+=("$word") ;;
    *) echo "bare_machine_test: '$word' is not an option; see the head of $0" >&2; exit 2 ;;
  esac
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie jammy focal)

. third_party/debian_suite.sh
mirror=$(suite_sources | sed -n "s/.*\] \(.*\) $suite main$/\1/p" | head -1)
[ -n "$mirror" ] || { echo "bare_machine_test: the machine's apt sources name no Debian mirror" >&2; exit 2; }

folder=$(mktemp -d "${TEST_TMPDIR:-/tmp}/openset-bare.XXXXXX")
clean() {
  local mount
  for mount in "$folder"/*/{dev,proc}; do umount -R -l "$mount" 2>/dev/null || true; done
  rm -rf --one-file-system "$folder"
}
trap clean EXIT
if ! command -v debootstrap >/dev/null; then
  (cd "$folder" && apt-get -q -o APT::Sandbox::User=root download debootstrap >/dev/null && dpkg-deb -x debootstrap_*.deb debootstrap)
  export DEBOOTSTRAP_DIR=$folder/debootstrap/usr/share/debootstrap PATH=$PATH:$folder/debootstrap/usr/sbin
fi

# in_chroot ROOT COMMAND: runs it with only the certificates and proxies of this machine's environment.
in_chroot() {
  local name settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8)
  for name in http_proxy https_proxy no_proxy; do [ -z "${!name:-}" ] || settings+=("$name=${!name}"); done
  if [ -n "${SSL_CERT_FILE:-}" ]; then
    cp "$SSL_CERT_FILE" "$1/etc/machine-certificates.pem"
    for name in SSL_CERT_FILE PIP_CERT; do settings+=("$name=/etc/machine-certificates.pem"); done
  fi
  env -i "${settings[@]}" chroot "$1" bash -euc "cd /root && $2"
}

# timed WHAT COMMAND...
timed() {
  local start
  start=$(date +%s.%N)
  "${@:2}" || { echo "bare_machine_test: FAILED: $release: $1" >&2; exit 1; }
  awk -v release="$release" -v what="$1" -v start="$start" -v end="$(date +%s.%N)" \
    'BEGIN { printf "%-9s %-62s %6.1f s\n", release, what, end - start }'
}

# remove ROOT
remove() {
  local mount
  for mount in /dev /proc; do umount -R -l "$1$mount"; done
  rm -rf --one-file-system "$1"
}

evaluate='printf "label,prediction,unknown_score\n0,0,1\n1,1,2\n-1,0,3\n" > scores.csv
  openset eval scores.csv --format=json --metrics=auroc > found.json
  python3 -c "import json; assert json.load(open(\"found.json\"))[\"metrics\"][\"auroc\"][\"value\"] == 1"'
leaves_nothing='list() { find venv -path "*/site-packages/pip*" -prune -o -print | sort; }
  list > before
  pip install -q --no-cache-dir *.whl && openset list scores > /dev/null && python -c "import openset"
  pip uninstall -q -y openset
  list > after
  diff before after'

for release in "${suites[@]}"; do
  root=$folder/$release
  from=$mirror
  case $release in jammy | focal) from=http://archive.ubuntu.com/ubuntu ;; esac
  timed "debootstrap, with python3-venv" debootstrap --variant=minbase --components=main,universe \
    --include=ca-certificates,python3-venv "$release" "$root" "$from" >"$folder/log" 2>&1 || { tail -5 "$folder/log" >&2; exit 1; }
  tail -1 "$folder/log"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  for mount in /proc /dev; do mount --rbind "$mount" "$root$mount"; done
  cp "$wheel" "$root/root/"
  in_chroot "$root" "if command -v curl || command -v gcc; then exit 1; fi"
  enter="export PATH=/root/venv/bin:\$PATH;"
  timed "python3 -m venv" in_chroot "$root" "python3 -m venv venv"
  if [ "$release" = focal ]; then
    timed "pip refuses the wheel" in_chroot "$root" "$enter ! pip install -q --no-cache-dir *.whl 2> said && cat said &&
      grep -q 'not a supported wheel' said"
    remove "$root"
    continue
  fi
  timed "pip install, openset --version, pip uninstall: nothing is left" in_chroot "$root" "$enter $leaves_nothing"
  timed "pip install openset" in_chroot "$root" "$enter pip install -q --no-cache-dir *.whl"
  timed "openset eval scores.csv, without PyTorch" in_chroot "$root" "$enter $evaluate"
  timed "python -c 'import openset'" in_chroot "$root" "$enter python -c 'import openset; assert openset.__version__'"
  if [ "$train" = yes ]; then
    timed "pip install 'openset[train]'" in_chroot "$root" \
      "$enter pip install -q --no-cache-dir \"\$(echo \$PWD/*.whl)[train]\" numpy pandas"
    timed "openset data fetch fashion_mnist" in_chroot "$root" "$enter openset data fetch fashion_mnist"
    timed "openset run quickstart --set training.epochs=1" in_chroot "$root" \
      "$enter openset run quickstart --set training.epochs=1 > said && grep -q AUROC said"
    timed "its outputs measured again by Python" in_chroot "$root" "$enter python - <<'END'
import openset
store = openset.open_store()
records = store.records('method=softmax')
again = store.evaluate('max_softmax', 'method=softmax')
assert len(records) == 4, records
for ours, theirs in zip(records.rows, again.rows):
    assert ours['auroc'] == theirs['auroc'] and ours['openauc'] == theirs['openauc'], (ours, theirs)
END"
  fi
  remove "$root"
done
