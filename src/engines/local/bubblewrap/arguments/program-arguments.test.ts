import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { describe, expect, it } from "vitest";
import { carriedVariables, programShell } from "./program-shell.ts";
import { programArguments, type ProcessLimits } from "./program-arguments.ts";

const tools = { prlimit: "/usr/bin/prlimit", setpriv: "/usr/bin/setpriv" };
const unlimited: ProcessLimits = { dataBytes: null, processes: null };

function argumentsFor(command: readonly string[], limits = unlimited): readonly string[] {
  return programArguments(tools, {
    command,
    variables: 0,
    workingDirectory: "/work",
    limits,
  });
}

describe("programArguments", () => {
  it("gives the folder and what to run to a constant script", () => {
    const words = argumentsFor(["python3", "-c", "print($(x))"]);
    expect(words.slice(0, 2)).toEqual(["/opt/glovebox/first/sh", "-c"]);
    expect(words.slice(3, 6)).toEqual(["sh", "/work", "/usr/bin/setpriv"]);
    expect(words.slice(-4)).toEqual(["sh", "python3", "-c", "print($(x))"]);
    expect(argumentsFor(["other"])[2]).toBe(words[2]);
  });

  it("takes every capability from the program", () => {
    const words = argumentsFor(["true"]);
    expect(words).toEqual(
      expect.arrayContaining(["--ambient-caps=-all", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]),
    );
  });

  it("limits each process where nothing else does, and leaves the first process its place", () => {
    const words = argumentsFor(["true"], { dataBytes: 1024, processes: 10 });
    const at = words.indexOf("/usr/bin/prlimit");
    expect(words.slice(at + 1, at + 4)).toEqual(["--data=1024:1024", "--nproc=11:11", "/usr/bin/setpriv"]);
    expect(argumentsFor(["true"])).not.toContain("/usr/bin/prlimit");
    expect(argumentsFor(["true"], { dataBytes: null, processes: 3 })).toContain("--nproc=4:4");
  });
});

/** The last shell's words with the host's own shell, and its script. */
function lastShell(variables: number): readonly string[] {
  return ["/bin/sh", ...programShell(variables).slice(1)];
}

/** The scripts as the host's own shell runs them, without what takes the capabilities between them. */
function runScript(
  folder: string,
  program: readonly string[],
  answer = "\n",
  environment: Readonly<Record<string, string>> = {},
): SpawnSyncReturns<string> {
  const [script = ""] = argumentsFor(program).slice(2, 3);
  const carried = carriedVariables(environment);
  // Descriptor 6 is both ends of the handshake: the word goes to stdout here, the answer comes from a pipe.
  const wrapper = 'exec 8>&2; printf %s "$1" | { shift; exec /bin/sh -c "$@" 6<&0; }';
  const withHandshake = script.replace(">&6", ">/dev/null");
  return spawnSync(
    "/bin/sh",
    ["-c", wrapper, "sh", answer, withHandshake, "sh", folder, ...lastShell(Object.keys(carried).length), ...program],
    {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", PWD: "/", OLDPWD: "/", ...carried },
    },
  );
}

describe.runIf(process.platform === "linux")("the script of the first process", () => {
  it("runs the program in its folder and ends with its code", () => {
    expect(runScript("/usr", ["sh", "-c", "pwd; exit 7"])).toMatchObject({
      status: 7,
      stdout: "/usr\n",
      stderr: "",
    });
  });

  it("runs nothing when the server does not answer", () => {
    expect(runScript("/", ["echo", "ran"], "")).toMatchObject({ status: 125, stdout: "" });
  });

  it("shows death by a signal as 128 and its number, and says nothing", () => {
    expect(runScript("/", ["sh", "-c", "kill -9 $$"])).toMatchObject({ status: 137, stdout: "", stderr: "" });
  });

  it("names a program that is missing, on stderr", () => {
    for (const name of ["no-such-program", "/no/such/program"]) {
      expect(runScript("/", [name])).toMatchObject({ status: 127, stdout: "", stderr: `${name}: not found\n` });
    }
  });

  it("names a file that is no program, on stderr", () => {
    for (const name of ["/etc/passwd", "/usr/bin/"]) {
      expect(runScript("/", [name])).toMatchObject({ status: 126, stderr: `${name}: not an executable file\n` });
    }
  });

  it("names a folder that is missing, on stderr", () => {
    expect(runScript("/no/such", ["true"])).toMatchObject({
      status: 126,
      stderr: expect.stringContaining("/no/such"),
    });
  });

  it("adds nothing to the environment", () => {
    const { stdout } = runScript("/usr", ["cat", "/proc/self/environ"]);
    expect(stdout.split("\0").filter(Boolean)).toEqual(["PATH=/usr/bin:/bin"]);
  });

  it("gives the program its variables, whatever they are, and nothing of how they came", () => {
    const odd = { LD_PRELOAD: "/no/such.so", "not-a-name": "x", IFS: "0123", PWD: "/mine", two: "a'b\n$(c) \"d" };
    const { stdout, stderr } = runScript("/usr", ["cat", "/proc/self/environ"], "\n", odd);
    const found = stdout.split("\0").filter(Boolean);
    expect(found.toSorted()).toEqual(
      ["IFS=0123", "LD_PRELOAD=/no/such.so", "PATH=/usr/bin:/bin", "PWD=/mine", `two=${odd.two}`].toSorted(),
    );
    // The loader's complaint comes from the program alone.
    expect(stderr.match(/no\/such\.so/g)).toHaveLength(1);
  });

  it("hands its stderr to the program and nothing else", () => {
    expect(runScript("/", ["sh", "-c", "echo out; echo err >&2"])).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
    });
    const { stdout } = runScript("/", ["ls", "/proc/self/fd"]);
    expect(stdout.split("\n").filter((line) => ["3", "4", "5", "6", "7", "8"].includes(line))).toEqual(["3"]);
  });
});
