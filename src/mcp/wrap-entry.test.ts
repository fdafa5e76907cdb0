import { describe, expect, it } from "vitest";
import { unwrapEntry, wrapEntry } from "./install-server.ts";

const own = { command: "/bin/glovebox", args: ["main.js"] };
const wrapped = [
  "main.js",
  "mcp",
  "wrap",
  "--network",
  "x.example",
  "--env",
  "KEY",
  "--",
  "npx",
  "-y",
  "server",
  "--",
  "a",
];
const words = ["npx", "-y", "server", "--", "a"];

describe("a client's entry of a server", () => {
  it.each([
    [
      { type: "stdio", command: "npx", args: words.slice(1), env: { KEY: "v" } },
      { type: "stdio", command: own.command, args: wrapped, env: { KEY: "v" } },
    ],
    [
      { command: words, environment: { KEY: "v" }, enabled: true },
      { command: [own.command, ...wrapped], environment: { KEY: "v" }, enabled: true },
    ],
  ])("%j is wrapped, wrapped anew, and unwrapped", (entry, expected) => {
    const options = ["--network", "x.example"];
    expect(wrapEntry(entry, own, options)).toEqual(expected);
    expect(wrapEntry(wrapEntry(entry, own, ["--network", "old.example"]), own, options)).toEqual(expected);
    expect(unwrapEntry(expected)).toEqual(entry);
  });

  it.each([{ url: "https://x" }, { command: 7 }, {}])("%j is refused", (entry) => {
    expect(() => wrapEntry(entry, own, [])).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });

  it("that is not wrapped is not unwrapped", () => {
    expect(() => unwrapEntry({ command: "npx", args: ["mcp", "wrap"] })).toThrow(/not wrapped/);
  });
});
