import { describe, expect, it } from "vitest";
import { hasExpired, isSignature, signatureOf } from "./signature.ts";

const token = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";
const file = { path: "hello.txt", operation: "read", username: "user", expiration: null } as const;

describe("signatures of files", () => {
  it("are those of E2B's SDKs", () => {
    expect(signatureOf(file, token)).toBe("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
  });

  it("are good for one path, one operation, one user, one time and one token", () => {
    const shown = signatureOf(file, token);
    expect(isSignature(shown, file, token)).toBe(true);
    const others = [{ path: "hello.tx" }, { operation: "write" }, { username: "" }, { expiration: "1" }] as const;
    for (const other of others) expect(isSignature(shown, { ...file, ...other }, token)).toBe(false);
    expect(isSignature(shown, file, `${token}x`)).toBe(false);
    expect(isSignature("", file, token)).toBe(false);
  });

  it("expire at their second, and at once if it is no number", () => {
    const at = (expiration: string | null): boolean => hasExpired({ ...file, expiration }, 1_700_000_000_000);
    expect([null, "1700000000", "1699999999", "-1", "1e99", ""].map(at)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
  });
});
