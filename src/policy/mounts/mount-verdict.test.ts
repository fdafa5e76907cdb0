import { describe, expect, it } from "vitest";
import { mountRefused, refusal, type MountRule } from "./mount-verdict.ts";

describe("mountRefused", () => {
  it.each([
    ["outside-roots", "INVALID_REQUEST"],
    ["missing", "INVALID_REQUEST"],
    ["unreadable", "INVALID_REQUEST"],
    ["not-a-file-or-folder", "INVALID_REQUEST"],
    ["bad-target", "INVALID_REQUEST"],
    ["blocked-pattern", "POLICY_DENIED"],
    ["protected-place", "POLICY_DENIED"],
    ["whole-file-system", "POLICY_DENIED"],
    ["no-allowlist", "POLICY_DENIED"],
    ["changed", "POLICY_DENIED"],
  ] satisfies [MountRule, string][])("%s is %s and names the rule", (rule, errorType) => {
    const error = mountRefused(refusal(rule, "It is so.", "Nothing."), "project_path", "a/b");
    expect(error.errorType).toBe(errorType);
    expect(error.message).toBe(`project_path: "a/b" is refused by the rule ${rule}. It is so.`);
    expect(error.context).toEqual({ field: "project_path", rule });
  });

  it("tells the pattern and what would allow it", () => {
    const verdict = refusal("blocked-pattern", "It is so.", "Another name.", { pattern: ".env" });
    const error = mountRefused(verdict, "f", "x");
    expect(error.context["pattern"]).toBe(".env");
    expect(error.suggestion).toBe("What would allow it: Another name.");
  });

  it("says the same about everything outside, and quotes no megabytes", () => {
    const words = (whatWouldAllow: string): string =>
      mountRefused(refusal("outside-roots", "It is so.", whatWouldAllow, { advice: "Copy it." }), "f", "x").suggestion;
    expect([words("Nothing: .ssh"), words("The operator")]).toEqual(["Copy it.", "Copy it."]);
    expect(mountRefused(refusal("missing", "", ""), "f", "x".repeat(1e6)).message.length).toBeLessThan(400);
  });
});
