import { expect, it, afterEach, beforeEach } from "vitest";
import { AgentProgress, JsonLines, instructionsFor, readWorkspaceFiles } from "./work.ts";
import type { AgentFact } from "./commands/agent-program.ts";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

function linesOf(...chunks: readonly (string | Buffer)[]): { objects: unknown[]; others: string[] } {
  const told = { objects: [] as unknown[], others: [] as string[] };
  const lines = new JsonLines({
    onObject: (object) => told.objects.push(object),
    onOther: (text) => told.others.push(text),
  });
  for (const chunk of chunks) lines.append(Buffer.from(chunk));
  lines.end();
  return told;
}

it("puts lines together from pieces, characters cut in two as well", () => {
  const line = Buffer.from('{"text":"π\u2028π"}\n{"a":1}');
  for (let cut = 0; cut <= line.length; cut += 1) {
    expect(linesOf(line.subarray(0, cut), line.subarray(cut))).toEqual({
      objects: [{ text: "π\u2028π" }, { a: 1 }],
      others: [],
    });
  }
});

it("hands on what is no object as text, and knows lines that end in CRLF", () => {
  expect(linesOf('{"a":1}\r\n[1]\n{"half":\n\nnull\nhello\n')).toEqual({
    objects: [{ a: 1 }],
    others: ["[1]", '{"half":', "null", "hello"],
  });
});

it("holds a line without an end in bounds", () => {
  const megabyte = Buffer.alloc(1_048_576, "x");
  const { others } = linesOf(...Array.from({ length: 40 }, () => megabyte), "\nshort\n");
  expect(others).toEqual([`[a line of ${40 * 1_048_576} bytes]`, "short"]);
});

function after(...facts: readonly AgentFact[]): AgentProgress {
  const progress = new AgentProgress();
  progress.add(facts);
  return progress;
}

it("the last thing said is the answer, unless the agent names another", () => {
  expect(after().answer).toBeNull();
  expect(after({ kind: "says", text: "one" }, { kind: "says", text: "two" }).answer).toBe("two");
  expect(after({ kind: "answers", text: "whole" }, { kind: "says", text: "more" }).answer).toBe("whole");
});

it("pieces are put together, up to the next use of a tool", () => {
  const piece = (text: string): AgentFact => ({ kind: "says", text, continues: true });
  expect(after(piece("Hel"), piece("lo")).answer).toBe("Hello");
  expect(after(piece("I look."), { kind: "calls", tool: "ls", input: "" }, piece("Do"), piece("ne")).answer).toBe(
    "Done",
  );
});

it("a failure counts until the agent goes on", () => {
  const fails: AgentFact = { kind: "fails", message: "busy" };
  expect(after(fails).failure).toBe("busy");
  expect(after(fails, { kind: "says", text: "done" }).failure).toBeNull();
  expect(after({ kind: "says", text: "well" }, fails).failure).toBe("busy");
});

it("holds a flood of text in bounds", () => {
  const progress = new AgentProgress();
  const piece = { kind: "says", text: "x".repeat(1_000_000), continues: true } as const;
  for (let count = 0; count < 10; count += 1) progress.add([piece]);
  expect(progress.answer).toHaveLength(4_000_000);
});

const none = { project: false, global: false, farmState: false, dashboard: false };

it("names the folders that are there, and no others", () => {
  const text = instructionsFor({ group: "family", isMain: false, memoryContext: null }, { ...none, global: true }, []);
  expect(text).toContain('the group "family"');
  expect(text).toContain("/workspace/global");
  expect(text).not.toMatch(/main group|\/workspace\/(?:project|farm-state|dashboard)/);
});

it("holds what is known of the group, and what its memory says of the prompt", () => {
  const files = [{ path: "/workspace/group/SOUL.md", text: "Be kind.\n", isCut: true }];
  const text = instructionsFor({ group: "main", isMain: true, memoryContext: "They like tea." }, none, files);
  expect(text).toContain("the main group");
  expect(text).toContain("## /workspace/group/SOUL.md\n\nBe kind.\n\n(It goes on in the file.)");
  expect(text.trimEnd()).toMatch(/They like tea\.$/);
});

it("speaks of one person's folder where it works in one, and of what is locked there", () => {
  const input = { group: "shop-1a2b", isMain: false, isFolder: true, memoryContext: null };
  const text = instructionsFor(input, none, []);
  expect(text).toContain("in the folder of one person");
  expect(text).toContain("/workspace/group: the project; you start here and may change it.");
  expect(text).toContain(".git/hooks");
  expect(text).not.toMatch(/\bgroup(?:'s)? (?:may|own|of people)|sent to the group|shop-1a2b/);
});

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "glovebox-workspace-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): void => writeFileSync(path.join(folder, name), text);

it("reads the files that tell of a group, in their order", async () => {
  write("MEMORY.md", "Tea.");
  write("SOUL.md", "Kind.");
  write("notes.md", "not read");
  expect(await readWorkspaceFiles(["/nonexistent", folder])).toEqual([
    { path: `${folder}/SOUL.md`, text: "Kind.", isCut: false },
    { path: `${folder}/MEMORY.md`, text: "Tea.", isCut: false },
  ]);
});

it("reads so much of each and of all together, and says that there is more", async () => {
  for (const name of ["SOUL", "IDENTITY", "USER", "TOOLS", "MEMORY"]) write(`${name}.md`, "x".repeat(20_000));
  const files = await readWorkspaceFiles([folder]);
  expect(files.map(({ text, isCut }) => [text.length, isCut])).toEqual(Array.from({ length: 3 }, () => [16_384, true]));
});

it("follows no link and waits for nobody", async () => {
  write("secret", "not the group's");
  symlinkSync(path.join(folder, "secret"), path.join(folder, "SOUL.md"));
  symlinkSync("/proc/self/environ", path.join(folder, "USER.md"));
  execFileSync("mkfifo", [path.join(folder, "MEMORY.md")]);
  mkdirSync(path.join(folder, "TODOS.md"));
  expect(await readWorkspaceFiles([folder])).toEqual([]);
});
