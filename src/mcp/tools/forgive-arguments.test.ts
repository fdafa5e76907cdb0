import { describe, expect, it } from "vitest";
import { operationTable } from "../../operations/table.ts";
import { forgiveArguments } from "./call-tool.ts";
import { offeredTools } from "./tool-profiles.ts";

const offered = offeredTools(operationTable, ["all"]);
const forgiven = (tool: string, given: unknown): unknown =>
  forgiveArguments(
    offered.find(({ name }) => name === tool)!,
    given,
  );

describe("arguments", () => {
  it.each([
    ["null for absent", "run_code", { code: "1", stdin: null, limits: { cpus: null } }, { code: "1", limits: {} }],
    [
      "an empty id, enum, number, path",
      "run_code",
      { code: "", language: "", session_id: "", timeout_seconds: "" },
      { code: "" },
    ],
    ["an empty path", "create_environment", { image: "a", project_root: "", engine: "" }, { image: "a" }],
    [
      "a number in quotes",
      "run_code",
      { timeout_seconds: "10", limits: { cpus: "0.5" } },
      { timeout_seconds: 10, limits: { cpus: 0.5 } },
    ],
    ["short languages", "execute_code", { language: "py" }, { language: "python" }],
    [
      "a string for a list",
      "execute_code",
      { args: "-v", artifacts: "*.png", packages: "lodash", context_files: "a.csv" },
      { args: ["-v"], artifacts: ["*.png"], packages: ["lodash"], context_files: ["a.csv"] },
    ],
    [
      "a command for a list of commands",
      "create_environment",
      { setup_commands: "apk add git" },
      { setup_commands: ["apk add git"] },
    ],
    ["a port", "start_process", { ports: "8000" }, { ports: [8000] }],
    ["ports in quotes", "start_process", { ports: ["8000"] }, { ports: [8000] }],
  ])("are understood: %s", (_, tool, given, meant) => {
    expect(forgiven(tool, given)).toEqual(meant);
  });

  it.each([
    ["content", "write_file", { path: "a", content: "" }],
    ["input", "run_code", { code: "", stdin: "", args: [""] }],
    ["what says that nothing is installed", "run_tests", { setup_command: "", test_command: "" }],
    ["a shell line", "run_command", { env_id: "e", command: "ls | wc -l" }],
    ["a program and its arguments", "start_preview", { command: ["npm", "run", "dev"] }],
    ["commands of both forms", "create_environment", { install_commands: ["npm ci", ["npm", "i"]] }],
    ["words that are no list", "execute_code", { packages: "auto", network: "open" }],
    ["a list of names", "execute_code", { network: ["a.example"], args: ["1", "2"] }],
    ["variables", "run_command", { environment: { A: "", B: "10" } }],
    ["what fits nothing", "execute_code", { timeout_seconds: "soon", args: { a: 1 }, language: "perl", nonsense: "1" }],
    ["an empty command", "run_command", { command: "" }],
    ["no object", "run_code", "code"],
  ])("stay as they are: %s", (_, tool, given) => {
    expect(forgiven(tool, given)).toEqual(given);
  });

  it("may have any name", () => {
    const given: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": "", "toString": null}');
    expect(JSON.stringify(forgiven("run_code", given))).toBe('{"__proto__":{"a":1},"constructor":""}');
  });
});
