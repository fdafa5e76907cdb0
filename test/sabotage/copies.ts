import type { Sabotage } from "./sabotage.ts";

const look = "src/workloads/project/live/look-at-project.test.ts";
const contract = "test/engine-contract/contract.local.test.ts";

export const copiesSabotages: readonly Sabotage[] = [
  {
    id: "live copies: what changes while it is sent is not sent again",
    file: "src/workloads/project/live/pending-changes.ts",
    find: "if (this.#changes.get(path) === change) this.#changes.delete(path);",
    replace: "this.#changes.delete(path);",
    test: "src/workloads/project/live/pending-changes.test.ts",
    name: "keeps the newest word",
  },
  {
    id: "live copies: a link that takes a file's place is followed out of the project",
    file: "src/workloads/project/live/read-changes.ts",
    find: "constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) |",
    replace: "constants.O_RDONLY |",
    test: look,
    name: "reads nothing outside the project",
  },
  {
    id: "live copies: a project of any size is copied",
    file: "src/workloads/project/live/known-tree.ts",
    find: "if (this.#entries > this.#maxEntries)",
    replace: "if (this.#entries < 0)",
    test: look,
    name: "refuses more than its limits",
  },
  {
    id: "live copies: an edit of .gitignore changes nothing",
    file: "src/workloads/project/live/look-at-project.ts",
    find: "const changesRules = look.isDeep || known.rules === null ||",
    replace: "const changesRules = known.rules === null ||",
    test: look,
    name: "what an edit of .gitignore says",
  },
  {
    id: "updates of trees: a program's link in the tree is followed",
    file: "src/sandbox/files/update/update-scripts.ts",
    find: 'if [ -L "$at" ] || [ ! -d "$at" ]; then',
    replace: 'if [ ! -d "$at" ]; then',
    test: contract,
    name: "tree-updates.traps",
  },
  {
    id: "updates of trees: files are written into their places piece by piece",
    file: "src/sandbox/files/update/update-scripts.ts",
    find: 'if [ $# -ge 500 ]; then mv -f -- "$@" "$at/" || exit 1; set --; fi',
    replace: 'cp "$each" "$at/"; set --',
    test: contract,
    name: "live-copy.events",
  },
  {
    id: "scratch on disk: nothing ends a sandbox that fills the disk",
    file: "src/workloads/run/disk/watched-scratch.ts",
    find: "limitBytes: diskBytes,",
    replace: "limitBytes: diskBytes * 1_000,",
    test: "test/e2e/test-disk.test.ts",
    name: "end when they write more than that",
  },
  {
    id: "scratch on disk: a size by name stays in memory",
    file: "src/workloads/run/disk/open-large-scratch.ts",
    find: "if (!isDiskNamed || ",
    replace: "if (isDiskNamed || ",
    test: "test/e2e/large-scratch.test.ts",
    name: "is on disk for a program, which may fill it and is ended beyond it",
  },
  {
    id: "scratch on disk: what dead servers left stays",
    file: "src/sandbox/scratch/disk-scratch.ts",
    find: 'if ((await leases.stateOf(owner)) !== "living")',
    replace: 'if ((await leases.stateOf(owner)) === "living")',
    test: "src/sandbox/scratch/disk-scratch.test.ts",
    name: "removes what dead servers left",
  },
];
