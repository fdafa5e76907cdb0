import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OutputChunk } from "../../engine.ts";
import { parseExecFailure, parseRuntimeFailure, RuntimeFailureFilter } from "./runtime-failure.ts";

const exec = "OCI runtime exec failed: exec failed: unable to start container process: ";

describe("parseRuntimeFailure", () => {
  it.each([
    [`${exec}exec: "nosuch": executable file not found in $PATH: unknown\r\n`, 127, "nosuch: not found"],
    [`${exec}exec: "nosuch": stat nosuch: no such file or directory: unknown`, 127, "nosuch: not found"],
    [`${exec}exec: "nosuch": permission denied: unknown`, 126, "nosuch: permission denied"],
    [
      `${exec}chdir to cwd ("/absent") set in config.json failed: no such file or directory: unknown\r\n`,
      126,
      "cannot enter the working directory /absent: no such file or directory",
    ],
    [`${exec}exec /nosuch: exec format error: unknown`, 126, "nosuch: exec format error"],
    [
      `failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "nosuch": executable file not found in $PATH: unknown`,
      127,
      "nosuch: not found",
    ],
  ])("puts %j as a shell would", (text, exitCode, message) => {
    expect(parseRuntimeFailure(text, ["nosuch", "argument"])).toEqual({ exitCode, message });
  });

  it.each([
    [
      'Error: runc: exec failed: unable to start container process: exec: "nosuch": executable file not found in $PATH: OCI runtime attempted to invoke a command that was not found\nError: read unixpacket @->/x/attach: read: connection reset by peer\n',
      127,
      "nosuch: not found",
    ],
    [
      "Error: crun: executable file `nosuch` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found",
      127,
      "nosuch: not found",
    ],
    ["Error: crun: open executable: Permission denied: OCI permission denied", 126, "nosuch: permission denied"],
    [
      "Error: crun: chdir to `/absent`: No such file or directory: OCI runtime attempted to invoke a command that was not found",
      126,
      "cannot enter the working directory /absent: no such file or directory",
    ],
  ])("puts Podman's %j as a shell would", (text, exitCode, message) => {
    expect(parseRuntimeFailure(text, ["nosuch", "argument"])).toEqual({ exitCode, message });
  });

  it.each([
    "No such container: x",
    "OCI runtime create failed: error setting rlimit type 7: operation not permitted: unknown",
    'OCI runtime create failed: error mounting "/var/lib/x" to rootfs: no such file or directory: unknown',
  ])("leaves %j alone, which speaks of no program", (text) => {
    expect(parseRuntimeFailure(text, ["a"])).toBeNull();
  });
});

describe("parseExecFailure", () => {
  it.each([
    [`${exec}exec: "a": permission denied: unknown`, "a: permission denied"],
    [`${exec}read init-p: connection reset by peer: unknown`, "a: cannot be started: no process or memory is left"],
    [
      "OCI runtime exec failed: cannot do /var/lib/engine/secret: odd reason: unknown\r\n",
      "a: cannot be started: odd reason",
    ],
  ])("makes of %j an answer without paths of the host", (text, message) => {
    expect(parseExecFailure(text, ["a"])).toEqual({ exitCode: 126, message });
  });
});

describe("RuntimeFailureFilter", () => {
  const out = (text: string): OutputChunk => ({ stream: "stdout", bytes: Buffer.from(text) });
  const marker = { stream: "stdout", prefixes: ["OCI runtime exec failed: ", "Other: "], exitCodes: null } as const;

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("passes ordinary output at once, and everything after it", () => {
    const filter = new RuntimeFailureFilter(marker);
    expect(filter.pass([out("Hello")], vi.fn())).toEqual([out("Hello")]);
    expect(filter.pass([out("OCI runtime exec failed: really")], vi.fn())).toHaveLength(1);
    expect(filter.isHolding).toBe(false);
  });

  it("holds the runtime's words, in pieces too, and drops them when they were the runtime's", () => {
    const filter = new RuntimeFailureFilter(marker);
    expect(filter.pass([out("OCI run")], vi.fn())).toEqual([]);
    expect(filter.pass([out("time exec failed: x")], vi.fn())).toEqual([]);
    expect(filter.heldText).toBe("OCI runtime exec failed: x");
    expect(filter.settle(true)).toEqual([]);
    expect(filter.isHolding).toBe(false);
  });

  it("gives them back when a program wrote them", () => {
    const filter = new RuntimeFailureFilter(marker);
    filter.pass([out("OCI runtime exec failed: by a program")], vi.fn());
    expect(filter.settle(false)).toEqual([out("OCI runtime exec failed: by a program")]);
  });

  it("gives back a beginning that goes on differently, together with the rest", () => {
    const filter = new RuntimeFailureFilter(marker);
    filter.pass([out("OC")], vi.fn());
    expect(filter.pass([out("TOPUS")], vi.fn())).toEqual([out("OC"), out("TOPUS")]);
  });

  it("does not hold a prompt that waits for input for long", () => {
    const filter = new RuntimeFailureFilter(marker);
    const late: OutputChunk[] = [];
    filter.pass([out("O")], (chunks) => late.push(...chunks));
    vi.advanceTimersByTime(1_000);
    expect(late).toEqual([out("O")]);
  });

  it("does not hold the other stream, nor a long text", () => {
    expect(
      new RuntimeFailureFilter(marker).pass([{ stream: "stderr", bytes: Buffer.from("OCI") }], vi.fn()),
    ).toHaveLength(1);
    const long = out(`${marker.prefixes[0]}${"x".repeat(5_000)}`);
    expect(new RuntimeFailureFilter(marker).pass([long], vi.fn())).toEqual([long]);
  });
});
