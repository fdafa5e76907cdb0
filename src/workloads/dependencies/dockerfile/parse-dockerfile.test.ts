import { describe, expect, it } from "vitest";
import { copyOf, firstState, nextStep, type BuildState } from "./next-step.ts";
import { parseDockerfile } from "./parse-dockerfile.ts";

const noBase = { globals: {}, lookUpBase: (): undefined => undefined };

/** What the instructions after FROM do, one after another. */
function actionsOf(lines: string): readonly unknown[] {
  const { steps, globals } = parseDockerfile(`FROM base:1\n${lines}`);
  let state: BuildState = firstState;
  return steps.map((step) => {
    const next = nextStep(step, state, { ...noBase, globals });
    state = next.state;
    return next.action ?? next.state.environment;
  });
}

describe("a Dockerfile", () => {
  it("has a base, by arguments too, and steps over lines and comments, of which none that only describes counts", () => {
    const text =
      "# syntax=x/y\nARG V=3\nARG TAG=${V}-slim\nFROM host:5000/a:$TAG as one\r\n\nrun a \\\n# no\n\n  && b\nCMD x\nEXPOSE 1\n";
    expect(parseDockerfile(text)).toEqual({
      ...{ base: "host:5000/a:3-slim", globals: { V: "3", TAG: "3-slim" } },
      steps: [{ keyword: "RUN", text: "a   && b", line: 6 }],
    });
  });

  it("replaces variables in all but RUN, of the file, of its base, with quotes and defaults", () => {
    const lines =
      "ARG A=1\nENV B=\"x $A\" C='$A' D=${A:+yes}${NONE:-no}\\$A\nENV OLD two words\nRUN echo $B\nWORKDIR a/$A\nWORKDIR ../b";
    expect(actionsOf(lines)).toEqual([
      {},
      { B: "x 1", C: "$A", D: "yesno$A" },
      { B: "x 1", C: "$A", D: "yesno$A", OLD: "two words" },
      { kind: "run", command: ["/bin/sh", "-c", "echo $B"] },
      { kind: "folder", path: "/a/1" },
      { kind: "folder", path: "/a/b" },
    ]);
  });

  it("copies from the project alone, into a folder where there are several or a slash", () => {
    const lines =
      'WORKDIR /w\nCOPY --chown=node:1 a b c\nADD ["x y", "z/"]\nCOPY . .\nSHELL ["bash", "-c"]\nRUN a\nRUN ["a", "b"]';
    expect(actionsOf(lines)).toMatchObject([
      {},
      { kind: "copy", sources: ["a", "b"], target: "/w/c/", owner: "node:1" },
      { kind: "copy", sources: ["x y"], target: "/w/z/", owner: "0:0" },
      { kind: "copy", sources: ["."], target: "/w/" },
      {},
      { command: ["bash", "-c", "a"] },
      { command: ["a", "b"] },
    ]);
  });

  it.each([
    ["RUN a", /no FROM/],
    ["RUN a\nFROM a", /RUN" stands before/],
    ["FROM a\nFROM b", /line 2: .*second FROM/],
    ["FROM --platform=linux/arm64 a", /no options/],
    ["FROM scratch", /without anything/],
    ["FROM a b", /name after AS/],
    ["FROM ../../x", /expected a registry/],
    ["FROM a\nONBUILD RUN x", /ONBUILD/],
    ["FROM a\nFETCH x", /FETCH" is no instruction/],
    ["FROM a\nRUN", /nothing after/],
    ["FROM a\nRUN --mount=type=secret,id=x cat /run/secrets/x", /--mount=type=secret,id=x/],
    ["FROM a\nRUN --network=host true", /no options/],
    ["FROM a\nRUN --security=insecure true", /no options/],
    ["FROM a\nRUN <<EOF\nx\nEOF", /here-documents/],
    ["# escape=`\nFROM a", /backslash/],
    [`FROM a\n${"RUN x\n".repeat(201)}`, /201 instructions/],
  ])("is refused: %j", (text, message) => {
    expect(() => parseDockerfile(text)).toThrow(message);
  });

  it.each([
    ["COPY ../secret /", /leads out/],
    ["COPY a/../../b /", /leads out/],
    ["COPY --from=other /a /b", /no --from/],
    ["COPY --chown=$(id) a b", /a user is/],
    ["COPY --chmod=u+s a b", /number such as/],
    ["COPY a", /source and a target/],
    ["ADD http://169.254.169.254/ /x", /fetches nothing/],
    ["ADD git@host:a/b.git /x", /fetches nothing/],
    ["ARG U=http://h/\nADD ${U}x /x", /fetches nothing/],
    ["ADD files.tar.gz /x", /unpacks nothing/],
    ["ENV A=${B//x/y}", /only \$\{NAME\}/],
    ['ENV A="open', /has no end/],
    ["ENV 1A=x", /NAME=value/],
    ["USER a b; rm", /a user is/],
    ["SHELL bash", /takes a list/],
  ])("goes no further than %j", (lines, message) => {
    expect(() => actionsOf(lines)).toThrow(message);
  });

  it("is read in a time that grows with its length", () => {
    const long = `FROM a\nRUN ${"\\\n".repeat(30_000)}x\nENV A="${"$".repeat(30_000)}"`;
    expect(parseDockerfile(long).steps).toHaveLength(2);
    const step = { keyword: "COPY", text: `${"--chown=1 ".repeat(5_000)}a b`, line: 1 };
    expect(copyOf(step, firstState, () => undefined)).toMatchObject({ owner: "1" });
  });
});
