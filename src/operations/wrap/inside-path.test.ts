import { describe, expect, it } from "vitest";
import { insidePath } from "./inside-path.ts";

const target = "/workspace/extra/docs";

describe("paths in the command of a server", () => {
  it.each(["linux", "darwin"] as const)("are those of the sandbox on %s", (platform) => {
    const mounts = [{ hostPaths: ["/home/me/link", "/srv/docs"], target }];
    const inside = (text: string): string => insidePath(text, mounts, platform);
    expect(["/srv/docs", "/srv/docs/a/b", "--root=/home/me/link/x"].map(inside)).toEqual([
      target,
      `${target}/a/b`,
      `--root=${target}/x`,
    ]);
    const others = ["/srv/docs2", "/srv", "docs", "--root=docs", "", "https://x/srv/docs", "/srv/docs/../keys"];
    expect(others.map(inside)).toEqual(others);
  });

  it("have the sandbox's slashes on win32", () => {
    const mounts = [{ hostPaths: ["C:\\docs"], target }];
    expect(insidePath("--root=C:\\docs\\a\\b", mounts, "win32")).toBe(`--root=${target}/a/b`);
    expect(insidePath("D:\\docs", mounts, "win32")).toBe("D:\\docs");
  });
});
