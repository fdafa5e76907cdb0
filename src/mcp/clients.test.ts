import { describe, expect, it } from "vitest";
import { mcpClients, type ClientPlace } from "./clients.ts";
import { entryText } from "./install-server.ts";

const place = (platform: NodeJS.Platform, environment: Record<string, string> = {}): ClientPlace => ({
  platform,
  homeDirectory: "/home/ann",
  environment,
  projectDirectory: "/project",
});
const files = (where: ClientPlace) =>
  Object.fromEntries(mcpClients.map(({ name, userFile }) => [name, userFile(where)]));

describe("the clients", () => {
  it("have their files in the user's folders", () => {
    expect(files(place("linux"))).toEqual({
      "claude-code": "/home/ann/.claude.json",
      "claude-desktop": "/home/ann/.config/Claude/claude_desktop_config.json",
      codex: "/home/ann/.codex/config.toml",
      cursor: "/home/ann/.cursor/mcp.json",
      gemini: "/home/ann/.gemini/settings.json",
      opencode: "/home/ann/.config/opencode/opencode.json",
      vscode: "/home/ann/.config/Code/User/mcp.json",
      windsurf: "/home/ann/.codeium/windsurf/mcp_config.json",
      zed: "/home/ann/.config/zed/settings.json",
    });
  });

  it("have some of them elsewhere on other systems", () => {
    expect(files(place("darwin"))).toMatchObject({
      "claude-desktop": "/home/ann/Library/Application Support/Claude/claude_desktop_config.json",
      vscode: "/home/ann/Library/Application Support/Code/User/mcp.json",
      zed: "/home/ann/.config/zed/settings.json",
    });
    const windows = { ...place("win32", { APPDATA: "D:\\Roaming" }), homeDirectory: "C:\\Users\\Ann Lee" };
    expect(files(windows)).toMatchObject({
      "claude-code": "C:\\Users\\Ann Lee\\.claude.json",
      "claude-desktop": "D:\\Roaming\\Claude\\claude_desktop_config.json",
      opencode: "C:\\Users\\Ann Lee\\.config\\opencode\\opencode.json",
      vscode: "D:\\Roaming\\Code\\User\\mcp.json",
      zed: "D:\\Roaming\\Zed\\settings.json",
    });
    expect(files({ ...windows, environment: {} })["zed"]).toBe(
      "C:\\Users\\Ann Lee\\AppData\\Roaming\\Zed\\settings.json",
    );
    expect(files(place("linux", { XDG_CONFIG_HOME: "/conf" }))["zed"]).toBe("/conf/zed/settings.json");
  });

  it("are told of the server in their own form", () => {
    const command = { command: "npx", args: ["--no", "glovebox@1.2.3", "mcp"] };
    for (const client of mcpClients) {
      expect(entryText(client, command)).toMatch(/"?glovebox"?/);
      expect(entryText(client, command)).toContain("npx");
    }
  });
});
