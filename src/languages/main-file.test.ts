import { describe, expect, it } from "vitest";
import { checkMainFile } from "./main-file.ts";

describe("checkMainFile", () => {
  it("has a default for each language", () => {
    expect(checkMainFile(undefined, "python")).toBe("main.py");
    expect(checkMainFile(undefined, "javascript")).toBe("main.js");
    expect(checkMainFile(undefined, "typescript")).toBe("main.ts");
  });

  it("keeps a plain name with the language's ending", () => {
    expect(checkMainFile("hello.py", "python")).toBe("hello.py");
    expect(checkMainFile("server.mjs", "javascript")).toBe("server.mjs");
    expect(checkMainFile("übung-1.ts", "typescript")).toBe("übung-1.ts");
  });

  it.each(["-c.py", ".hidden.py", "a b.py", "x".repeat(200), "hello.js", "$(id).py", "a\nb.py"])(
    "falls back to the default for %j",
    (name) => {
      expect(checkMainFile(name, "python")).toBe("main.py");
    },
  );

  it.each(["../x.py", "/etc/x.py", "a/b.py", "a\\b.py"])("refuses the path %j", (name) => {
    expect(() => checkMainFile(name, "python")).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });
});
