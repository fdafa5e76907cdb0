import type { Sabotage } from "./sabotage.ts";

const contract = "test/engine-contract/contract.local.test.ts";
const asUser = "test/engine-contract/contract.ordinary-user.test.ts";
const product = "test/e2e/ordinary-user.test.ts";
const run = "src/engines/local/bubblewrap/run/sandbox-run.ts";
const units = "src/engines/local";

export const localSabotages: readonly Sabotage[] = [
  {
    id: "local: a set of pipes serves one program after another",
    file: "src/engines/local/bubblewrap/pipes/pipe-pool.ts",
    find: "const set = this.#ready.pop();",
    replace:
      "const last = this.#ready.at(-1); const again = (fd: number): number => openSync(reopenPath(fd), openPathOnly); const set = last && { stdin: again(last.stdin), stdout: again(last.stdout), stderr: again(last.stderr) };",
    test: contract,
    name: "kept-streams",
  },
  {
    id: "local: a sender of a signal has no deadline",
    file: run,
    find: "AbortSignal.any([this.#senders.signal, AbortSignal.timeout(sendWithinMs)])",
    replace: "new AbortController().signal",
    test: asUser,
    name: "stopped helpers",
  },
  {
    id: "local: given up senders live on",
    file: "src/engines/local/bubblewrap/run/signal-namespace.ts",
    find: "const end = (): void => endSender(child);",
    replace: "const end = (): void => undefined;",
    test: asUser,
    name: "stopped helpers",
  },
  {
    id: "local: a program's end is the end of its children at once",
    file: "src/engines/local/bubblewrap/run/held-end.ts",
    find: 'this.#isHeld = this.#signalFirst("SIGSTOP");',
    replace: "this.#isHeld = false;",
    test: contract,
    name: "process-tree.background-grace",
  },
  {
    id: "local: a held first process is killed before it tells how the program ended",
    file: run,
    find: "if (this.#heldEnd.endsByItself() && ",
    replace: "if (this.#heldEnd.endsByItself() && this.#over && ",
    test: contract,
    name: "process-tree.sigterm",
  },
  {
    id: "only the leader of a background process is waited for",
    file: "src/sandbox/process-tree.ts",
    find: "while (!grace.aborted && (await process.isGone?.()) === false) await sleep(lookMs);",
    replace: "",
    test: "src/sandbox/process-tree.test.ts",
    name: "waits for what a program left behind",
  },
  {
    id: "local: variables reach the first process under their names",
    file: "src/engines/local/bubblewrap/run/prepare-run.ts",
    find: "environment: { PATH: hostPath, ...carried },",
    replace: "environment: { ...environment, ...carried },",
    test: contract,
    name: "variables.program-only",
  },
  {
    id: "local: containers share a network namespace",
    file: "src/engines/local/bubblewrap/namespaces/network-pool.ts",
    find: "const ready = this.#next;\n    this.#next = null;",
    replace: "const ready = (this.#next ??= openNetworkNamespace({ ...this.#options, signal }));",
    test: contract,
    name: "connect.between-programs",
  },
  {
    id: "local: helpers have the container's variables",
    file: "src/engines/local/bubblewrap/run/prepare-run.ts",
    find: "...(program.inheritsEnvironment === false ? {} : spec.environment),",
    replace: "...spec.environment,",
    test: contract,
    name: "variables.helpers",
  },
  {
    id: "docker: helpers have the container's variables",
    file: "src/engines/inside/run-exec.ts",
    find: "...(spec.inheritsEnvironment === false ? {} : own.environment),",
    replace: "...own.environment,",
    test: "test/engine-contract/contract.docker.test.ts",
    name: "variables.helpers",
  },
  {
    id: "files are moved with the container's variables",
    file: "src/sandbox/files/file-process.ts",
    find: "inheritsEnvironment: false, ",
    replace: "",
    test: contract,
    name: "variables.helpers",
  },
  {
    id: "local: nobody watches the memory of an ordinary user",
    file: "src/engines/local/watches/memory-watch.ts",
    find: "if (total > this.#options.limitBytes) this.#end(largest.run);",
    replace: "if (total === -1) this.#end(largest.run);",
    test: product,
    name: "whose children together pass",
  },
  {
    id: "local: the watch ends a program and tells nobody",
    file: "src/engines/local/watches/memory-watch.ts",
    find: "this.#kills++;",
    replace: "",
    test: product,
    name: "answers that it ran out of memory",
  },
  {
    id: "local: shared memory is not counted",
    file: "src/engines/local/bubblewrap/run/family-memory.ts",
    find: "/^Rss(?:Anon|Shmem):",
    replace: "/^Rss(?:Anon):",
    test: `${units}/bubblewrap/run/family-memory.test.ts`,
    name: "shared memory too",
  },
  {
    id: "local: children's memory is not counted",
    file: "src/engines/local/bubblewrap/run/family-memory.ts",
    find: "[processId, ...familyOf(processId)]",
    replace: "[processId]",
    test: product,
    name: "whose children together pass",
  },
  {
    id: "local: what waits for a slow reader at a program's end arrives twice",
    file: "src/engines/local/bubblewrap/pipes/program-pipes.ts",
    find: "while (!socket.destroyed && socket.read() !== null);",
    replace:
      "for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) this.output.push({ stream, bytes: chunk });",
    test: "test/engine-contract/contract.local.test.ts",
    name: "back-pressure.slow-at-the-end",
  },
];
