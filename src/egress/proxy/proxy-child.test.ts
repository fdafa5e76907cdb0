import { describe, expect, it } from "vitest";
import { proxyCommand } from "./proxy-child.ts";

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
