import { describe, expect, it } from "vitest";
import { maxEnvironmentEntries } from "../../operations/contract/wire-values.ts";
import { checkEnvironment, maxEnvironmentBytes } from "./environment.ts";

describe("checkEnvironment", () => {
  it.each([
    {},
    { A: "" },
    { _a1: "x=y\nz", LD_PRELOAD: "/x.so", PATH: "/bin", lower: "é😀" },
    JSON.parse('{"__proto__": "kept", "constructor": "kept"}') as Record<string, string>,
  ])("accepts %j and freezes it", (environment) => {
    const checked = checkEnvironment(environment);
    expect(Object.entries(checked)).toEqual(Object.entries(environment));
    expect(Object.isFrozen(checked)).toBe(true);
  });

  it.each(["", "A=B", "=", "A\n", "A\nB", "A\0", "1A", "A-B", "A B", "é", "A.B", " A", "$(x)"])(
    "refuses the name %j",
    (name) => {
      expect(() => checkEnvironment({ [name]: "secret" })).toThrow(
        expect.objectContaining({
          errorType: "INVALID_REQUEST",
          message: `environment[${JSON.stringify(name)}]: expected a name of letters, digits and underscores that does not start with a digit, such as API_URL.`,
        }),
      );
    },
  );

  it.each([
    ["hunter2\0", "environment.TOKEN: expected a value without NUL characters."],
    ["hunter2\ud800", "environment.TOKEN: expected Unicode text, found half a surrogate pair."],
    [5, "environment.TOKEN: expected text, found number."],
    [null, "environment.TOKEN: expected text, found null."],
  ])("refuses the value %j without showing it", (value, message) => {
    expect(() => checkEnvironment({ TOKEN: value as string })).toThrow(
      expect.objectContaining({ errorType: "INVALID_REQUEST", message, context: { field: "environment.TOKEN" } }),
    );
  });

  it("bounds the number of variables", () => {
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, ""]));
    expect(Object.keys(checkEnvironment(many(maxEnvironmentEntries)))).toHaveLength(256);
    expect(() => checkEnvironment(many(257))).toThrow("environment: expected at most 256 variables, found 257.");
  });

  it("bounds the bytes in all, counted in UTF-8", () => {
    expect(checkEnvironment({ A: "x".repeat(maxEnvironmentBytes - 3) })).toBeDefined();
    expect(() => checkEnvironment({ A: "€".repeat(43_690) })).toThrow(
      "environment: expected at most 131072 bytes in all, found 131073.",
    );
  });

  it("names the field it was told", () => {
    expect(() => checkEnvironment({ "a b": "" }, "env")).toThrow(/^env\["a b"\]: /);
  });
});
