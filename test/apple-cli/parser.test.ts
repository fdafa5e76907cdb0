import { describe, expect, it } from "vitest";
import { allCommandRows, choicesOf, findCommand, type Command } from "./parser/command-table.ts";
import { parseCall } from "./parser/parse-call.ts";
import { UsageError } from "./parser/usage-error.ts";

const newest = "1.2.2";
const versions = ["0.1.0", "0.4.1", "0.7.1", "0.9.0", "0.12.3", "1.0.0", "1.2.2", "1.4.1"];

function refusalOf(words: readonly string[], version = newest): UsageError {
  try {
    parseCall(version, words);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`container ${words.join(" ")} is accepted`);
}

function argumentsOf(words: readonly string[], version = newest): readonly string[] {
  const call = parseCall(version, words);
  if (call.kind !== "run") throw new Error(`container ${words.join(" ")} is ${call.kind}`);
  return call.options.arguments;
}

const commandsOf = (version: string): readonly Command[] =>
  allCommandRows().flatMap((row) => findCommand(version, row.name.split(" ")) ?? []);

describe("the table of Apple's commands", () => {
  it.each(versions)("names each option of a command of %s once, with choices that there are", (version) => {
    const commands = commandsOf(version);
    expect(commands.length).toBeGreaterThan(30);
    for (const { name, options } of commands) {
      const names = options.flatMap((option) => option.names);
      expect(new Set(names).size, `${name}: ${names.join(" ")}`).toBe(names.length);
      for (const { choice } of options) {
        const values = choice === undefined ? ["none"] : choicesOf(version, choice);
        expect(values.length, `${name}: ${choice}`).toBeGreaterThan(0);
      }
    }
  });

  it.each([
    ["list", ["ls"]],
    ["delete", ["rm"]],
    ["copy", ["cp"]],
    ["image list", ["i", "ls"]],
    ["network delete", ["n", "rm"]],
    ["volume list", ["v", "ls"]],
    ["system status", ["s", "status"]],
  ])("%s has a short name", (name, words) => {
    const rest = words.includes("cp") ? ["a", "b"] : [];
    expect(parseCall(newest, [...words, ...rest])).toMatchObject({ kind: "run", command: name });
  });

  it.each([
    ["run", "--publish", "0.3.0"],
    ["run", "--platform", "0.4.0"],
    ["run", "--progress", "0.7.0"],
    ["run", "--read-only", "0.8.0"],
    ["run", "--ulimit", "0.9.0"],
    ["run", "--init", "0.10.0"],
    ["run", "--cap-drop", "0.12.0"],
    ["run", "--shm-size", "1.0.0"],
    ["run", "--kernel-arg", "1.2.0"],
    ["run", "--masked-path", "1.2.1"],
    ["exec", "--detach", "0.7.0"],
    ["build", "--secret", "0.11.0"],
    ["system status", "--format", "0.10.0"],
  ])("%s has %s from %s on", (command, option, since) => {
    const has = (version: string): boolean =>
      findCommand(version, command.split(" "))?.options.some(({ names }) => names.includes(option)) ?? false;
    expect(versions.filter((version) => has(version))).toEqual(
      versions.filter(
        (version) =>
          Number(
            version
              .split(".")
              .map((part) => part.padStart(3, "0"))
              .join(""),
          ) >=
          Number(
            since
              .split(".")
              .map((part) => part.padStart(3, "0"))
              .join(""),
          ),
      ),
    );
  });

  it.each([
    ["stats", "0.7.0"],
    ["prune", "0.8.0"],
    ["system version", "0.8.0"],
    ["export", "0.10.0"],
    ["copy", "1.0.0"],
  ])("%s is there from %s on", (command, since) => {
    expect(findCommand(since, command.split(" "))?.name).toBe(command);
    expect(findCommand("0.6.0", command.split(" "))).toBeUndefined();
  });

  it("has none of the options of other engines' commands", () => {
    for (const option of [
      "--pids-limit",
      "--security-opt",
      "--restart",
      "--hostname",
      "--privileged",
      "--pull",
      "--device",
    ]) {
      expect(refusalOf(["run", option, "x", "image"]).message).toContain(`Unknown option '${option}'`);
    }
  });
});

