import { attacksOf, type Attack } from "../../../src/workloads/proof/attack.ts";

/** Programs that try to outlive their run. */
export const survivalAttacks: readonly Attack[] = attacksOf({
  group: "Longer than its time",
  control: "hostProcess",
  attacks: {
    "lives-on-after-its-end": "leave a daemon that ignores signals behind",
    "lives-on-after-its-time": "leave one behind when its time is over",
  },
});

/** Programs whose result files are traps for the collector. */
export const resultAttacks: readonly Attack[] = attacksOf({
  group: "By its results",
  control: "naiveReader",
  attacks: {
    "link.txt": "return a link to a file of the host",
    "folder/private.txt": "return a file behind a link to a folder of the host",
    "endless.txt": "return a link to an endless device",
    "pipe.txt": "return a pipe that never writes anything",
    "huge.txt": "return a sparse file of 1 TiB",
    "many-results": "return 3000 files",
    "big-results": "return 48 MB",
  },
});
