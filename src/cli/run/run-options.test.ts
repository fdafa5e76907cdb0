import { describe, expect, it } from "vitest";
import { requestOfOptions } from "./run-options.ts";

const secretsOf = (...secret: string[]): unknown =>
  requestOfOptions({ env: [], file: [], artifact: [], secret }, { code: "", file: null, args: [] })["secrets"];

describe("--secret", () => {
  it("names a secret, and the variable when it is another", () => {
    expect(secretsOf()).toBeUndefined();
    expect(secretsOf("KEY", "KEY=TOKEN", "OTHER")).toEqual({ KEY: "KEY", TOKEN: "KEY", OTHER: "OTHER" });
  });

  it("refuses a variable that is given twice, without showing what may be a value", () => {
    expect(() => secretsOf("A=sk-value", "B=sk-value")).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: expect.not.stringContaining("sk-value") as string,
      }),
    );
  });
});
