import { describe, expect, it } from "vitest";
import { noPackages, withPackages } from "./session-packages.ts";

describe("withPackages", () => {
  const known = { ...noPackages, npm: ["lodash@4.17.21", "zod"] };

  it("is null when nothing is missing, a bare name being content with any version", () => {
    expect(withPackages(known, "npm", [])).toBeNull();
    expect(withPackages(known, "npm", ["lodash", "zod"])).toBeNull();
    expect(withPackages({ ...noPackages, python: ["pyyaml==6.0"] }, "python", ["pyyaml"])).toBeNull();
  });

  it("adds, and lets a new version take the place of another", () => {
    expect(withPackages(known, "npm", ["zod@4.0.0", "axios"])?.npm).toEqual(["axios", "lodash@4.17.21", "zod@4.0.0"]);
    expect(withPackages(known, "python", ["requests"])).toEqual({ ...known, python: ["requests"] });
  });
});
