import { describe, expect, it } from "vitest";
import type { SandboxRow } from "../../operations/sandboxes-contract.ts";
import { sandboxTable } from "./sandboxes-commands.ts";

const nowMs = Date.parse("2026-11-27T12:00:00Z");
const row = (more: Partial<SandboxRow> = {}): SandboxRow => ({
  sandbox_id: "sbx-4fz3k2m9q0r5t7w8x1y2",
  engine: "docker",
  kind: "session",
  name: "web",
  work: "python: print(1)",
  image: "python:3.12-slim",
  principal: "local",
  created_at: new Date(nowMs - 42_500).toISOString(),
  running: true,
  owner: "living",
  ...more,
});
const table = (rows: readonly SandboxRow[], isRemote = false): readonly string[] =>
  sandboxTable(rows, { nowMs, isRemote, keyNames: new Map([["k1", "ci"]]) })
    .trimEnd()
    .split("\n");
const cells = (line = ""): readonly string[] => line.split(/ {2,}/);

describe("the list of sandboxes", () => {
  it("shows what it is called, its age, what runs, its image and its owner", () => {
    const [heading, line] = table([row()]);
    expect(cells(heading)).toEqual(["ID", "NAME", "AGE", "KIND", "RUNS", "IMAGE", "ENGINE", "OWNER"]);
    const shown = ["sbx-4fz3k2m9", "web", "42 s", "session", "python: print(1)", "python:3.12-slim", "docker", "you"];
    expect(cells(line)).toEqual(shown);
  });

  it.each([
    [0, "0 s"],
    [-5_000, "0 s"],
    [59_999, "59 s"],
    [60_000, "1 min"],
    [3_600_000 * 3, "3 h"],
    [86_400_000 * 12, "12 d"],
  ])("says %d ms as %s", (ago, words) =>
    expect(cells(table([row({ created_at: new Date(nowMs - ago).toISOString() })])[1])[2]).toBe(words),
  );

  it.each([
    [row({ principal: "key:k1" }), "key ci"],
    [row({ principal: "key:k2" }), "key k2"],
    [row({ principal: "" }), "nobody yet"],
    [row({ owner: "expired" }), "gone (glovebox prune removes it)"],
    [row({ owner: "unknown", principal: "" }), "another user or machine"],
  ])("says the owner of %j", (each, words) => expect(cells(table([each])[1]).at(-1)).toBe(words));

  it("is the caller's own on a server", () =>
    expect(cells(table([row({ principal: "" })], true)[1]).at(-1)).toBe("you"));

  it("shows as much of an id as tells it apart", () => {
    const ids = ["sbx-4fz3k2m9q0r5t7w8x1y2", "sbx-4fz3k2m9q1r5t7w8x1y2", "sbx-ab00k2m9q0r5t7w8x1y2"];
    const lines = table(ids.map((id) => row({ sandbox_id: id }))).slice(1);
    expect(lines.map((line) => cells(line)[0])).toEqual(["sbx-4fz3k2m9q0", "sbx-4fz3k2m9q1", "sbx-ab00k2m9"]);
  });

  it("has a sign for what is not known, and short words for what is long", () => {
    const digest = `sha256:${"ab".repeat(32)}`;
    const bare = row({ name: null, work: null, image: digest });
    expect(cells(table([bare])[1]).slice(1, 6)).toEqual(["-", "42 s", "session", "-", "abababababab"]);
    const pinned = row({ image: `registry.test/tools@${digest}`, running: false, work: "x".repeat(80) });
    expect(cells(table([pinned])[1]).slice(4, 6)).toEqual(["(stopped)", "registry.test/tools"]);
    expect(cells(table([row({ work: "x".repeat(80) })])[1])[4]).toBe(`${"x".repeat(45)}...`);
  });

  it("says what to do where there is none", () => {
    expect(table([])).toEqual([expect.stringMatching(/^No sandbox is running\. `glovebox shell` opens one/)]);
  });
});
