import { describe, expect, it } from "vitest";
import { bunPlatformPackages } from "./host-bun.ts";

describe("bunPlatformPackages", () => {
  it("asks for the host's C library first, and for the other one then", () => {
    expect(bunPlatformPackages("x64", { platform: "linux", musl: false })).toEqual([
      "@oven/bun-linux-x64",
      "@oven/bun-linux-x64-musl",
    ]);
    expect(bunPlatformPackages("arm64", { platform: "linux", musl: true })).toEqual([
      "@oven/bun-linux-aarch64-musl",
      "@oven/bun-linux-aarch64",
    ]);
  });

  it("knows other systems' names", () => {
    expect(bunPlatformPackages("arm64", { platform: "darwin", musl: false })).toEqual(["@oven/bun-darwin-aarch64"]);
    expect(bunPlatformPackages("x64", { platform: "win32", musl: false })).toEqual(["@oven/bun-windows-x64"]);
  });
});
