import type { Sabotage } from "./sabotage.ts";

export const agentRunnerSabotages: readonly Sabotage[] = [
  {
    id: "agent runner: links in the workspace are followed",
    file: "src/workloads/agent/work.ts",
    find: "constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK",
    replace: "constants.O_RDONLY | constants.O_NONBLOCK",
    test: "src/workloads/agent/work.test.ts",
    name: "follows no link and waits for nobody",
  },
  {
    id: "agent runner: what is no JSON stands among the lines",
    file: "src/workloads/agent/work.ts",
    find: "onOther: (text) => onError(Buffer.from(`${text}\\n`)),",
    replace: "onOther: (text) => onLine(Buffer.from(text)),",
    test: "src/workloads/agent/runner.test.ts",
    name: "markers in what the agent says are text like any other",
  },
  {
    id: "agent runner: a conversation's name may be an option",
    file: "src/workloads/agent/runner-input.ts",
    find: "const sessionForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;",
    replace: "const sessionForm = /^.{0,199}$/;",
    test: "src/workloads/agent/runner-input.test.ts",
    name: "a session that is an option",
  },
  {
    id: "agent runner: what is left of a line that is too long is read",
    file: "src/workloads/agent/work.ts",
    find: "if (isTooLong) return",
    replace: "if (length < 0) return",
    test: "src/workloads/agent/work.test.ts",
    name: "holds a line without an end in bounds",
  },
  {
    id: "agent runner: a failure of the model's is success",
    file: "src/workloads/agent/work.ts",
    find: 'else if (fact.kind === "fails") this.#failure = fact.message.slice(0, maxTextLength);',
    replace: 'else if (fact.kind === "fails") this.#failure = null;',
    test: "src/workloads/agent/commands/recorded-lines.test.ts",
    name: "say why it failed, when its model refused",
  },
];
