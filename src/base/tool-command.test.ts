import { describe, expect, it } from "vitest";
import { toolCommand } from "./tool-command.ts";

describe("toolCommand", () => {
  it.each(["linux", "darwin"] as const)("starts the tool itself on %s, whatever its words are", (platform) => {
    expect(toolCommand("npm", ["pack", "a b&c"], platform)).toEqual(["npm", ["pack", "a b&c"]]);
  });

  it("goes through the shell on Windows, where npm is a script", () => {
    const words = ["pack", "@oven/bun-linux-x64@1.4.5", "--pack-destination", ".", "--json"];
    expect(toolCommand("npm", words, "win32")).toEqual(["cmd.exe", ["/d", "/s", "/c", "npm", ...words]]);
  });

  it.each(["a b", "a&calc", "%PATH%", "a^b", 'a"b', "C:\\Users\\Ann Lee", ""])(
    "gives the shell no word that it could read otherwise: %j",
    (word) => {
      expect(() => toolCommand("npm", [word], "win32")).toThrow("no word");
    },
  );
});
