import { attacksOf, type Attack } from "./attack.ts";

/** Programs that take more than their share; each has a sandbox of its own. */
export const bombAttacks: readonly Attack[] = attacksOf({
  group: "More than its share",
  control: "unsealedAlone",
  attacks: {
    "forks-many-processes": "start 300 processes where 64 are allowed",
    "starts-many-threads": "start 300 threads",
    "leaves-dead-children": "leave 300 dead children unwaited for",
    "takes-memory": "take 400 MB of memory where 96 are allowed",
    "takes-memory-in-files": "take it in files of /tmp",
    "takes-memory-in-shared-files": "take it in files of /dev/shm",
    "takes-memory-without-a-file": "take it in a file without a name (memfd)",
    "takes-shared-memory": "take it as System V shared memory",
    "takes-memory-in-pipes": "take it in pipes that nobody reads",
    "takes-memory-in-sockets": "take it in sockets that nobody reads",
    "fills-disk": "fill the host's disk",
    "makes-many-files": "make 100,000 empty files",
    "floods-output": "print 30 MB",
  },
});

/** Programs that try to outlive their run. */
export const survivalAttacks: readonly Attack[] = attacksOf({
  group: "Longer than its time",
  control: "hostProcess",
  attacks: {
    "lives-on-after-its-end": "leave a daemon that ignores signals behind",
    "lives-on-after-its-time": "leave one behind when its time is over",
  },
});

/** Programs whose result files are traps for whoever collects them. */
export const resultAttacks: readonly Attack[] = attacksOf({
  group: "By its results",
  control: "naiveReader",
  attacks: {
    "link.txt": "return a link to a file of the host",
    "folder/private.txt": "return a file behind a link to a folder of the host",
    "endless.txt": "return a link to a device without an end",
    "pipe.txt": "return a pipe that never says anything",
    "huge.txt": "return a sparse file of 1 TiB",
    "many-results": "return 3000 files",
    "big-results": "return 48 MB",
  },
});
