import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";
import { installNodes, nodeIn, nodeVersions } from "../package/node-versions.ts";
import { PackedPackage } from "../package/packed-package.ts";

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-nodes-"));
/** Read before the tests' registry replaces the machine's own. */
const problem = installNodes(folder);
/** The package as users get it: a checkout's sources need its own Node. */
const built = new PackedPackage();
const mainFile = path.join(built.folder, "dist/cli/main.js");
const registry = await PackageRegistry.start();
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": "module.exports = 'tiny';\n" } });
const scene = await openNetworkScene();
afterAll(() => {
  registry[Symbol.dispose]();
  scene[Symbol.dispose]();
  built[Symbol.dispose]();
  // Package folders are read-only.
  execFileSync("chmod", ["-R", "u+w", folder]);
  rmSync(folder, { recursive: true });
});

describe.each(nodeVersions)("under Node %i", (version) => {
  useGlovebox("local");
  beforeEach((context) => {
    if (problem === null) return;
    // If tests are mandatory, so is the registry that the checkout itself was installed from.
    if (process.env["GLOVEBOX_TEST_REQUIRE"]) throw new Error(problem);
    context.skip(problem);
  });
  const node = nodeIn(folder, version);
  const glovebox = (
    argv: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<CommandResult> =>
    runCommand(["run", "--engine", "local", ...argv], { command: [node, mainFile], environment });
  const privateHosts = (hosts: readonly string[] = [], servers: readonly string[] = []): Record<string, string> => ({
    GLOVEBOX_NETWORK_PRIVATE_HOSTS: hosts.join(","),
    GLOVEBOX_NETWORK_DNS_SERVERS: servers.join(","),
  });

  it("programs run", async () => {
    expect(existsSync(node)).toBe(true);
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(new RegExp(`^v${version}\\.`));
    expect(await glovebox(["-c", "print(6 * 7)"])).toMatchObject({ exitCode: 0, stdout: "42\n" });
    const typescript = "enum Answer { Six = 6 }\nconst six: number = Answer.Six; console.log(six * 7)";
    const result = await glovebox(["--language", "typescript", "-c", typescript]);
    expect(result).toMatchObject({ exitCode: 0, stdout: "42\n", stderr: "" });
  });

  it("programs reach what their network lists, and nothing else", async () => {
    const { webAt, settings } = scene;
    const environment = privateHosts(settings.network["private_hosts"], settings.network["dns_servers"]);
    const result = await glovebox(["--network", webAt, "-c", getProgram, "--", `http://${webAt}/`], environment);
    expect(result).toMatchObject({ exitCode: 0, stdout: `hello from ${webAt}\n`, stderr: "" });
    const refused = await glovebox(
      ["--network", "other.test", "-c", getProgram, "--", `http://${webAt}/`],
      environment,
    );
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("refused a connection");
  });

  it("packages are installed", async () => {
    const { private_hosts: hosts, dns_servers: servers } = registry.network;
    const environment = {
      ...privateHosts(hosts, servers),
      GLOVEBOX_PACKAGES_DIR: path.join(folder, `packages-${version}`),
    };
    const argv = ["--language", "javascript", "--packages", "gb-tiny", "-c", "console.log(require('gb-tiny'))"];
    expect(await glovebox(argv, environment)).toMatchObject({ exitCode: 0, stdout: "tiny\n" });
  });

  it("an agent is served, one program after another, in namespaces and at level preload", async () => {
    const inNamespaces = [node, mainFile];
    const close = 'for kind in user mnt; do echo 0 >"/proc/sys/user/max_${kind}_namespaces"; done; exec "$@"';
    const atPreload = ["unshare", "--user", "--map-root-user", "sh", "-c", close, "sh", ...inNamespaces];
    for (const [isolation, [command = "", ...rest]] of [
      ["namespaces", inNamespaces],
      ["preload", atPreload],
    ] as const) {
      const client = new Client({ name: "test", version: "1" });
      await client.connect(
        new StdioClientTransport({ command, args: [...rest, "mcp"], env: gloveboxEnvironment(), stderr: "inherit" }),
      );
      try {
        for (const number of [1, 2]) {
          const code = `const word: string = "program"; console.log(word, ${number})`;
          const { structuredContent } = await client.callTool({ name: "run_code", arguments: { code } });
          expect(structuredContent).toMatchObject({ outcome: "completed", stdout: `program ${number}\n`, isolation });
        }
      } finally {
        await client.close();
      }
    }
  });
});
