import { attacksOf, open, type Attack } from "./attack.ts";

/** Programs that take more than a fair share; each has a sandbox of its own. */
export const bombAttacks: readonly Attack[] = attacksOf({
  group: "More than its share",
  deniedBy: "memoryLimit",
  deniedByOf: {
    "forks-many-processes": "pidsLimit",
    "starts-many-threads": "pidsLimit",
    "leaves-dead-children": "pidsLimit",
    "fills-disk": "isolation",
    "makes-many-files": "isolation",
    "floods-output": "isolation",
  },
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
    "takes-memory-in-network-sockets": "take it in connections that nobody reads (TCP)",
    "fills-disk": "fill the host's disk",
    "makes-many-files": "make 100,000 empty files",
    "floods-output": "print 30 MB",
  },
  exceptions: {
    "takes-memory-in-network-sockets": {
      kubernetes: open("control groups of version 1 do not count it for a pod; tried on such a node alone"),
    },
  },
});
