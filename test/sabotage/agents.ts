import type { Sabotage } from "./sabotage.ts";

const marked = "src/workloads/agent/agent-result.test.ts";
const folders = "src/workloads/agent/own-folder.test.ts";
const memory = "src/workloads/agent/find-memory.test.ts";

export const agentsSabotages: readonly Sabotage[] = [
  {
    id: "an answer's marker in the middle of a line counts",
    file: "src/workloads/agent/agent-result.ts",
    find: "if (line?.trim() === outputMarkers.start) {",
    replace: "if (line?.trim().endsWith(outputMarkers.start) === true) {",
    test: marked,
    name: "takes no marker in the middle of a line",
  },
  {
    id: "the first answer counts",
    file: "src/workloads/agent/agent-result.ts",
    find: "this.#last = textOf(this.#open, length, this.#maxBytes);",
    replace: 'if (this.#last.found === "none") this.#last = textOf(this.#open, length, this.#maxBytes);',
    test: marked,
    name: "takes the last complete pair",
  },
  {
    id: "a link in a group's folder is followed",
    file: "src/workloads/agent/agent-folders.ts",
    find: 'if (place.realPath === expected && place.kind === "folder") return place;',
    replace: 'if (place.kind === "folder") return place;',
    test: folders,
    name: "refuses a link to another group's folder",
  },
  {
    id: "an agent's log goes into what lies there",
    file: "src/workloads/agent/run-log.ts",
    find: "constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)",
    replace: "constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK",
    test: "src/workloads/agent/run-log.test.ts",
    name: "writes nothing to what an agent has put in its place",
  },
  {
    id: "an agent's variables are not quoted",
    file: "src/policy/request/environment-variables.ts",
    find: "`export ${name}=${shellQuoted(value)}\\n`",
    replace: "`export ${name}='${value}'\\n`",
    test: "src/policy/request/environment-variables.test.ts",
    name: "a shell reads",
  },
  {
    id: "everybody may read an agent's variables",
    file: "src/workloads/agent/agent-folders.ts",
    find: 'await using handle = await open(file, "wx", 0o600);',
    replace: 'await using handle = await open(file, "wx", 0o644);',
    test: "src/workloads/agent/environment-folder.test.ts",
    name: "has one file for its agent alone",
  },
  {
    id: "every passage of a group's memory passes the gate",
    file: "src/workloads/agent/memory-index.ts",
    find: ".filter(({ relevance }) => relevance > 0 && relevance >= minRelevance)",
    replace: ".filter(({ relevance }) => relevance > 0)",
    test: memory,
    name: "passes the gate only as far as its threshold says",
  },
  {
    id: "a group's memory has no budget",
    file: "src/workloads/agent/memory-index.ts",
    find: "if (context.length + part.length <= maxCharacters) context += part;",
    replace: "context += part;",
    test: memory,
    name: "keeps to its budget",
  },
  {
    id: "runs of one group go on at once",
    file: "src/workloads/agent/agent-turns.ts",
    find: "return await queue.turns.during(async () => {",
    replace: "return await new Turns().during(async () => {",
    test: "src/workloads/agent/agent-turns.test.ts",
    name: "refuses more than may wait",
  },
  {
    id: "agents: what a folder's tools run is not locked",
    file: "src/operations/agent-handler.ts",
    find: 'toolingFiles: folder === null ? config.toolingFiles : "locked",',
    replace: "toolingFiles: config.toolingFiles,",
    test: "test/e2e/agent-folder.test.ts",
    name: "an agent in a folder, on docker > cannot change what its owner's tools run",
  },
  {
    id: "agents: callers share what agents keep of a folder",
    file: "src/workloads/agent/agent-folders.ts",
    find: ".update(`${principal}\\0${folder}`)",
    replace: ".update(`${principal.slice(0, 0)}${folder}`)",
    test: "src/workloads/agent/name-of-folder.test.ts",
    name: "nor with another caller",
  },
];
