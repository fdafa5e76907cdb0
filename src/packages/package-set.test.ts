import { describe, expect, it } from "vitest";
import { describeInstalled, resolvedSpecs } from "./package-set.ts";

const python = {
  ecosystem: "python" as const,
  requested: ["PyYAML", "scikit_learn>=1"],
  packages: [
    { name: "numpy", version: "2.1" },
    { name: "pyyaml", version: "6" },
    { name: "scikit-learn", version: "1.5" },
  ],
};

describe("what was installed", () => {
  it("is told in versions, and what came along by its number and name", () => {
    expect(resolvedSpecs(python)).toEqual(["pyyaml==6", "scikit-learn==1.5"]);
    expect(describeInstalled(python)).toBe("pyyaml==6, scikit-learn==1.5 and 1 that come along: numpy==2.1");
    const alone = { ecosystem: "npm" as const, requested: ["a"], packages: [{ name: "a", version: "1.0.0" }] };
    expect(describeInstalled(alone)).toBe("a@1.0.0");
  });

  it("names so many and no more", () => {
    const others = Array.from({ length: 40 }, (_, index) => ({ name: `p${index}`, version: "1" }));
    const told = describeInstalled({
      ecosystem: "npm",
      requested: ["a"],
      packages: [{ name: "a", version: "1" }, ...others],
    });
    expect(told).toMatch(/^a@1 and 40 that come along: p0@1, .*p11@1, \.\.\.$/);
  });
});
