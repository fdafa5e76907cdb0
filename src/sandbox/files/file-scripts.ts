/**
 * Scripts that move files from inside a sandbox, so that no link leads out of it. They need only what every shell and
 * BusyBox or GNU's small tools have. Each fails with the kernel's message on standard error. Paths are absolute. Facts
 * of a file come from GNU's `find`, else from BusyBox's `stat`: GNU's `stat` fails under older gVisor.
 */
const start = `
umask 022
unset TAR_OPTIONS POSIXLY_CORRECT
fail() { echo "$1" >&2; exit 1; }
missing() { cat "$1" >/dev/null; exit 1; }
`;

/** $1 folder, $2 depth, $3 most bytes of output. \`//\` stands in no path that \`find\` prints, so names may hold anything. */
export const listScript = `${start}
[ -e "$1" ] || missing "$1"
[ -d "$1" ] || fail "Not a directory"
[ -r "$1" ] && [ -x "$1" ] || fail "Permission denied"
cd "$1" || exit 1
if find . -prune -printf '' 2>/dev/null; then set -- "$2" "$3" -printf '%M %m %s %T@ %p//\\n'
else set -- "$2" "$3" -exec stat -c '%A %a %s %Y %n//' {} +
fi
depth=$1 most=$2
shift 2
find . -mindepth 1 -maxdepth "$depth" "$@" | head -c "$most"
`;

/** $1 path, $2 offset, $3 most bytes or -1. Prints the size in a line, then the content. */
export const readScript = `${start}
[ -e "$1" ] || missing "$1"
[ ! -d "$1" ] || fail "Is a directory"
[ -f "$1" ] || fail "Not a regular file"
[ -r "$1" ] || fail "Permission denied"
exec 3<"$1"
[ -f /proc/self/fd/3 ] || fail "Not a regular file"
size=$(find -L /proc/self/fd/3 -prune -printf %s 2>/dev/null || stat -L -c %s /proc/self/fd/3) || exit 1
echo "$size"
left=$((size - $2))
[ "$3" -lt 0 ] || [ "$left" -le "$3" ] || left=$3
[ "$left" -gt 0 ] || exit 0
if [ "$2" -eq 0 ]; then head -c "$left" <&3
else tail -c "+$(($2 + 1))" <&3 | head -c "$left"
fi
`;

/**
 * $1 path, $2 size, $3 mode or nothing. Says \`ready\`, then takes the content. The file is put in place once all of it
 * is there; a link is followed. A file that may not be written stays as it is. As with every write, setuid and setgid
 * bits are cleared.
 */
export const writeScript = `${start}
path=$1
[ ! -d "$path" ] || fail "Is a directory"
hops=0
while [ -L "$path" ]; do
  hops=$((hops + 1))
  [ "$hops" -le 40 ] || fail "Too many levels of symbolic links"
  target=$(readlink "$path" && echo .) || exit 1
  target=\${target%??}
  case $target in
    /*) path=$target ;;
    *) path=\${path%/*}/$target ;;
  esac
done
[ ! -e "$path" ] || [ -f "$path" ] || fail "Not a regular file"
[ ! -e "$path" ] || [ -w "$path" ] || fail "Permission denied"
mode=$3
[ -n "$mode" ] || mode=$(find "$path" -prune -printf %m 2>/dev/null || stat -c %a "$path" 2>/dev/null) || mode=644
case $mode in ????) mode=\${mode#?} ;; esac
folder=\${path%/*}
[ -d "\${folder:-/}" ] || mkdir -p "$folder" || exit 1
temporary=$(mktemp "$folder/.glovebox-XXXXXX") || exit 1
trap 'rm -f "$temporary"' EXIT
echo ready
cat >"$temporary" || { cat >/dev/null; exit 1; }
[ $(($(wc -c <"$temporary"))) -eq "$2" ] || fail "Incomplete"
chmod "$mode" "$temporary" && mv -f "$temporary" "$path" || exit 1
`;

/** $1 path of a file or folder. Prints an archive. */
export const readTreeScript = `${start}
command -v tar >/dev/null || fail "No tar"
if [ -d "$1" ]; then folder=$1 name=.
elif [ -e "$1" ] || [ -L "$1" ]; then folder=\${1%/*} name=./\${1##*/}
else missing "$1"
fi
exec tar -c -f - -C "\${folder:-/}" "$name"
`;

/** $1 folder. Says \`ready\`, then takes an archive. */
export const writeTreeScript = `${start}
command -v tar >/dev/null || fail "No tar"
[ -d "$1" ] || mkdir -p "$1" || exit 1
[ -w "$1" ] && [ -x "$1" ] || fail "Permission denied"
echo ready
tar -x -p -o -f - -C "$1" || { cat >/dev/null; exit 1; }
cat >/dev/null
`;

/**
 * $1 folder. Prints an archive of what is in it, or nothing if it is empty. Names of more files at the top of the
 * folder than a command line holds make it fail, which is told.
 */
export const packScript = `${start}
command -v tar >/dev/null || fail "No tar"
[ -e "$1" ] || missing "$1"
[ -d "$1" ] || fail "Not a directory"
cd "$1" || exit 1
shift
for name in * .[!.]* ..?*; do
  if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "./$name"; fi
done
[ $# -eq 0 ] || exec tar -cf - "$@"
`;

/**
 * $1 folder. Says \`ready\`, then takes an archive after an empty line: the archive of nothing has no bytes, which tar
 * would refuse.
 */
export const unpackScript = `${start}
command -v tar >/dev/null || fail "No tar"
[ -e "$1" ] || missing "$1"
[ -d "$1" ] || fail "Not a directory"
cd "$1" || exit 1
echo ready
IFS= read -r go || exit 0
tar -x -p -f - || { cat >/dev/null; exit 1; }
cat >/dev/null
`;
