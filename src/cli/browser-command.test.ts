import { expect, it } from "vitest";
import { browserCommand } from "./browser-command.ts";

const address = "http://a.localhost:8420/?x=1&y=%20";

it.each([
  ["linux", ["xdg-open", [address]]],
  ["freebsd", ["xdg-open", [address]]],
  ["darwin", ["open", [address]]],
  ["win32", ["rundll32", ["url.dll,FileProtocolHandler", address]]],
] as const)("opens an address on %s with its own program, as one word", (platform, command) => {
  expect(browserCommand(address, platform)).toEqual(command);
});
