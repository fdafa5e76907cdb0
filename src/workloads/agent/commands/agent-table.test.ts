import { describe, expect, it } from "vitest";
import { agentVariables, agentNames } from "../../../policy/known-agents.ts";
import type { AgentTurn } from "./agent-program.ts";
import { agentTable, isAgentName } from "./agent-table.ts";

const turn: AgentTurn = {
  sessionId: null,
  instructions: { text: 'Be "brief".\nAlways.', file: "/tmp/instructions.md" },
  variables: {},
  stateFolder: "/state",
};
/** Each secret is what it is called, so that it is found wherever it turns up. */
const secrets = Object.fromEntries(
  agentVariables.flatMap(({ name, isPlain = false }) => (isPlain ? [] : [[name, name]])),
);

describe.each(agentNames)("%s", (name) => {
  const { start, install } = agentTable[name];

  it("is started without a question to anybody, and keeps what it needs in its state folder", () => {
    const { command, variables, folders: made } = start(turn);
    expect(command[0]).toBe(name);
    expect(command.join(" ")).toMatch(/json/);
    const folders = Object.values(variables).filter((value) => value.startsWith("/state/"));
    expect(folders.length).toBeGreaterThan(0);
    expect(made.toSorted()).toEqual(folders.toSorted());
  });

  it("goes on with an earlier conversation", () => {
    expect(start({ ...turn, sessionId: "earlier-1" }).command).toContain("earlier-1");
    expect(start(turn).command.join(" ")).not.toContain("earlier-1");
  });

  it("is given the instructions", () => {
    const { command, variables, instructionsInPrompt } = start(turn);
    const told = [...command, ...Object.values(variables)].join(" ");
    expect(instructionsInPrompt === true || /instructions\.md|Be \\"brief\\"\.\\nAlways\./.test(told)).toBe(true);
  });

  it("shows no secret in the list of processes", () => {
    const address = { PI_API: "openai", PI_MODEL: "model-1", PI_BASE_URL: "http://model.test/v1" };
    for (const variables of [secrets, { ...secrets, ...address }]) {
      const { command } = start({ ...turn, variables });
      for (const secret of Object.keys(secrets)) expect(command).not.toContain(secret);
    }
  });

  it("is installed in one version, for each Linux", () => {
    for (const cpu of ["x64", "arm64"] as const) {
      for (const libc of ["glibc", "musl"] as const) {
        const { name: npmName, version, program } = install({ cpu, libc });
        expect(version).toMatch(/^\d+\.\d+\.\d+$/);
        expect(program.startsWith(`${npmName}/`)).toBe(true);
      }
    }
  });
});

it("only agents of the table are known", () => {
  expect(isAgentName("pi")).toBe(true);
  expect(isAgentName("toString")).toBe(false);
});
