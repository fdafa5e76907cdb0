import { describe, expect, it } from "vitest";
import { lockWarnings } from "./environment-command.ts";

describe("lockWarnings", () => {
  it.each([
    "error: could not write config file .git/config: Device or resource busy",
    "mv: cannot move '.git' to 'x': Device or resource busy",
    "sh: 1: cannot create .git/config: Read-only file system",
    "Error: EBUSY: resource busy or locked, rename '/workdir/.git/config'",
    "OSError: [Errno 30] Read-only file system: '.git/hooks/pre-commit'",
  ])("explains %j", (line) => {
    const warnings = lockWarnings([".git", ".git/config", ".git/hooks"], `before\n${line}\nafter`);
    expect(warnings).toEqual([expect.stringMatching(/tooling_files is locked here.*\.git/)]);
  });

  it.each(["cannot create /usr/x: Read-only file system", ".git/config is fine", "umount: /mnt: device busy"])(
    "says nothing of %j",
    (line) => expect(lockWarnings([".git", ".git/config"], line)).toEqual([]),
  );
});
