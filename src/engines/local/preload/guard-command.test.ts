import { describe, expect, it } from "vitest";
import { runnerOption } from "../../runner-option.ts";
import { guardCommand, checkGuardEnvironment } from "./guard-command.ts";
import type { ProgramRequest } from "./host-program.ts";

const mebibyte = 1024 * 1024;
const node = { executable: "/n/node", version: "24.0.0", options: ["--disable-sigusr1"] };
const arrange = guardCommand({ python: "/p/python3.12", node });

function request(command: readonly string[], environment: Readonly<Record<string, string>> = {}): ProgramRequest {
  return {
    command,
    environment,
    writable: ["/f/work", "/f/tmp"],
    readable: ["/f/node_modules"],
    guardFolder: "/f/guard",
    temporaryFolder: "/f/tmp",
    folderOf: (path) => path,
    threads: 64,
    memoryBytes: 256 * mebibyte,
  };
}

function settingsOf({ environment }: { readonly environment: Readonly<Record<string, string>> }): unknown {
  return JSON.parse(environment["GLOVEBOX_PRELOAD"] ?? "null");
}

describe("guardCommand", () => {
  it("starts Python with the guard as all of its module path, and without the user's own folder", () => {
    const program = arrange(request(["python3", "main.py", "-x"], { HOME: "/f/tmp", PYTHONPATH: "lib" }));
    expect(program).toMatchObject({ file: "/p/python3.12", arguments: ["-s", "main.py", "-x"], boundsData: true });
    expect(program.environment).toMatchObject({ HOME: "/f/tmp", PYTHONPATH: "/f/guard/python" });
    expect(settingsOf(program)).toEqual({
      write: ["/f/work", "/f/tmp"],
      read: ["/f/node_modules"],
      threads: 64,
      runner: "",
      runner_folder: expect.stringMatching(/^\/f\/tmp\/\.glovebox-run-\w{8,}$/),
      python_path: "lib",
      arguments: ["main.py", "-x"],
    });
  });

  it("starts Node with its permission model and the guard", () => {
    const program = arrange(request(["node", "main.js", "--x"]));
    expect(program.file).toBe("/n/node");
    expect(program.arguments).toEqual([
      "--permission",
      "--allow-fs-read=/f/guard/node",
      "--allow-fs-read=/f/node_modules",
      "--allow-fs-read=/f/work",
      "--allow-fs-write=/f/work",
      "--allow-fs-read=/f/tmp",
      "--allow-fs-write=/f/tmp",
      "--disable-sigusr1",
      "--max-old-space-size=256",
      "--require",
      "/f/guard/node/preload.cjs",
      "main.js",
      "--x",
    ]);
    expect(settingsOf(program)).toEqual({ runner: "" });
  });

  it.each(["python3", "node"])("hands a runner to the guard of %s", (interpreter) => {
    const program = arrange(request([interpreter, `${runnerOption}text = 1`, "/f/work/main"]));
    expect(settingsOf(program)).toMatchObject({ runner: "text = 1" });
    expect(program.arguments.join(" ")).not.toContain("text = 1");
    expect(program.arguments.at(-1)).toBe("/f/work/main");
  });

  it.each([["sh"], ["bun"], ["/usr/bin/python3"], ["./python3"], [""]])(
    "refuses %j, which nothing would guard",
    (name) => {
      expect(() => arrange(request([name, "-c", "x"]))).toThrow("runs Python and Node programs only");
    },
  );

  it.each([
    ["python3", "-I"],
    ["python3", "-S"],
    ["python3", "-E"],
    ["python3", "-uS"],
    ["python3", "-X"],
    ["python3", "-W"],
    ["node", "--require"],
    ["node", "-r"],
    ["node", "--import"],
    ["node", "--allow-fs-read=*"],
    ["node", "--no-permission"],
    ["node", "--inspect"],
    ["node", "--experimental-default-type=module"],
  ])("refuses %s %s, which could take the guard out", (interpreter, option) => {
    expect(() => arrange(request([interpreter, option, "main"]))).toThrow(`Option ${option} of ${interpreter}`);
  });

  it.each([
    ["python3", "-u", "-c", "print(1)", "-S"],
    ["python3", "-m", "json.tool", "-I"],
    ["python3", "main.py", "-I"],
    ["node", "--no-warnings", "-e", "1", "--require"],
    ["node"],
  ])("takes %s %s", (...command) => {
    expect(() => arrange(request(command))).not.toThrow();
  });

  it("says which interpreter the host lacks", () => {
    const none = guardCommand({ python: null, node: null });
    expect(() => none(request(["python3", "x"]))).toThrow("needs Python 3");
    expect(() => none(request(["node", "x"]))).toThrow("needs Node with a permission model");
  });

  it("refuses a variable that governs the interpreter", () => {
    expect(() => arrange(request(["python3", "x"], { PYTHONHOME: "/x" }))).toThrow("environment.PYTHONHOME");
  });
});

describe("checkGuardEnvironment", () => {
  it.each(["HOME", "PATH", "API_URL", "PYTHONPATH", "PYTHONUNBUFFERED", "NODE_ENV", "pythonpath"])(
    "takes %s",
    (name) => {
      expect(() => checkGuardEnvironment({ [name]: "x" })).not.toThrow();
    },
  );

  it.each([
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "PYTHONPYCACHEPREFIX",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_REDIRECT_WARNINGS",
    "node_options",
    "OPENSSL_CONF",
    "SSLKEYLOGFILE",
    "GLOVEBOX_PRELOAD",
  ])("refuses %s by its name", (name) => {
    expect(() => checkGuardEnvironment({ [name]: "secret" })).toThrow(`environment.${name} is not accepted`);
    expect(() => checkGuardEnvironment({ [name]: "secret" })).not.toThrow("secret");
  });
});
