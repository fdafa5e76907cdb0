import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";

const page = readFileSync(path.join(projectFolder, "docs/http.md"), "utf8");
const snippets = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
const home = mkdtempSync(path.join(os.tmpdir(), "glovebox-http-page-"));
afterAll(() => rmSync(home, { recursive: true }));

describe("the snippets of docs/http.md", () => {
  useGlovebox("local");

  it.each(["sh", "bash"])("work in %s as pasted, one after the other", async (shell) => {
    await using served = await serveGlovebox();
    // The default port and the user's own folder are those of a real server.
    mkdirSync(path.join(home, ".config"), { recursive: true });
    cpSync(path.join(served.home, "config/glovebox"), path.join(home, ".config/glovebox"), { recursive: true });
    const script = snippets.join("").replaceAll("http://127.0.0.1:8420", served.url);
    expect(script).toContain(served.url);
    const environment = { ...process.env, HOME: home };
    const output = execFileSync(shell, ["-euc", script], {
      ...{ env: environment, cwd: home, encoding: "utf8" as const, timeout: 120_000 },
    });
    const answers = output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const isOutput = ({ event }: Record<string, unknown>): boolean => event === "output";
    expect(
      answers
        .filter(isOutput)
        .map(({ text }) => text)
        .join(""),
    ).toBe("0\n1\n2\n");
    expect(answers.filter((answer) => !isOutput(answer))).toMatchObject([
      { outcome: "completed", stdout: "42\n" },
      { event: "sandbox" },
      { event: "result" },
      { operation: "execute_code" },
      { path: "a.txt", size_bytes: 5 },
      { path: "a.txt", replacements: 1 },
      { outcome: "completed", stdout: "goodbye\n" },
      { path: "a.txt", content: "goodbye" },
      { path: "tools/ls", size_bytes: statSync("/bin/ls").size },
      { outcome: "completed", stdout: "588895\n" },
      { exit_code: 0, stdout: expect.stringContaining("a.txt") },
      { session_id: expect.stringMatching(/^ses-/) },
    ]);
  });
});