describe("the grammar of Apple's command line", () => {
  it.each([
    [
      ["run", "image", "--", "ls"],
      ["image", "--", "ls"],
    ],
    [
      ["run", "--", "image", "ls", "--help"],
      ["image", "ls", "--help"],
    ],
    [
      ["run", "-i", "--rm", "image", "--rm", "-h"],
      ["image", "--rm", "-h"],
    ],
    [
      ["run", "--", "image", "---x", "-="],
      ["image", "---x", "-="],
    ],
    [
      ["exec", "-i", "--", "id", "-i", "sh"],
      ["id", "-i", "sh"],
    ],
    [
      ["exec", "id", "-i", "sh"],
      ["id", "-i", "sh"],
    ],
    [
      ["stop", "a", "-t", "3", "b"],
      ["a", "b"],
    ],
    [
      ["run", "", "x"],
      ["", "x"],
    ],
    [["build", "-f", "-", "."], ["."]],
  ])("%j leaves %j", (words, left) => {
    expect(argumentsOf(words)).toEqual(left);
  });

  it.each([
    [["--env", "A=b"]],
    [["--env=A=b"]],
    [["-e", "A=b"]],
    [["-e=A=b"]],
    [["-ie", "A=b"]],
    [["-ite", "A=b"]],
    [["--env=", "A=b"]],
  ])("%j gives a variable", (words) => {
    const call = parseCall(newest, ["run", ...words, "image"]);
    expect(call.kind === "run" ? call.options.all("env") : []).toEqual(["A=b"]);
  });

  it("takes the last of an option that is one, and all of one that is many", () => {
    const call = parseCall(newest, ["run", "-c", "1", "--cpus", "2", "-e", "A=1", "--env", "B=2", "-e", "", "image"]);
    expect(call.kind === "run" && [call.options.number("cpus"), call.options.all("env")]).toEqual([
      2,
      ["A=1", "B=2", ""],
    ]);
  });

  it.each([
    [["run", "-p8080:80", "image"], "Missing value for '-p <spec>'"],
    [["run", "-c2", "image"], "Missing value for '-c <cpus>'"],
    [["run", "-e", "-x", "image"], "Missing value for '-e <env>'"],
    [["run", "--env", "--", "image"], "Missing value for '--env <env>'"],
    [["run", "--env"], "Missing value for '--env <env>'"],
    [["run", "image", "---"], "Invalid option: ---"],
    [["exec", "id", "sh", "-="], "Invalid option: -="],
    [["run", "--rm=true", "image"], "The option '--rm' does not take any value, but 'true' was specified."],
    [["run", "--memry", "1g", "image"], "Unknown option '--memry'. Did you mean '--memory'?"],
    [["run", "--something", "image"], "Unknown option '--something'"],
    [["run"], "Missing expected argument '<image>'"],
    [["inspect"], "Missing expected argument '<container-ids> ...'"],
    [["start", "a", "b"], "Unexpected argument 'b'"],
    [["image", "list", "a", "b"], "2 unexpected arguments: 'a', 'b'"],
    [["run", "--cpus", "0.5", "image"], "The value '0.5' is invalid for '--cpus <cpus>'"],
    [["run", "--uid", "-1", "image"], "Missing value for '--uid <uid>'"],
    [["run", "--uid=4294967296", "image"], "The value '4294967296' is invalid for '--uid <uid>'"],
    [
      ["list", "--format", "xml"],
      "The value 'xml' is invalid for '--format <format>'. Please provide one of 'json', 'table', 'yaml' or 'toml'.",
    ],
    [["create", "--progress", "none", "image"], "Unknown option '--progress'"],
    [["start", "--progress", "none", "id"], "Unknown option '--progress'"],
    [
      ["build", "--progress", "none"],
      "The value 'none' is invalid for '--progress <type>'. Please provide one of 'auto', 'plain' or 'tty'.",
    ],
  ])("%j is refused", (words, message) => {
    expect(refusalOf(words).message).toBe(message);
  });

  it("takes a word that it does not know for a plugin", () => {
    expect(parseCall(newest, ["images", "pull"])).toEqual({ kind: "plugin", name: "images" });
  });

  it("shows how the command is used, and which option has a wrong value", () => {
    const error = refusalOf(["run", "--cpus", "x", "image"]);
    expect([error.usage, error.command, error.help]).toEqual([
      "run [<options>] <image> [<arguments> ...]",
      "run",
      "-c, --cpus <cpus>",
    ]);
  });

  it.each([
    ["0.4.1", ["images", "pull", "x"], "image pull"],
    ["0.4.1", ["i", "pull", "x"], "image pull"],
    ["0.5.0", ["image", "pull", "x"], "image pull"],
    ["0.6.0", ["run", "--disable-progress-updates", "x"], "run"],
    ["0.12.3", ["list", "--format", "yaml"], "list"],
  ])("%s knows %j", (version, words, command) => {
    expect(parseCall(version, words)).toMatchObject({ kind: "run", command });
  });

  it.each([
    ["0.6.0", ["run", "--progress", "none", "x"]],
    ["0.7.0", ["run", "--disable-progress-updates", "x"]],
    ["0.11.0", ["list", "--format", "yaml"]],
    ["0.12.3", ["list", "--format", "toml"]],
    ["0.11.0", ["run", "--progress", "plain", "x"]],
    ["1.3.0", ["run", "--scheme", "auto", "x"]],
    ["0.2.0", ["create", "x", "-i", "--foo"]],
  ])("%s does not know %j", (version, words) => {
    expect(refusalOf(words, version)).toBeInstanceOf(UsageError);
  });

  it.each([[["--help"]], [["-h"]], [["run", "-h"]], [["run", "--rm", "--help", "x"]], [["image"]], [[]], [["help"]]])(
    "%j shows help",
    (words) => {
      expect(parseCall(newest, words).kind).toBe("help");
    },
  );

  it("takes --debug before and behind the command, and --version at the top only", () => {
    expect(parseCall(newest, ["--debug", "list", "--debug"])).toMatchObject({ kind: "run", command: "list" });
    expect(parseCall(newest, ["--version"])).toEqual({ kind: "version" });
    expect(refusalOf(["image", "--version"]).message).toBe("Unknown option '--version'");
  });
});
