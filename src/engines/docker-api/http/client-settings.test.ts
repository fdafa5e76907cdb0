import { describe, expect, it } from "vitest";
import { parseSshAddress } from "./client-settings.ts";

describe("parseSshAddress", () => {
  it.each([
    ["box", { host: "box" }],
    ["box/", { host: "box" }],
    ["me@build-1.example:2222", { user: "me", host: "build-1.example", port: 2222 }],
    [
      "core@[fe80::1]:22/run/user/1000/docker.sock",
      {
        ...{ user: "core", host: "fe80::1", port: 22 },
        socketPath: "/run/user/1000/docker.sock",
      },
    ],
  ])("reads %s", (text, expected) => {
    expect(parseSshAddress(text)).toEqual(expected);
  });

  it.each([
    ["no host", ""],
    ["a user only", "me@"],
    ["an option as the host", "-oProxyCommand=touch${IFS}x"],
    ["an option as the host, with a user", "me@-oProxyCommand=x"],
    ["an option as the user", "-oProxyCommand=x@box"],
    ["a host that a shell would run", "$(id)"],
    ["a user that a shell would run", "`id`@box"],
    ["a host of two words", "box other"],
    ["a line break", "box\nother"],
    ["a password", "me:secret@box"],
    ["a port that is none", "box:0"],
    ["a port too high", "box:65536"],
    ["a path that a shell would split", "box/run/a b.sock"],
    ["a path that a shell would run", "box/run/$(id)"],
    ["a query", "box/run/docker.sock?x"],
  ])("refuses %s", (_, text) => {
    expect(parseSshAddress(text)).toBeNull();
  });
});
