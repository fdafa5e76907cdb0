import { expect, it } from "vitest";
import { unlockedNote } from "./unlocked-note.ts";

const manifest = '{"devDependencies":{"jest":"29"}}';

it("tells of dependencies that no lockfile determines, with what helps", () => {
  expect(unlockedNote({ names: ["package.json"], manifest })).toMatch(/no lockfile.*--setup/s);
});

it.each([
  ["a lockfile", { names: ["package.json", "pnpm-lock.yaml"], manifest }],
  ["no dependencies", { names: ["package.json"], manifest: "{}" }],
  ["no manifest", { names: [], manifest: "" }],
  ["a broken manifest", { names: ["package.json"], manifest: "{" }],
])("tells nothing with %s", (_, project) => {
  expect(unlockedNote(project)).toBeNull();
});
