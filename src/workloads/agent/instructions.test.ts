import { expect, it } from "vitest";
import { instructionsFor } from "./instructions.ts";

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
