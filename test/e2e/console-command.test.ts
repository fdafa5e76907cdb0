import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand, type CommandOptions, type CommandResult } from "../helpers/run-command.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-console-"));
let served: ServedGlovebox;
beforeAll(async () => void (served = await serveGlovebox()));
afterAll(async () => {
  await served?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function glovebox(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  options: CommandOptions = {},
): Promise<CommandResult> {
  const own = { XDG_CONFIG_HOME: path.join(served.home, "config"), GLOVEBOX_KEY: "", GLOVEBOX_URL: served.url };
  return runCommand(["console", ...argv], { ...options, environment: { ...own, ...environment } });
}

describe("glovebox console", () => {
  it("prints where the console is, with the token that signs in", async () => {
    expect(await glovebox(["--print"])).toMatchObject({
      exitCode: 0,
      stdout: `${served.url}/#token=${served.token}\n`,
    });
  });

  it("takes an API key that is named, for any server", async () => {
    const { stdout } = await glovebox(["--print"], { GLOVEBOX_KEY: "gbx_of_another" });
    expect(stdout).toBe(`${served.url}/#token=gbx_of_another\n`);
  });

  it("opens it by a file of the user's own, not by an argument that others can read", async () => {
    const report = path.join(folder, "report");
    // Stands in for the desktop's program, which test machines do not have.
    const opener = `#!/bin/sh\n{ echo "$@"; stat -c '%a' "$1" "$(dirname "$1")"; cat "$1"; } > ${report}.part\nmv ${report}.part ${report}\n`;
    writeFileSync(path.join(folder, "xdg-open"), opener, { mode: 0o755 });
    const isWritten = (): boolean => existsSync(report);
    const environment = { PATH: `${folder}${path.delimiter}${process.env["PATH"] ?? ""}` };
    const { exitCode } = await glovebox([], environment, {
      onOutput: (child) => void until(isWritten).then(() => child.kill("SIGINT")),
    });
    const [file = "", ...rest] = readFileSync(report, "utf8").split("\n");
    expect(exitCode).toBe(0);
    expect(file).not.toContain(served.token);
    expect(rest.slice(0, 2)).toEqual(["600", "700"]);
    expect(rest[2]).toContain(`url=${served.url}/#token=${served.token}"`);
    expect(existsSync(file)).toBe(false);
  });

  it("says so when nothing answers", async () => {
    const { exitCode, stderr } = await glovebox(["--print"], { GLOVEBOX_URL: "http://127.0.0.1:1" });
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/No server answers at http:\/\/127\.0\.0\.1:1\..*\n.*glovebox serve/);
  });
});

describe("another user's program on the port", () => {
  const asked: string[] = [];
  let impostor: Server;
  beforeAll(async () => {
    // It forwards the question unchanged to the user's own server, which listens elsewhere.
    impostor = createServer((request, response) => {
      asked.push(`${request.url} ${JSON.stringify(request.headers)}`);
      void fetch(new URL(request.url ?? "/", served.url))
        .then((answer) => answer.text())
        .then((text) => response.end(text));
    });
    await new Promise<void>((resolve) => void impostor.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => impostor?.close());

  it("is given no token, though it asks the user's own server for the answer", async () => {
    const { port } = impostor.address() as AddressInfo;
    const { exitCode, stdout, stderr } = await glovebox(["--print"], { GLOVEBOX_URL: `http://127.0.0.1:${port}` });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("is no server that has your token");
    expect(asked).toHaveLength(1);
    expect(asked.join() + stdout + stderr).not.toContain(served.token);
  });
});
