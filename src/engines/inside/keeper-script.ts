/**
 * Makes the folders in its arguments that are missing and opens them all to every user: some runtimes give a mount the
 * mode of the folder that it covers.
 * Then keeps a container up and tells its use of memory: for each line `REQUEST [USER]` on standard input one line
 * `REQUEST USED PEAK OOM_KILLS CPU READ WRITTEN KEEPER [PROCESSES]`, with `-` for what this kernel does not count. CPU is
 * the CPU time of all processes in microseconds, READ and WRITTEN are bytes of block devices. KEEPER is its own process
 * number, PROCESSES how many live processes the user number has; one that ends meanwhile counts as one, whoever
 * it belonged to. Ends with its input.
 * For that it uses what every `sh` has built in and so starts no process: it also answers when no more can be started.
 */
const keeperScript = `
for folder; do
  # Some engines make the root unwritable for its own owner.
  [ -d "$folder" ] || { chmod u+w / && mkdir -p -- "$folder"; } 2>/dev/null
  # A new file system has one.
  [ ! -d "$folder/lost+found" ] || rmdir -- "$folder/lost+found" 2>/dev/null
done
[ $# -eq 0 ] || chmod 1777 -- "$@" 2>/dev/null
folder=/sys/fs/cgroup
if [ -r $folder/memory.current ]; then
  used=$folder/memory.current peak=$folder/memory.peak events=$folder/memory.events
  cpu=$folder/cpu.stat disk=$folder/io.stat
else
  cpu=$folder/cpuacct/cpuacct.usage disk=$folder/blkio/blkio.throttle.io_service_bytes
  folder=$folder/memory
  used=$folder/memory.usage_in_bytes peak=$folder/memory.max_usage_in_bytes events=$folder/memory.oom_control
fi
count() {
  processes=0
  for status in /proc/[0-9]*/status; do
    state= owner=
    {
      while IFS=' 	' read -r name value rest; do
        case $name in State:) state=$value ;; Uid:) owner=$value && break ;; esac
      done <"$status"
    } 2>/dev/null
    case $owner:$state in "$1":[ZX]) ;; "$1":* | :*) processes=$((processes + 1)) ;; esac
  done
}
while IFS=' ' read -r request user; do
  bytes= most= kills=
  [ -r "$used" ] && IFS= read -r bytes <"$used"
  [ -r "$peak" ] && IFS= read -r most <"$peak"
  [ -r "$events" ] && while IFS=' ' read -r name count; do
    [ "$name" = oom_kill ] && kills=$count
  done <"$events"
  time=
  [ -r "$cpu" ] && while IFS=' ' read -r name count; do
    case $name in usage_usec) time=$count ;; [0-9]*) time=$((name / 1000)) ;; esac
  done <"$cpu"
  in= out=
  [ -r "$disk" ] && in=0 out=0 && while IFS=' ' read -r name first second rest; do
    case $first in
      Read) in=$((in + second)) ;;
      Write) out=$((out + second)) ;;
      rbytes=*) in=$((in + \${first#*=})) out=$((out + \${second#*=})) ;;
    esac
  done <"$disk"
  processes=
  [ -z "$user" ] || count "$user"
  echo "$request \${bytes:--} \${most:--} \${kills:--} \${time:--} \${in:--} \${out:--} $$ $processes"
done
`;

/** Program and arguments of the keeper; the folders must belong to its user. */
export function keeperCommand(folders: readonly string[]): readonly string[] {
  return ["sh", "-c", keeperScript, "keeper", ...folders];
}
