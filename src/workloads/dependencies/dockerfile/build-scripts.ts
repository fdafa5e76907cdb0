/** Where the project's files are during the build; they are not part of the image. */
export const contextFolder = "/.glovebox-context";

/**
 * Copies what COPY names. Arguments: the target, which ends in a slash where it is a folder; the owner; the mode or nothing;
 * then patterns, which the shell expands and does not read otherwise. What they lead to is inside the sandbox.
 */
export const copyScript = String.raw`
target=$1; owner=$2; mode=$3; shift 3
IFS=
cd ${contextFolder} || exit
for pattern in "$@"; do
  for source in ./$pattern; do
    [ -e "$source" ] || [ -L "$source" ] || { echo "no such file in the project, or it is ignored: $pattern"; exit 1; }
    chown -hR "$owner" "$source" || exit
    [ -z "$mode" ] || chmod -R "$mode" "$source" || exit
    if [ -d "$source" ]; then mkdir -p "$target" && cp -a "$source/." "$target" || exit
    else
      case $target in */) mkdir -p "$target" ;; *) mkdir -p "$(dirname "$target")" ;; esac || exit
      cp -pL "$source" "$target" || exit
    fi
  done
done
`;

/** Prints user and group as numbers, for the one argument that USER has. */
export const userScript = String.raw`
user=\${1%%:*}; group=
case $1 in *:*) group=\${1#*:} ;; esac
case $user in
  *[!0-9]*) uid=$(id -u "$user") && gid=$(id -g "$user") || exit ;;
  *) uid=$user; gid=$(id -g "$user" 2>/dev/null || echo 0) ;;
esac
case $group in
  '') ;;
  *[!0-9]*) gid=$(sed -n "s/^$group:[^:]*:\([0-9][0-9]*\):.*/\1/p" /etc/group) ;;
  *) gid=$group ;;
esac
echo "$uid:$gid"
`.replaceAll("\\${", "${");
