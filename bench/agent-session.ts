/**
 * What an agent's work costs its model: the characters of the tools' list and of 20 answers, as each kind of client shows them.
 *
 * What another version lacks or refuses is marked, and the text that the model then reads is counted; an answer that a kind
 * of client cannot show counts as nothing. Pictures are counted separately: their cost does not depend on their characters.
 * Usage: node bench/agent-session.ts [--engine ENGINE] [--checkout FOLDER]; the folder of another version, to compare.
 */
import { Client, type CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { clientKinds, type ClientKind, type Seen } from "../test/helpers/mcp/client-kinds.ts";
import { steps, type Earlier } from "./agent-session/steps.ts";

const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "local" },
    checkout: { type: "string", default: path.dirname(import.meta.dirname) },
  },
});
const command = path.join(values.checkout, "src/cli/main.ts");
const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-bench-"));
const env = {
  ...(process.env as Record<string, string>),
  GLOVEBOX_PACKAGES_DIR: path.join(folder, "packages"),
  XDG_STATE_HOME: path.join(folder, "state"),
};

/** The tools that the steps need, if this version lets the user choose. */
function toolOptions(): readonly string[] {
  const help = execFileSync(process.execPath, [command, "mcp", "--help"], { encoding: "utf8", env });
  return help.includes("--tools") ? ["--tools", "run,session,process"] : [];
}

interface Answered {
  readonly what: string;
  readonly tool: string;
  readonly mark: string;
  readonly result: CallToolResult;
}

function learn(earlier: Earlier, { content, structuredContent }: CallToolResult): Earlier {
  const text = JSON.stringify([content, structuredContent ?? {}]).replaceAll("\\", "");
  const found = (pattern: RegExp): string | undefined => pattern.exec(text)?.[1];
  return {
    sandboxId: found(/"(?:sandbox_id|container_id)":"([^"]+)"/) ?? earlier.sandboxId,
    pictureUri: found(/view_artifact \{"uri":"([^"]+)/) ?? earlier.pictureUri,
  };
}

function markOf({ isError, structuredContent }: CallToolResult): string {
  if (isError === true) return "refused";
  const { outcome } = (structuredContent ?? {}) as { readonly outcome?: string };
  return outcome === undefined || outcome === "completed" ? "" : outcome;
}

async function work(client: Client): Promise<readonly Answered[]> {
  let earlier: Earlier = { sandboxId: "none", pictureUri: "none" };
  const answered: Answered[] = [];
  for (const { what, tool, request } of steps) {
    const answer = await client.callTool({ name: tool, arguments: request(earlier) }).then(
      (result) => ({ result, mark: markOf(result) }),
      (error: unknown) => ({ result: asText(String(error)), mark: "no such tool" }),
    );
    earlier = learn(earlier, answer.result);
    answered.push({ what, tool, ...answer });
  }
  return answered;
}

function asText(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** The part of an answer that a kind of client shows; null for an answer that it cannot show. */
function seen({ seenOf }: ClientKind, result: CallToolResult): Seen | null {
  try {
    return seenOf(result);
  } catch {
    return null;
  }
}

function print(listed: number, answered: readonly Answered[]): void {
  const row = (cells: readonly (string | number)[]): string =>
    cells.map((cell, index) => (index < 2 ? String(cell).padEnd(18) : String(cell).padStart(9))).join(" ");
  console.log(row(["step", "tool", ...clientKinds.map((_, index) => `client ${index + 1}`)]));
  for (const { what, tool, mark, result } of answered) {
    const lengths = clientKinds.map((kind) => seen(kind, result)?.words.length ?? "unshown");
    console.log(`${row([what, tool, ...lengths])}  ${mark}`);
  }
  console.log();
  for (const [index, kind] of clientKinds.entries()) {
    const shown = answered.map(({ result }) => seen(kind, result));
    const sum = shown.reduce((total, each) => total + (each?.words.length ?? 0), 0);
    const pictures = shown.reduce((total, each) => total + (each?.pictures.length ?? 0), 0);
    const counted = `tools/list ${listed} + answers ${sum} = ${listed + sum} characters, ${pictures} pictures`;
    console.log(`client ${index + 1} (${kind.name}): ${counted}`);
  }
}

const client = new Client({ name: "bench", version: "1" });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [command, "mcp", "--engine", values.engine, ...toolOptions()],
    env,
    stderr: "inherit",
  }),
);
try {
  const { tools } = await client.listTools();
  print(JSON.stringify(tools).length, await work(client));
} finally {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
}
