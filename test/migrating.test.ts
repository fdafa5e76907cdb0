import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { runCommandLine } from "../src/cli/process-io.ts";
import { environmentTable, otherVariables } from "../src/config/environment-table.ts";
import { settingsKeys } from "../src/config/setting-layers.ts";
import { errorCatalogue } from "../src/errors/catalogue.ts";
import { operationTable } from "../src/operations/table.ts";
import { agentVariables } from "../src/policy/known-agents.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (path: string): string => readFileSync(join(projectFolder, path), "utf8");
const page = read("docs/migrating.md");
const systems = ["bun-runner-mcp", "FFT_nano", "Coherra", "MAIOS"];

/** The cells of the tables of one system, row by row. */
const rowsOf = (system: string): readonly (readonly string[])[] =>
  (page.split(`## From ${system}\n`)[1]?.split("\n## ")[0] ?? "")
    .split(/\r?\n/)
    .filter((line) => line.startsWith("| ") && !/^\| (?:there|---)/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const rows = systems.flatMap((system) => rowsOf(system).map((cells) => ({ system, cells })));
const namesIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
const ours = [...new Set(rows.flatMap(({ cells }) => namesIn(cells[1] ?? "")))];

/** Names of all properties of a schema, at any depth. */
function fieldsOf(schema: z.ZodType): readonly string[] {
  const fields: string[] = [];
  JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), (name, value: unknown) => {
    if (name === "properties") fields.push(...Object.keys(value as object));
    return value;
  });
  return fields;
}

const variables = new Set([
  ...Object.keys(environmentTable),
  ...otherVariables,
  ...agentVariables.map(({ name }) => name),
]);
const keys = new Set(settingsKeys.map(({ key }) => key));
const tools = new Set(operationTable.filter(({ tool }) => tool !== undefined).map(({ name }) => name));
const fields = new Set(
  operationTable.flatMap(({ request, response }) => [...fieldsOf(request), ...fieldsOf(response)]),
);
/** The names of fields in a path do not matter. */
const routeOf = (text: string): string => text.replaceAll(/\{\w+\}/g, "{}");
const routes = new Set(
  operationTable.flatMap((each) => each.routes.map(({ method, path }) => routeOf(`${method} ${path}`))),
);
const sources = [...globSync("src/**/*.ts", { cwd: projectFolder }), "compose.yaml"]
  .filter((path) => !path.endsWith(".test.ts"))
  .map(read)
  .join("\n");

/** What kind of thing a name on our side is; null if it does not exist. */
function kindOf(name: string): string | null {
  if (/^(?:GET|POST|PUT|DELETE) \//.test(name)) return routes.has(routeOf(name)) ? "route" : null;
  if (/^[A-Z][A-Z0-9_]+$/.test(name)) {
    if (variables.has(name)) return "variable";
    if (Object.hasOwn(errorCatalogue, name)) return "error";
    // Of the compose file.
    return sources.includes(`\${${name}:-`) ? "variable" : null;
  }
  if (/^[a-z][a-z0-9_.]*$/.test(name)) {
    if (keys.has(name)) return "key";
    if (tools.has(name)) return "tool";
    return fields.has(name) ? "field" : null;
  }
  if (/^[a-z]+\/[\w./-]+$/.test(name)) return existsSync(join(projectFolder, name)) ? "file" : null;
  return sources.includes(`"${name}`) ? "place" : null;
}

async function helpOf(words: readonly string[]): Promise<string> {
  let help = "";
  const out = Object.assign(new PassThrough(), { columns: 200 });
  out.on("data", (bytes: Buffer) => (help += bytes.toString()));
  const io = { stdin: new PassThrough(), stdout: out, stderr: out, signal: new AbortController().signal, term: "" };
  await runCommandLine([...words, "--help"], io);
  return help;
}

describe("docs/migrating.md", () => {
  it("has a table for each system", () => {
    expect(systems.map((system) => rowsOf(system).length > 10)).toEqual(systems.map(() => true));
    expect(rows.filter(({ cells }) => cells.length !== 3 || cells[0] === "" || cells[1] === "")).toEqual([]);
  });

  it("says why where there is nothing of the kind", () => {
    const none = rows.filter(({ cells }) => namesIn(cells[1] ?? "").length === 0);
    expect(none.filter(({ cells: [, here, why = ""] }) => here !== "–" || why === "")).toEqual([]);
  });

  it("names only settings, variables, tools, fields, routes, errors, files and places that exist", () => {
    expect(ours.length).toBeGreaterThan(80);
    expect(ours.filter((name) => kindOf(name) === null)).toEqual([]);
  });

  it("would notice a name that does not exist", () => {
    const wrong = [
      "agents.imagee",
      "CONTAINER_TIMEOUTS",
      "run_codes",
      "GET /api/sandboxes",
      "/workspace/nowhere",
      "a/b.json",
    ];
    expect(wrong.filter((name) => kindOf(name) !== null)).toEqual([]);
    expect(["agents.image", "CONTAINER_TIMEOUT", "run_code", "env_id", "/workdir", "TIMEOUT"].map(kindOf)).toEqual([
      "key",
      "variable",
      "tool",
      "field",
      "place",
      "error",
    ]);
  });

  it("names only commands that exist", async () => {
    const commands = [...page.matchAll(/`glovebox ([a-z ]+)/g)].map(([, words = ""]) => words.trim().split(" "));
    expect(commands.length).toBeGreaterThan(2);
    for (const words of commands) expect(await helpOf(words)).toContain(`Usage: glovebox ${words.join(" ")}`);
  });
});
