import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withSecrets } from "./command-spec.ts";

const values = {
  PLAIN: "hunter2",
  EMPTY: "",
  LINES: "-----BEGIN-----\n  two  \n\n-----END-----\n",
  ODD: " \\n $(id) `id` \"quoted\" 'too' %s \t# ü ß \u0401 \u{1f511}\r",
  // Names that the shell's own script could trip over.
  line: "a line",
};
const secrets = Object.entries(values).map(([variable, value]) => ({ variable, name: variable, value }));
const show = [
  "python3",
  "-c",
  "import json, os, sys; print(json.dumps([dict(os.environ), sys.stdin.read(), sys.argv]))",
];
const environment = { PATH: "/usr/bin:/bin", name: "of the request", value: "too" };
const shells = ["/bin/sh", "/bin/bash", "/bin/busybox"].filter((path) => existsSync(path));

describe.each(shells)("a command that %s hands secrets to", (shell) => {
  const run = (program: readonly string[], input: string): string => {
    const { command, preamble } = withSecrets(program, secrets);
    const options = { argv0: "sh", input: Buffer.concat([preamble, Buffer.from(input)]), env: environment } as const;
    return execFileSync(shell, command.slice(1), { ...options, encoding: "utf8", stdio: "pipe" });
  };

  it("has them as they are, what it had before, and the rest of the input", () => {
    const output = run([...show, "a b", "$HOME"], "input\n");
    const [seen, stdin, args] = JSON.parse(output) as [Record<string, string>, string, string[]];
    // Of the shell's and of Python's own.
    for (const name of ["_", "LC_CTYPE", "SHLVL"]) delete seen[name];
    expect(seen).toEqual({ ...environment, ...values });
    expect(stdin).toBe("input\n");
    expect(args.slice(1)).toEqual(["a b", "$HOME"]);
  });

  it("is told when it is missing as a shell tells it", () => {
    expect(() => run(["no-such-program"], "")).toThrow(expect.objectContaining({ status: 127 }));
  });
});

it("a command without secrets stays as it is", () => {
  expect(withSecrets(["true"], [])).toEqual({ command: ["true"], preamble: new Uint8Array() });
});
