/**
 * Scripts that bring a tree inside a sandbox up to date, for the shells and tools of Debian and of BusyBox. A new file
 * is unpacked next to the tree and renamed into it, so that watchers see one change and never half a file; it gets the
 * time of the renaming, since watchers compare times and an archive's are whole seconds.
 */

/**
 * $1 folder, which is made where it is missing, $2 `placeScript`, $3 `removeScript`. Says `ready`, then takes an
 * archive of `updateTree`. Removes what an earlier run that was killed left next to the folder.
 */
export const updateScript = `
umask 022
unset TAR_OPTIONS POSIXLY_CORRECT
command -v tar >/dev/null || { echo "No tar" >&2; exit 1; }
target=$1 parent=\${1%/*}
[ ! -L "$target" ] || rm -f "$target"
mkdir -p "$target" || exit 1
rm -rf "$parent"/.glovebox-update-*
stage=$(mktemp -d "$parent/.glovebox-update-XXXXXX") || exit 1
trap 'cd / && rm -rf "$stage"' EXIT
mkdir "$stage/tree" && cd "$stage" || exit 1
echo ready
tar -x -m -p -o -f - || { cat >/dev/null; exit 1; }
cat >/dev/null
cd tree && find . -type d -print0 >../folders || exit 1
xargs -0 -n 200 sh -c "$2" "$target" <../folders || exit 1
cd "$target" || exit 1
xargs -0 -n 500 sh -c "$3" file <"$stage/gone" 2>/dev/null
xargs -0 -n 500 sh -c "$3" folder <"$stage/gone-folders" 2>/dev/null
exit 0
`;

/**
 * $0 the tree, the others folders of what has been unpacked, outer ones first. A folder that the tree does not have is
 * moved as a whole; a link or file of a program in a folder's place is replaced, and so is its folder in a file's
 * place.
 */
export const placeScript = `
for folder do
  [ -d "$folder" ] || continue
  at=$0/$folder
  if [ -L "$at" ] || [ ! -d "$at" ]; then
    rm -f "$at" && mv -f "$folder" "$at" || exit 1
    continue
  fi
  set --
  for each in "$folder"/* "$folder"/.[!.]* "$folder"/..?*; do
    if [ -L "$each" ] || [ -f "$each" ]; then
      there=$at/\${each##*/}
      [ -L "$there" ] || [ ! -d "$there" ] || rm -rf "$there"
      set -- "$@" "$each"
      if [ $# -ge 500 ]; then mv -f -- "$@" "$at/" || exit 1; set --; fi
    fi
  done
  [ $# -eq 0 ] || mv -f -- "$@" "$at/" || exit 1
done
`;

/** $0 \`file\` or \`folder\`, the others what goes, relative to the working directory. Nothing behind a link goes. */
export const removeScript = `
for path do
  shift
  rest=$path at=.
  while :; do
    case $rest in
      */*) at=$at/\${rest%%/*} rest=\${rest#*/} ;;
      *) break ;;
    esac
    [ ! -L "$at" ] || continue 2
  done
  set -- "$@" "./$path"
done
[ $# -gt 0 ] || exit 0
if [ "$0" = file ]; then rm -f -- "$@"; else rmdir -- "$@"; fi
`;
