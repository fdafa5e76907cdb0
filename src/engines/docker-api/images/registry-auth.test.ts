import { describe, expect, it } from "vitest";
import { registryAuthHeader } from "./registry-auth.ts";

const basic = Buffer.from("user:pa:ss>?").toString("base64");
const config = JSON.stringify({
  auths: {
    "https://index.example/v1/": { auth: basic },
    "127.0.0.1:5000": { identitytoken: "token" },
    "empty.example": {},
  },
});

function decoded(header: string | null): unknown {
  if (header === null) return null;
  expect(header).toMatch(/^[\w-]+=*$/);
  expect(header.length % 4).toBe(0);
  return JSON.parse(Buffer.from(header, "base64url").toString());
}

describe("registryAuthHeader", () => {
  it("finds the registry by its address or its host", () => {
    const expected = { username: "user", password: "pa:ss>?", serveraddress: "https://index.example/v1/" };
    expect(decoded(registryAuthHeader(config, "https://index.example/v1/"))).toEqual(expected);
    expect(decoded(registryAuthHeader(config, "index.example"))).toEqual(expected);
  });

  it("prefers an identity token", () => {
    expect(decoded(registryAuthHeader(config, "127.0.0.1:5000"))).toEqual({
      identitytoken: "token",
      serveraddress: "127.0.0.1:5000",
    });
  });

  it.each([
    ["another registry", config, "127.0.0.1:5001"],
    ["an entry without credentials", config, "empty.example"],
    ["a file that is no JSON", "{", "index.example"],
    ["a file without credentials", "{}", "index.example"],
  ])("has nothing for %s", (_, text, registry) => {
    expect(registryAuthHeader(text, registry)).toBeNull();
  });
});
