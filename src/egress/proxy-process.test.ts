import { expect, it, describe } from "vitest";
import { proxyAddress, proxyCommand } from "./proxy-process.ts";

it.each([
  ["linux", "/tmp", "\0egress-1"],
  ["darwin", "/var/folders/ab/T", "/var/folders/ab/T/egress-1.sock"],
  ["win32", "C:\\Users\\ann\\AppData\\Local\\Temp", "\\\\.\\pipe\\egress-1"],
] as const)("is what %s has for processes of one machine", (platform, temporaryDirectory, address) => {
  expect(proxyAddress("egress-1", { platform, temporaryDirectory })).toBe(address);
});

const place = { script: "/g/egress/proxy/proxy-main.js", sources: "/g/" };
const nodeThatKnows = (...flags: readonly string[]): { executable: string; flags: ReadonlySet<string> } => ({
  executable: "/n/node",
  flags: new Set(flags),
});

describe("proxyCommand", () => {
  it("lets a Node that cuts programs off from the network have it, and tells no other of a flag it does not know", () => {
    expect(proxyCommand({ platform: "linux", node: nodeThatKnows("--allow-net") }, place)).toContain("--allow-net");
    expect(proxyCommand({ platform: "linux", node: nodeThatKnows() }, place)).not.toContain("--allow-net");
  });

  it("limits the process where there is a shell to do it, and runs the same command elsewhere", () => {
    const [file, flag, script, name, ...command] = proxyCommand({ platform: "linux", node: nodeThatKnows() }, place);
    expect([file, flag, name]).toEqual(["/bin/sh", "-c", "sh"]);
    expect(script).toContain("ulimit");
    expect(proxyCommand({ platform: "darwin", node: nodeThatKnows() }, place)).toEqual(command);
    expect([command[0], command.at(-1)]).toEqual(["/n/node", "/g/egress/proxy/proxy-main.js"]);
  });

  it("is Node itself on Windows, with every path as one word", () => {
    const node = { executable: "C:\\Program Files\\nodejs\\node.exe", flags: new Set<string>() };
    const windows = { script: "C:\\a b\\proxy-main.js", sources: "C:\\a b\\" };
    const [file, ...words] = proxyCommand({ platform: "win32", node }, windows);
    expect(file).toBe(node.executable);
    expect(words).toEqual(expect.arrayContaining(["--permission", "--allow-fs-read=C:\\a b\\", windows.script]));
  });
});
