import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

const registry = await PackageRegistry.start();
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": "module.exports = 'tiny';\n" } });
registry.addNpm({ name: "gb-other", version: "1.0.0", files: { "index.js": `//${"x".repeat(100_000)}\n` } });
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

const { private_hosts: privateHosts, dns_servers: dnsServers } = registry.network;
const glovebox = (...argv: readonly string[]): Promise<CommandResult> =>
  runCommand(argv, {
    environment: {
      GLOVEBOX_NETWORK_PRIVATE_HOSTS: privateHosts.join(","),
      GLOVEBOX_NETWORK_DNS_SERVERS: dnsServers.join(","),
      GLOVEBOX_PACKAGES_DIR: folder,
    },
  });
const run = (packages: string, code: string): Promise<CommandResult> =>
  glovebox("run", "--engine", "local", "--language", "javascript", "--packages", packages, "-c", code);

describe("glovebox packages", () => {
  useGlovebox("local");

  it("are there for a run, and kept for a later command", async () => {
    expect(await run("gb-tiny@1.0.0, gb-other", "console.log(require('gb-tiny'))")).toMatchObject({
      exitCode: 0,
      stdout: "tiny\n",
    });
    registry.forget();
    expect((await run("gb-other,gb-tiny@1.0.0", "console.log(require('gb-tiny'))")).stdout).toBe("tiny\n");
    expect(registry.downloads("")).toBe(0);
  });

  it("are listed, measured and pruned", async () => {
    await run("gb-tiny", "1");
    const list = await glovebox("packages");
    expect(list.stdout).toMatch(
      /^PACKAGES .* IN USE\ngb-tiny@1\.\S+ +(?:bun|npm) +node-.* local host \w{12} .* no\ngb-other@\S+ gb-tiny@1\.0\.0 /,
    );
    // Whole blocks count, and so do folders.
    expect((await glovebox("packages", "size")).stdout).toBe("0.18 MB of 10240 MB in 2 sets\n");
    expect(JSON.parse((await glovebox("packages", "list", "--json")).stdout)).toMatchObject({
      sets: [{ requested: ["gb-tiny"] }, { requested: ["gb-other", "gb-tiny@1.0.0"], packages: expect.any(Array) }],
      max_mb: 10_240,
    });
    const pruned = await glovebox("packages", "prune", "--to", "50k", "--json");
    expect(JSON.parse(pruned.stdout)).toMatchObject({
      removed: [{ requested: ["gb-other", "gb-tiny@1.0.0"] }],
      size_mb: 0.04,
    });
    expect((await glovebox("packages", "prune", "--all")).stdout).toContain("1 removed, 0 MB left\n");
    expect((await glovebox("packages")).stdout).toBe("No packages are kept yet.\n");
  });

  it.each([
    ["prune", "--to", "much", "--json"],
    ["--json", "prune", "--to", "much"],
  ])("tell of an error in the form that was asked for: %s %s %s %s", async (...argv) => {
    const { stdout } = await glovebox("packages", ...argv);
    expect(JSON.parse(stdout)).toMatchObject({ error: { error_type: "INVALID_REQUEST" } });
  });

  it("that cannot be installed end the command with the reason", async () => {
    const { exitCode, stderr, stdout } = await run("gb-no-such", "console.log('RAN')");
    expect({ exitCode, stdout }).toEqual({ exitCode: 125, stdout: "" });
    expect(stderr).toMatch(/^glovebox: PACKAGE_INSTALL_FAILED: Installing gb-no-such failed: .*404/);
  });
});
