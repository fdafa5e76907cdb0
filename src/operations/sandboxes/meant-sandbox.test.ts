import { describe, expect, it } from "vitest";
import { createId } from "../../base/id.ts";
import { nameSchema } from "../contract/name-schema.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { meantSandbox } from "./meant-sandbox.ts";

const mine = { id: "sbx-4fz3k2m9q0r5t7w8x1y2", name: "build" };
const elsewhere = { id: "sbx-9fz3k2m9q0r5t7w8x1y2", name: "docs" };
const others = { id: "sbx-ab00k2m9q0r5t7w8x1y2", name: "deploy" };
const written = [
  { ...mine, principal: "local" },
  { ...elsewhere, principal: "local" },
  { ...others, principal: "key-1" },
];
const platform = {
  sandboxes: { recordsOf: (principal: string) => (principal === "local" ? [mine] : []) },
  records: { list: () => Promise.resolve(written) },
} as unknown as Pick<PlatformParts, "sandboxes" | "records">;
const meant = (word: string, principal = "local", isOperator = true): Promise<string> =>
  meantSandbox(platform, word, { principal, isOperator });

it("no id that is made is a name", () => {
  for (const prefix of ["sbx", "run", "ses", "env", "proc"]) {
    expect(nameSchema.safeParse(createId(prefix)).success).toBe(false);
  }
});

describe("the sandbox that a word means", () => {
  it("is the operator's own in any process, by its name or the beginning of its id", async () => {
    expect(await meant("build")).toBe(mine.id);
    expect(await meant("docs")).toBe(elsewhere.id);
    expect(await meant("9fz3")).toBe(elsewhere.id);
  });

  it("is for the operator no other principal's by the name that that one gave, but by its id", async () => {
    expect(await meant("deploy")).toBe("deploy");
    expect(await meant("ab00")).toBe(others.id);
  });

  it("is for others only their own in this process", async () => {
    expect(await meant("deploy", "key-1", false)).toBe("deploy");
    expect(await meant("build", "key-1", false)).toBe("build");
    expect(await meant("4fz3", "key-1", false)).toBe("4fz3");
    expect(await meant("docs", "local", false)).toBe("docs");
  });
});
