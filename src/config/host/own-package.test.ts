import { describe, expect, it } from "vitest";
import { ownCommand } from "./own-package.ts";

const node = { platform: "linux", executable: "/usr/bin/node", portable: false, version: "1.2.3" } as const;
const windows = { ...node, platform: "win32", executable: String.raw`C:\node.exe` } as const;
const installed = "file:///app/node_modules/glovebox/dist/config/host/own-package.js";
const npx = { command: "npx", args: ["--no", "glovebox@1.2.3"] };

describe("ownCommand", () => {
  it("is the path of a checkout, also for others", () => {
    const here = "file:///src/glovebox/src/config/host/own-package.ts";
    const command = { command: "/src/glovebox/bin/glovebox", args: [] };
    expect(ownCommand(node, here)).toEqual(command);
    expect(ownCommand({ ...node, portable: true }, here)).toEqual(command);
    expect(ownCommand(windows, "file:///C:/glovebox/src/config/host/own-package.ts")).toEqual({
      command: windows.executable,
      args: [String.raw`C:\glovebox\src\cli\main.ts`],
    });
  });

  it("is the path of an installed package, which is found from any folder", () => {
    const args = ["/app/node_modules/glovebox/dist/cli/main.js"];
    expect(ownCommand(node, installed)).toEqual({ command: "/usr/bin/node", args });
    expect(ownCommand(windows, "file:///C:/app/node_modules/glovebox/dist/config/host/own-package.js")).toEqual({
      command: windows.executable,
      args: [String.raw`C:\app\node_modules\glovebox\dist\cli\main.js`],
    });
  });

  it("is what a project has installed where others read it too, and of that version alone", () => {
    expect(ownCommand({ ...node, portable: true }, installed)).toEqual(npx);
    expect(ownCommand({ ...windows, portable: true }, "file:///C:/app/dist/config/host/own-package.js")).toEqual({
      command: "cmd",
      args: ["/c", "npx", "--no", "glovebox@1.2.3"],
    });
  });

  it.each([
    "file:///home/me/.npm/_npx/1f2e/node_modules/glovebox/dist/config/host/own-package.js",
    "file:///home/me/.cache/pnpm/dlx/ab/node_modules/glovebox/dist/config/host/own-package.js",
    "file:///tmp/xfs-1/dlx-77/node_modules/glovebox/dist/config/host/own-package.js",
    "file:///tmp/bunx-0-glovebox@latest/node_modules/glovebox/dist/config/host/own-package.js",
  ])("is refused when it was fetched for one run: %s", (here) => {
    expect(() => ownCommand(node, here)).toThrow(/downloaded for a single run/);
  });
});
