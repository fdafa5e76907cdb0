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
