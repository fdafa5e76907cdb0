import { describe, expect, it } from "vitest";
import { parseAllowlist } from "./load-mount-policy.ts";

const parse = (text: string): unknown => parseAllowlist(text, "mount allowlist");
const refusal = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("It was accepted.");
};

describe("parseAllowlist", () => {
  it("reads the form of FFT_nano, with defaults that allow least", () => {
    const text = JSON.stringify({
      allowedRoots: [{ path: "~/projects", allowReadWrite: true, description: "Development" }, { path: "/srv/docs" }],
      blockedPatterns: ["password"],
      nonMainReadOnly: false,
    });
    expect(parse(`\ufeff${text}`)).toEqual({
      allowedRoots: [
        { path: "~/projects", allowReadWrite: true, description: "Development" },
        { path: "/srv/docs", allowReadWrite: false, description: null },
      ],
      blockedPatterns: ["password"],
      nonMainReadOnly: false,
    });
    expect(parse('{"allowedRoots": []}')).toEqual({ allowedRoots: [], blockedPatterns: [], nonMainReadOnly: true });
  });

  it.each([
    ["", "not JSON: error at line 1, column 1"],
    ['{"allowedRoots": [\n  {"path": "/a"},\n]}', "not JSON: error at line 3, column 1"],
    ["null", "the file: expected an object with allowedRoots"],
    ["{}", "allowedRoots: expected a list of folders"],
    ['{"allowedRoots": "/srv"}', "allowedRoots: expected a list of folders"],
    ['{"allowedRoots": ["/srv"]}', "allowedRoots[0]: expected an object with path"],
    ['{"allowedRoots": [{"path": "/a"}, {"path": "b"}]}', "allowedRoots[1].path: expected an absolute path"],
    ['{"allowedRoots": [{"path": "~bob/x"}]}', "allowedRoots[0].path: expected an absolute path"],
    [
      '{"allowedRoots": [{"path": "/a", "allowReadWrite": "yes"}]}',
      "allowedRoots[0].allowReadWrite: expected true or false",
    ],
    ['{"allowedRoots": [{"path": "/a", "readonly": true}]}', "allowedRoots[0].readonly: unknown field"],
    ['{"allowedRoots": [], "blockedPattern": []}', "blockedPattern: unknown field (did you mean blockedPatterns?)"],
    ['{"allowedRoots": [], "blockedPatterns": [""]}', "blockedPatterns[0]: expected a name"],
    ['{"allowedRoots": [], "blockedPatterns": [1]}', "blockedPatterns[0]: expected text"],
    ['{"allowedRoots": [], "nonMainReadOnly": 1}', "nonMainReadOnly: expected true or false"],
  ])("%j is refused: %s", (text, words) => expect(refusal(text)).toContain(words));

  it("names every problem at once and quotes nothing", () => {
    const message = refusal('{"allowedRoots": [{"path": "relative-secret"}], "x": 1}');
    expect(message).toContain("allowedRoots[0].path");
    expect(message).toContain("x: unknown field");
    expect(message).not.toContain("relative-secret");
  });
});
