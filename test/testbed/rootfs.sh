# shellcheck shell=bash
# Sourced by up.sh: builds the test images' root file systems. No image registry can be reached, so each
# image is one layer made from Debian's packages and npm tarballs, cached as a tar file.

images=(minimal python node bun)

image_name() { echo "glovebox-test/$1:1"; }

node_platform() {
  case $(uname -m) in
    x86_64) echo linux-x64 ;;
    aarch64) echo linux-arm64 ;;
    *) return 1 ;;
  esac
}

bun_platform() {
  case $(uname -m) in
    x86_64) if grep -qw avx2 /proc/cpuinfo; then echo linux-x64; else echo linux-x64-baseline; fi ;;
    aarch64) echo linux-aarch64 ;;
    *) return 1 ;;
  esac
}

# Unpacks an npm package to FOLDER without running any of its scripts.
npm_unpack() {
  local package=$1 folder=$2 tarball
  mkdir -p "$folder"
  # It runs in the folder, so that no project's .npmrc applies.
  tarball=$(cd "$folder" && npm pack --silent "$package" | tail -n 1) || return
  tar -xzf "$folder/$tarball" -C "$folder" --strip-components=1 --no-same-owner || return
  rm "$folder/$tarball"
}

# The machine's own package sources for its own Debian release: others (vendors') are left out.
debian_sources() {
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    grep -Eq "^(deb|Suites:).*[[:space:]]$1([[:space:]]|\$)" "$file" || continue
    grep -Eq '^(deb|Components:).*[[:space:]]main([[:space:]]|$)' "$file" && echo "$file"
  done
  return 0
}

# usage: debian_rootfs OUT.tar PACKAGES [HOOK...]; a hook sees the root file system as $1
debian_rootfs() {
  local out=$1 packages=$2 suite hook sources options=()
  shift 2
  # shellcheck source=/dev/null
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mapfile -t sources < <(debian_sources "$suite")
  [ -z "$packages" ] || options+=("--include=$packages")
  for hook in "$@"; do options+=("--customize-hook=$hook"); done
  mmdebstrap --variant=minbase "${options[@]}" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    "$suite" "$out" "${sources[@]}"
}

# shellcheck disable=SC2016 # $1 in the hooks belongs to mmdebstrap
rootfs_python() {
  # As in the official image, and unlike on Debian, pip may install into the system's folder.
  debian_rootfs "$1" python3,python-is-python3,python3-pip,python3-pytest,python3-pytest-cov \
    'rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED'
}

# shellcheck disable=SC2016
rootfs_node() {
  local parts=$2
  npm_unpack "node-$(node_platform)@24" "$parts/node" || return
  npm_unpack npm@11 "$parts/npm" || return
  debian_rootfs "$1" make \
    'chroot "$1" groupadd -g 1000 node' \
    'chroot "$1" useradd -m -u 1000 -g node -s /bin/bash node' \
    'mkdir -p "$1/usr/local/lib/node_modules"' \
    "install -m 755 '$parts/node/bin/node' \"\$1/usr/local/bin/node\"" \
    "cp -r '$parts/npm' \"\$1/usr/local/lib/node_modules/npm\"" \
    'ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"' \
    'ln -s ../lib/node_modules/npm/bin/npx-cli.js "$1/usr/local/bin/npx"' \
    'chmod 755 "$1"/usr/local/lib/node_modules/npm/bin/*.js'
}

# shellcheck disable=SC2016
rootfs_bun() {
  local parts=$2
  npm_unpack "@oven/bun-$(bun_platform)@1.4.5" "$parts/bun" || return
  debian_rootfs "$1" python3 \
    "install -m 755 '$parts/bun/bin/bun' \"\$1/usr/local/bin/bun\"" \
    'ln -s bun "$1/usr/local/bin/bunx"'
}

rootfs_minimal() {
  local out=$1 parts=$2 root=$2/root applet
  mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc,dev,proc,sys,run,home,root,tmp,var/tmp}
  chmod 1777 "$root/tmp" "$root/var/tmp"
  chmod 700 "$root/root"
  (cd "$parts" && apt-get download -qq -o APT::Sandbox::User=root busybox-static) || return
  dpkg-deb --fsys-tarfile "$parts"/busybox-static_*.deb | tar -xO ./bin/busybox >"$root/bin/busybox" || return
  chmod 755 "$root/bin/busybox"
  while read -r applet; do
    [ -e "$root/$applet" ] || ln -s /bin/busybox "$root/$applet"
  done < <("$root/bin/busybox" --list-full | grep -v linuxrc)
  printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$root/etc/group"
  tar -C "$root" --sort=name --owner=0 --group=0 --numeric-owner -cf "$out" .
}

image_changes() {
  case $1 in
    minimal) echo 'CMD ["sh"]' ;;
    python) printf '%s\n' 'CMD ["python3"]' 'ENV LANG=C.UTF-8' ;;
    node) echo 'CMD ["node"]' ;;
    bun) echo 'CMD ["bun"]' ;;
  esac
  echo 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
}

# Names what an image is made from, so that a changed recipe is built and loaded again.
recipe() {
  declare -f "rootfs_$1" debian_rootfs npm_unpack image_changes | sha256sum | cut -c1-12
}

rootfs_file() { echo "$testbed/cache/$1-$(recipe "$1").tar"; }

rootfs_missing() {
  local name
  for name in "${images[@]}"; do
    [ -f "$(rootfs_file "$name")" ] || echo "$name"
  done
}

build_rootfs() {
  local name=$1 file parts=$testbed/tmp/$1
  file=$(rootfs_file "$name")
  mkdir -p "$parts"
  TMPDIR=$testbed/tmp "rootfs_$name" "$parts/rootfs.tar" "$parts" >"$testbed/logs/image-$name.log" 2>&1 || return
  rm -f "$testbed/cache/$name"-*.tar
  mv "$parts/rootfs.tar" "$file"
  rm -rf --one-file-system "$parts"
}

declare -A building=()

start_build() {
  say "building $(image_name "$1")"
  build_rootfs "$1" 9>&- &
  building[$1]=$!
}

# Starts all missing ones at once, to use the time that the engines need.
start_builds() {
  local name
  for name in $(rootfs_missing); do start_build "$name"; done
}

await_build() {
  local name=$1
  [ -f "$(rootfs_file "$name")" ] || [ -n "${building[$name]:-}" ] || start_build "$name"
  [ -z "${building[$name]:-}" ] || wait "${building[$name]}" || true
  unset "building[$name]"
  [ -f "$(rootfs_file "$name")" ] ||
    fail "$(image_name "$name") cannot be built: $(tail -n 1 "$testbed/logs/image-$name.log" | cut -c1-160)"
}

# Builds whose engine could not be started still fill the cache, although nothing waited for them.
end_builds() {
  local name
  for name in "${!building[@]}"; do await_build "$name" || say "$why"; done
}
