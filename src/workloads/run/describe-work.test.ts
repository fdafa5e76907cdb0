import { describe, expect, it } from "vitest";
import { Redaction } from "../../policy/redaction.ts";
import { describeCommand, describeWork } from "./describe-work.ts";

const plain = new Redaction([]);

describe("what runs", () => {
  it("holds no value of a secret, nor the beginning of one", () => {
    const secret = "s3cret".repeat(20);
    const redact = { text: (text: string) => text.replaceAll(secret, "[redacted]") };
    expect(describeWork("python", `print("${secret}")`, redact)).toBe('python: print("[redacted]")');
    expect(describeCommand(["echo", secret], redact)).toBe("echo [redacted]");
    expect(describeCommand(`${"x ".repeat(30)}${secret}`, redact)).not.toContain("s3");
  });

  it.each([
    ["print(1)", "python: print(1)"],
    ["\n\n  print(2)  \nprint(3)", "python: print(2)"],
    ["#!/usr/bin/python3\n# a comment\nimport os\nfrom sys import argv\nprint(4)", "python: print(4)"],
    ["import os\n", "python: import os"],
    ["", "python"],
    [" \n\t\n", "python"],
  ])("of the program %j is %j", (code, shown) => expect(describeWork("python", code, plain)).toBe(shown));

  it("has one line of at most 80 characters without control characters", () => {
    const shown = describeWork("python", `print("\u001B[2J\u0000\u202E\uD800 a")${"x".repeat(2_000_000)}`, plain);
    expect(shown).toHaveLength(80);
    expect(shown).toMatch(/^python: print\(" \[2J . a"\)x+\.\.\.$/u);
  });

  it("is the command where there is one", () => {
    expect(describeCommand("npm  run\ndev", plain)).toBe("npm run dev");
    expect(describeCommand(["python", "-c", "print('a b')", ""], plain)).toBe(`python -c "print('a b')" ""`);
    expect(describeCommand(["sh", "-c", "npm ci && npm test"], plain)).toBe("npm ci && npm test");
    expect(describeCommand(["x".repeat(200)], plain)).toHaveLength(80);
  });
});
