# Debian packages of the suite of the pins, on any Debian: a private state of apt (sources, lists, cache) that uses the
# machine's own mirror and its Debian keyring. Doesn't change the machine's apt and doesn't need root. Source this file;
# $state is the folder of the state.
suite=bookworm

# The machine's Debian mirrors, as apt itself understands its sources: lines "deb URI SUITE main" for $suite.
suite_sources() {
  local codename keyring options="[arch=amd64 target=Packages]"
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  for keyring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
    [ -f "$keyring" ] && options="[arch=amd64 target=Packages signed-by=$keyring]" && break
  done
  apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
    while read -r uri release component; do
      [ "$component" = main ] || continue
      case $release in
        "$codename" | stable | oldstable) echo "deb $options $uri $suite main" ;;
        "$codename-updates" | stable-updates | oldstable-updates) echo "deb $options $uri $suite-updates main" ;;
        "$codename-security" | stable-security | oldstable-security) echo "deb $options $uri $suite-security main" ;;
      esac
    done
}

# suite_apt COMMAND ...: an apt command on the private state.
suite_apt() {
  local command=$1
  shift
  "$command" -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::State="$state" -o Dir::State::Lists="$state/lists" -o Dir::State::Status="$state/status" \
    -o Dir::Cache="$state/cache" -o Dir::Cache::pkgcache=packages.bin -o Dir::Cache::srcpkgcache= \
    -o APT::Architecture=amd64 -o APT::Architectures::=amd64 \
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none "$@"
}

# Updates the lists of $suite, at most once an hour. Writes apt's output to the file $1.
suite_update() {
  [ -z "$(find "$state/updated" -mmin -60 2>/dev/null)" ] || return 0
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" && touch "$state/status" || return 1
  suite_sources >"$state/sources.list" 2>"$1"
  if [ ! -s "$state/sources.list" ]; then
    echo "E: the machine's apt sources name no Debian mirror (apt-get indextargets)" >>"$1"
    return 1
  fi
  suite_apt apt-get -q update >"$1" 2>&1 && touch "$state/updated"
}

# The versions of package $1 that $suite has, newest first.
suite_versions() { suite_apt apt-cache madison "$1" 2>/dev/null | awk '{ print $3 }'; }
