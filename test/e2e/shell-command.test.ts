import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { terminalReset } from "../../src/cli/own-terminal.ts";
import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { useOwnedSandbox } from "../helpers/owned-sandbox.ts";
import { testedOwners } from "../helpers/owner-table.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { isRequired } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

/** `glovebox` in a real terminal of 40 rows and 100 columns. */
class Terminal {
  drawn = "";
  readonly ended: Promise<number | null>;
  readonly #child;

  constructor(argv: readonly string[], environment: Readonly<Record<string, string>>) {
    const script = path.join(projectFolder, "test/fixtures/terminal/in-terminal.py");
    this.#child = spawn("python3", [script, gloveboxCommand, ...argv], {
      env: gloveboxEnvironment({ ...environment, TERM: "xterm-256color" }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => (this.drawn += text));
    this.ended = new Promise((resolve) => this.#child.on("close", resolve));
  }

  /** What is drawn after what was typed, once it has appeared. */
  async type(keys: string, expected: string): Promise<string> {
    const before = this.drawn.length;
    this.#child.stdin.write(keys);
    await this.until(expected, before);
    return this.drawn.slice(before);
  }

  /** Resizes it to 50 rows and 120 columns. */
  grow(): void {
    this.#child.stdin.write("\u001e");
  }

  /** The user closes it. */
  end(): void {
    this.#child.kill("SIGKILL");
  }

  async until(expected: string, from = 0): Promise<void> {
    const over = this.ended.then(() => true);
    while (!this.drawn.slice(from).includes(expected)) {
      const tick = new Promise<boolean>((resolve) => setTimeout(resolve, 20, false));
      if (await Promise.race([over, tick])) throw new Error(`It ended without ${expected}: ${this.drawn}`);
    }
  }
}

describe.each(testedOwners)("glovebox shell in $name", (owner) => {
  const { current } = useOwnedSandbox(owner);

  it("is a terminal with the size of the user's, whose keys reach the foreground program only", async () => {
    const { id, environment } = current();
    const terminal = new Terminal(["shell", id], environment);
    await terminal.until("$ ");
    expect(terminal.drawn).toContain("its files stay when this shell ends");
    expect(await terminal.type("tty; stty size; echo $TERM; pwd; echo d''one\r", "done\r")).toMatch(
      new RegExp(`/dev/pts/\\d+\\s+40 100\\s+xterm-256color\\s+${owner.folder}\\s`, "u"),
    );
    const seconds = uniqueSeconds();
    await terminal.type(`sleep ${seconds}; echo co''de $?\r`, "sleep");
    await until(() => sleepersFor(seconds).length > 0);
    await terminal.type("\u0003", "$ ");
    expect(sleepersFor(seconds)).toEqual([]);
    terminal.grow();
    while (!(await terminal.type("stty size; echo si''ze\r", "size\r")).includes("50 120"));
    await terminal.type("exit 7\r", "exit");
    expect(await terminal.ended).toBe(7);
  });

  it("runs a program in a terminal, and what that draws is safe", async () => {
    const { id, environment } = current();
    const program = String.raw`test -t 0 && test -t 1; printf 'a%d\033]52;c;ZXZpbA==\007\033]0;t\007\033[6n\033[31mb\033[?2004h' $?; exit 3`;
    const terminal = new Terminal(["exec", "-t", id, "sh", "-c", program], environment);
    expect(await terminal.ended).toBe(3);
    expect(terminal.drawn).toBe(`a0\u001b[31mb\u001b[?2004h${terminalReset(new Set())}`);
  });

  it("hangs up when its visitor goes, and leaves the rest alone", async () => {
    const { id, environment, glovebox } = current();
    const terminal = new Terminal(["shell", id], environment);
    await terminal.until("$ ");
    const [inFront, behind] = [uniqueSeconds(), uniqueSeconds()];
    await terminal.type(`nohup sleep ${behind} & trap '' HUP TERM; sleep ${inFront}\r`, "sleep");
    await until(() => sleepersFor(inFront).length > 0 && sleepersFor(behind).length > 0);
    terminal.end();
    await terminal.ended;
    await until(() => [...sleepersFor(inFront), ...sleepersFor(behind)].length === 0);
    expect((await glovebox(["exec", id, "echo", "usable"])).stdout).toBe("usable\n");
  });

  it("says what to do without a terminal", async () => {
    const { id, glovebox } = current();
    const result = await glovebox(["shell", id]);
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toContain("glovebox exec -i");
    expect((await glovebox(["exec", "-t", id, "true"])).exitCode).toBe(2);
  });
});

describe("glovebox shell in an image with nothing that could hold a terminal", () => {
  const own = useOwnSandboxes();

  it("is a terminal all the same, and follows the size of the user's", async (context) => {
    if (!isRequired("docker")) context.skip("GLOVEBOX_TEST_REQUIRE does not list docker");
    const image = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";
    const terminal = new Terminal(["shell", "--engine", "docker", "--image", image], own.environment());
    await terminal.until("$ ");
    expect(await terminal.type("tty; stty size; echo d''one\r", "done\r")).toMatch(/\/dev\/pts\/\d+\s+40 100\s/u);
    terminal.grow();
    while (!(await terminal.type("stty size; echo si''ze\r", "size\r")).includes("50 120"));
    await terminal.type("exit 7\r", "exit");
    expect(await terminal.ended).toBe(7);
  });
});

describe.each(["docker", "podman"] as const)("glovebox shell without a sandbox, on %s", (engine) => {
  const own = useOwnSandboxes();

  it("makes one of its own and removes it", async (context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
    const terminal = new Terminal(["shell", "--engine", engine], {
      ...own.environment(),
      GLOVEBOX_IMAGE_SESSION: sessionImages.session,
    });
    await terminal.until("$ ");
    expect(terminal.drawn).toMatch(
      new RegExp(
        `image ${sessionImages.session} on ${engine}, network none, at most 2 CPUs, 2048 MB of memory, \\d+ processes`,
      ),
    );
    expect(terminal.drawn).toContain("All files, also those in /workdir, are removed when this shell ends");
    expect(await own.on(engine)).toHaveLength(1);
    expect(await terminal.type("pwd; id -u; ls -A | wc -l; echo d''one\r", "done\r")).toMatch(
      /\/workdir\s+6[01]\d{3}\s+0\s/u,
    );
    await terminal.type("exit 5\r", "exit");
    expect(await terminal.ended).toBe(5);
    expect(await own.on(engine)).toEqual([]);
  });
});

/** Variables with which no container engine answers. */
const noEngines = { DOCKER_HOST: "unix:///nonexistent/docker.sock", CONTAINER_HOST: "unix:///nonexistent/podman.sock" };

describe("glovebox shell without a container, on local", () => {
  const own = useOwnSandboxes();

  it.each([
    ["named", ["--engine", "local"], {}, ""],
    ["where no engine answers", [], noEngines, "no container engine answers: using the embedded sandbox"],
  ])("is one in a session, which it ends: %s", async (_, argv, environment, notice) => {
    const terminal = new Terminal(["shell", ...argv], { ...own.environment(), ...environment });
    await terminal.until("$ ");
    expect(terminal.drawn).toContain(notice);
    expect(terminal.drawn).toMatch(/no image on local, network none, at most 2 CPUs, 512 MB of memory, \d+ processes/);
    expect(await own.on("local")).toHaveLength(1);
    expect(await terminal.type("pwd; echo a >b; cat b; echo d''one\r", "done\r")).toMatch(/\/work\s+a\s/u);
    await terminal.type("exit 5\r", "exit");
    expect(await terminal.ended).toBe(5);
    expect(await own.on("local")).toEqual([]);
  });

  it.each([
    ["--image", "a"],
    ["--project", "."],
    ["--network", "open"],
  ])("refuses what only a container has: %s", async (option, value) => {
    const terminal = new Terminal(["shell", "--engine", "local", option, value], own.environment());
    expect(await terminal.ended).toBe(2);
    expect(terminal.drawn).toContain(`${option}: expected to be left out beside --engine local`);
  });
});
