import os from "node:os";
import path from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { completedShells, type CompletedShell } from "../../src/cli/completion-command.ts";
import { runCommand } from "../helpers/run-command.ts";

/** How to ask each shell what it would offer for a line with an incomplete last word. */
const ask: Readonly<Record<CompletedShell, (script: string, words: readonly string[]) => string>> = {
  bash: (script, words) =>
    execFileSync(
      "bash",
      [
        "-c",
        `${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_glovebox\nprintf '%s\\n' "\${COMPREPLY[@]}"`,
        "bash",
        ...words,
      ],
      { encoding: "utf8" },
    ),
  // Its widgets need a terminal, but they still get the words.
  zsh: (script, words) =>
    execFileSync(
      "zsh",
      [
        "-f",
        "-c",
        `compdef() { : }; _files() { : }; compadd() { shift; print -l -- "\${(@M)@:#\${words[CURRENT]}*}" }\n${script}\nwords=("$@") CURRENT=$#\n_glovebox`,
        "zsh",
        ...words,
      ],
      { encoding: "utf8" },
    ),
  fish: (script, words) =>
    execFileSync("fish", ["--no-config", "-c", `${script}\ncomplete -C "$argv"`, "--", ...words], { encoding: "utf8" })
      // A description follows after a tab.
      .replaceAll(/\t.*/g, ""),
};

const isThere = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

describe.each(completedShells)("completion in %s", (shell) => {
  it.skipIf(!isThere(shell))("offers commands, their own commands, and the options of each", async () => {
    const { stdout: script, exitCode } = await runCommand(["completion", shell]);
    expect(exitCode).toBe(0);
    const offered = (...words: readonly string[]): readonly string[] =>
      ask[shell](script, ["glovebox", ...words])
        .trim()
        .split("\n")
        .toSorted();
    expect(offered("pr")).toEqual(["prepare", "preview", "prune"]);
    expect(offered("mcp", "inst")).toEqual(["install"]);
    expect(offered("run", "--engine", "docker", "--m")).toEqual(["--memory", "--min-isolation"]);
    expect(offered("packages", "prune", "--t")).toEqual(["--to"]);
  });

  it.skipIf(!isThere(shell))("offers values of options, clients, and the names and ids of live sandboxes", async () => {
    const { stdout: script } = await runCommand(["completion", shell]);
    const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
    const names = "web\nweb-2\nsbx-4fz3k2m9q0r5t7w8x1y2";
    writeFileSync(path.join(folder, "glovebox"), `#!/bin/sh\n[ "$*" = "ps --names" ] && printf '${names}\n'\n`, {
      mode: 0o755,
    });
    const inFolder = `PATH=${folder}:$PATH\n${script}`;
    const offered = (...words: readonly string[]): readonly string[] =>
      ask[shell](shell === "fish" ? `set -x PATH ${folder} $PATH\n${script}` : inFolder, ["glovebox", ...words])
        .trim()
        .split("\n")
        .toSorted();
    try {
      expect(offered("run", "--engine", "do")).toEqual(["docker"]);
      expect(offered("run", "--language", "py")).toEqual(["py", "python"]);
      expect(offered("run", "--min-isolation", "")).toEqual(["container", "namespaces", "preload", "vm"]);
      expect(offered("mcp", "wrap", "--engine", "pod")).toEqual(["podman"]);
      expect(offered("logs", "--stream", "st")).toEqual(["stderr", "stdout"]);
      expect(offered("mcp", "install", "claude-c")).toEqual(["claude-code"]);
      expect(offered("completion", "z")).toEqual(["zsh"]);
      for (const command of ["rm", "logs", "exec", "shell", "stats", "cp"]) {
        expect(offered(command, "we")).toEqual(["web", "web-2"]);
        expect(offered(command, "sbx-")).toEqual(["sbx-4fz3k2m9q0r5t7w8x1y2"]);
        expect(offered(command, "--he")).toEqual(["--help"]);
      }
      expect(offered("run", "we")).not.toContain("web");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it("is refused for another shell, which is named", async () => {
  const { stderr, exitCode } = await runCommand(["completion", "tcsh"]);
  expect(stderr).toContain("one of bash, zsh, fish");
  expect(exitCode).toBe(2);
});
