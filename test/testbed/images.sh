# shellcheck shell=bash
# Sourced by up.sh: loads the root file systems into the engines and the registry as images.

image_id() { "$1" image inspect -f '{{.Id}}' "$(image_name "$2")" 2>/dev/null; }

import_image() {
  local cli=$1 name=$2 change options=()
  while read -r change; do options+=(--change "$change"); done < <(image_changes "$name")
  "$cli" import "${options[@]}" "$(rootfs_file "$name")" "$(image_name "$name")" >>"$testbed/logs/import.log" 2>&1
}

# usage: load_images docker|podman
load_images() {
  local cli=$1 name record id old
  for name in "${images[@]}"; do
    record=$testbed/loaded/$cli-$name
    old=$(image_id "$cli" "$name") || old=
    [ -z "$old" ] || [ "$(cat "$record" 2>/dev/null)" != "$(recipe "$name") $old" ] || continue
    await_build "$name" || return
    say "loading $(image_name "$name") into $cli"
    import_image "$cli" "$name" || fail "$cli import $name: $(tail -n 1 "$testbed/logs/import.log")" || return
    id=$(image_id "$cli" "$name") || fail "$cli lost $(image_name "$name")" || return
    echo "$(recipe "$name") $id" >"$record"
    # Without its tag the old image is only waste; one that is still in use stays.
    [ -z "$old" ] || "$cli" rmi "$old" >/dev/null 2>&1 || true
  done
}

manifest_paths() {
  local name
  for name in "${images[@]}"; do echo "/v2/glovebox-test/$name/manifests/1"; done
}

push_image() {
  local id=$1 target=$2
  docker tag "$id" "$target" && docker push -q "$target" >>"$testbed/logs/import.log" 2>&1 || return
  # If the tag were still there, a test's pull would have nothing to do.
  docker rmi "$target" >/dev/null 2>&1 || true
}

push_images() {
  local name id manifests paths target pushes=() push
  mapfile -t paths < <(manifest_paths)
  manifests=$(http_get "$registry_address" "${paths[@]}") || true
  for name in "${images[@]}"; do
    id=$(image_id docker "$name") || fail "$(image_name "$name") is not in docker" || return
    # A manifest names the image's id as the digest of its configuration.
    [[ $manifests != *"$id"* ]] || continue
    target=$registry_address/$(image_name "$name")
    say "pushing $target"
    # All at once, since the time goes into compression on a single core.
    push_image "$id" "$target" &
    pushes+=($!)
  done
  for push in "${pushes[@]}"; do
    wait "$push" || fail "a push failed: $(tail -n 1 "$testbed/logs/import.log" | cut -c1-160)" || return
  done
}
