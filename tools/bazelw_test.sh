#!/bin/bash
# On another distribution, bazelw prints one line and exits with 2 before it installs anything. If packages are missing,
# it installs them only if requested.
bazelw=$TEST_SRCDIR/openset/bazelw
printf 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n' >"$TEST_TMPDIR/os-release"
message=$(OPENSET_OS_RELEASE=$TEST_TMPDIR/os-release "$bazelw" version 2>&1)
code=$?
expected="bazelw: openset is built on Debian 12 or 13, x86-64 (or in a container of one of them); this machine is Ubuntu 24.04 LTS x86_64."
[ $code = 2 ] || { echo "exit code $code"; exit 1; }
[ "$message" = "$expected" ] || { echo "said: $message"; exit 1; }

# A machine without unzip. Its commands only write a line to a file.
bin=$TEST_TMPDIR/bin
mkdir -p "$bin"
for command in bash dirname uname sh; do ln -sf "$(command -v $command)" "$bin/$command"; done
for command in bazel g++ python3 git curl apt-get; do
  printf '#!/bin/bash\necho "%s $*" >>"%s/done"\n' $command "$TEST_TMPDIR" >"$bin/$command"
done
printf '#!/bin/bash\necho $FAKE_UID\n' >"$bin/id"
printf '#!/bin/bash\necho "sudo $*" >>"%s/done"\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n' "$TEST_TMPDIR" >"$bin/sudo"
# `true` is a file for sudo, as it is in /usr/bin.
printf '#!/bin/bash\n' >"$bin/true"
chmod +x "$bin"/{bazel,g++,python3,git,curl,apt-get,id,sudo,true}
printf 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n' >"$TEST_TMPDIR/os-release"

# run UID CI COMMAND...: sets $code to the exit code, $said to the output, $done to the commands that ran.
run() {
  rm -f "$TEST_TMPDIR/done"
  said=$(env -u CI PATH="$bin" FAKE_UID="$1" CI="$2" OPENSET_OS_RELEASE="$TEST_TMPDIR/os-release" "${@:3}" 2>&1 </dev/null)
  code=$?
  done=$(cat "$TEST_TMPDIR/done" 2>/dev/null | grep -v "^python3")
}
fail() { printf '%s: exit code %s\nsaid: %s\ndone: %s\n' "$1" "$code" "$said" "$done"; exit 1; }

for uid in 0 1000; do
  run $uid "" "$bazelw" test x
  [ $code = 2 ] && [ -z "$done" ] || fail "without word, as $uid"
  case "$said" in *"lacks: unzip."*"nothing was installed"*"./bazelw --yes test x"*) ;; *) fail "without word, as $uid" ;; esac
  run $uid false "$bazelw" test x
  [ $code = 2 ] && [ -z "$done" ] || fail "with CI=false, as $uid"
  for how in --yes CI; do
    if [ $how = CI ]; then run $uid true "$bazelw" test x; else run $uid "" "$bazelw" --yes test x; fi
    [ $code = 0 ] || fail "$how, as $uid"
    case "$done" in *"apt-get update"*"apt-get install --yes --no-install-recommends unzip ca-certificates"*"bazel test x") ;; *) fail "$how, as $uid" ;; esac
    case "$done" in *sudo*) [ $uid = 1000 ] || fail "$how, as root" ;; *) [ $uid = 0 ] || fail "$how, as a user" ;; esac
  done
done

# On a terminal it asks.
for answer in n y; do
  python=$(PATH=/usr/bin:/bin command -v python3)
  rm -f "$TEST_TMPDIR/done"
  env -u CI PATH="$bin" FAKE_UID=1000 OPENSET_OS_RELEASE="$TEST_TMPDIR/os-release" "$python" - "$bazelw" $answer <<'PYTHON'
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "test", "x"])
text = b""
answered = False
while True:
    try:
        part = os.read(terminal, 1000)
    except OSError:
        break
    if not part:
        break
    text += part
    if b"[y/N]" in text and not answered:
        os.write(terminal, sys.argv[2].encode() + b"\n")
        answered = True
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
expected = 0 if sys.argv[2] == "y" else 2
if code != expected or not answered:
    sys.exit(f"answer {sys.argv[2]}: exit code {code}, said: {text.decode()}")
PYTHON
  [ $? = 0 ] || exit 1
  if [ $answer = y ]; then
    grep -q "^apt-get install" "$TEST_TMPDIR/done" || { echo "yes installed nothing"; exit 1; }
  elif grep -q "apt-get\|sudo" "$TEST_TMPDIR/done"; then
    echo "no installed something"; exit 1
  fi
done
