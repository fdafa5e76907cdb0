import { describe, expect, it } from "vitest";
import { execArguments } from "./exec-arguments.ts";
import { buildArguments, pullArguments } from "./image-arguments.ts";
import { option } from "./option.ts";

const program = { user: "1000:1000", workingDirectory: undefined, environment: {}, command: ["ls", "--all"] };

describe("running a program in a container", () => {
  it("puts the command behind everything that the options end at", () => {
    expect(execArguments("sb-1", program, [])).toEqual([
      ...["exec", "--interactive", "--user=1000:1000", "--workdir=/"],
      ...["--", "sb-1", "ls", "--all"],
    ]);
  });

  it("sets variables that the first process has by a program inside, since theirs would win", () => {
    const environment = { NEW: "1", LANG: "C", PATH: "/x" };
    expect(execArguments("sb-1", { ...program, environment }, ["LANG"])).toEqual([
      ...["exec", "--interactive", "--user=1000:1000", "--workdir=/", "--env=NEW=1"],
      ...["--", "sb-1", "env", "LANG=C", "PATH=/x", "ls", "--all"],
    ]);
    const odd = execArguments("sb-1", { ...program, environment: { PATH: "/x" }, command: ["a=b"] }, []);
    expect(odd.slice(-7)).toEqual(["env", "PATH=/x", "sh", "-c", 'exec "$@"', "sh", "a=b"]);
  });
});

describe("options", () => {
  it("are never empty, because the next word would be taken", () => {
    expect(() => option("name", "")).toThrow("--name");
  });

  it("of images name one platform", () => {
    expect(pullArguments("alpine:3", "linux/arm64")).toEqual([
      ...["image", "pull", "--progress=none", "--platform=linux/arm64", "--", "alpine:3"],
    ]);
    const build = { reference: "own:1", arguments: { A: "b=c", E: "" }, labels: { k: "v=w" } };
    expect(buildArguments(build, { folder: "/tmp/x", platform: "linux/arm64" })).toEqual([
      ...["build", "--progress=plain", "--platform=linux/arm64", "--tag=own:1", "--file=/tmp/x/Dockerfile"],
      ...["--build-arg=A=b=c", "--build-arg=E=", "--label=k=v%3Dw", "--", "/tmp/x"],
    ]);
  });
});
