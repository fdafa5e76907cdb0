import { describe, expect, it } from "vitest";
import { bunPlatformPackages } from "./bun-binary.ts";

describe("bunPlatformPackages", () => {
  it("asks for the host's C library first, and for the other one then", () => {
    expect(bunPlatformPackages("x64", false)).toEqual(["@oven/bun-linux-x64", "@oven/bun-linux-x64-musl"]);
    expect(bunPlatformPackages("arm64", true)).toEqual(["@oven/bun-linux-aarch64-musl", "@oven/bun-linux-aarch64"]);
  });
});
