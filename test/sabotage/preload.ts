import type { Sabotage } from "./sabotage.ts";

export const preloadSabotages: readonly Sabotage[] = [
  {
    id: "preload: the Node runner keeps compiled files beside itself",
    file: "images/runners/node-runner.cjs",
    find: "  const hasChildren = process.permission === undefined;",
    replace: "  const hasChildren = true;",
    test: "test/e2e/language-turns.test.ts",
    name: "as another user, > runs the program of each call",
  },
  {
    id: "preload: the Node runner lies where a program can put files",
    file: "images/preloads/node/preload.cjs",
    find: "    process.chdir(__dirname);",
    replace:
      '    process.chdir(__dirname);\n    require("node:fs").mkdirSync(require("node:os").tmpdir() + "/.glovebox", { recursive: true });',
    test: "test/e2e/language-turns.test.ts",
    name: "as another user, > leaves nothing of a call's runner",
  },
  {
    id: "preload: the Python runner removes a folder whose name a program can know",
    file: "src/engines/local/preload/guard-python.ts",
    find: '`.glovebox-${createId("run")}`',
    replace: '".glovebox"',
    test: "test/e2e/language-turns.test.ts",
    name: "as another user, > keeps its files",
  },
];
