import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { ExecuteRequest, ExecuteResponse } from "../helpers/wire-glovebox.ts";
import { DnsServer } from "../helpers/dns-server.ts";
import { FarSide } from "../helpers/far-side.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

/** Wheels of Debian's python3-pip-whl and python3-setuptools-whl. */
const wheelFolder = "/usr/share/python-wheels";
const wheels = existsSync(wheelFolder) ? readdirSync(wheelFolder).filter((name) => name.startsWith("setuptools-")) : [];

/** Why the registry that this machine's npm uses is not available; null if it answers. */
const npmFault = ((): string | null => {
  try {
    execFileSync("npm", ["view", "is-number", "version"], { stdio: "ignore", timeout: 30_000 });
    return null;
  } catch (error) {
    return `this machine's npm registry does not answer (${String(error).slice(0, 80)})`;
  }
})();

const indexes = await Promise.all([1, 2].map(() => FarSide.start(serveIndex)));
const [index, files] = indexes as [FarSide, FarSide];
const dns = await DnsServer.start(() => [{ a: "127.0.0.1" }]);
process.env["PIP_INDEX_URL"] = `http://index.test:${index.port}/simple`;

/** A simple index whose files are on another host. */
function serveIndex(...[request, response]: Parameters<Parameters<typeof FarSide.start>[0]>): void {
  const path = request.url ?? "";
  const wheel = wheels.find((name) => path === `/files/${name}`);
  if (wheel !== undefined) return void response.end(readFileSync(join(wheelFolder, wheel)));
  if (!/^\/simple\/(pip|setuptools)\/$/.test(path)) return void response.writeHead(404).end();
  const links = wheels.map((name) => `<a href="http://files.test:${files.port}/files/${name}">${name}</a>`);
  response
    .writeHead(200, { "content-type": "text/html" })
    .end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
}

afterAll(() => {
  delete process.env["PIP_INDEX_URL"];
  for (const each of [dns, ...indexes]) each.close();
});

const install = (command: string): string => `
const { execFileSync } = require("node:child_process");
const run = (words) => execFileSync(words[0], words.slice(1), { cwd: "/work", encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
run(${command});
console.log("is", require("/work/node_modules/is-number")(5));
fetch("https://example.com/").then(() => console.log("REACHED"), () => console.log("refused"));
`;

describe.each(engines)("npm's registry on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: testImages } });
  beforeEach((context) => {
    if (npmFault !== null) context.skip(npmFault);
  });
  const command =
    engine === "local"
      ? '["bun", "add", "is-number"]'
      : '["npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", "is-number"]';

  it("serves an installation, and nothing else is reached", async () => {
    const response = await glovebox().execute({
      language: "javascript",
      code: install(command),
      network: "registries",
      timeout_seconds: 60,
      limits: { memory_mb: 1024 },
    });
    expect(response.stdout, response.stderr).toBe("is true\nrefused\n");
  });

  it("is out of reach without the policy", async () => {
    const response = await glovebox().execute({ language: "javascript", code: install(command), timeout_seconds: 60 });
    expect(response.outcome).not.toBe("completed");
  });
});

it("bun in a container installs through the proxy, too", async (context) => {
  if (npmFault !== null) context.skip(npmFault);
  const { createGlovebox } = await import("../helpers/wire-glovebox.ts");
  const image = process.env["GLOVEBOX_TEST_IMAGE_BUN"] ?? "glovebox-test/bun:1";
  const glovebox = await createGlovebox({ engine: "docker", settings: { images: { ...testImages, python: image } } });
  try {
    const code = "import subprocess\nsubprocess.run(['bun', 'add', 'is-number'], cwd='/work', check=True)";
    const response = await glovebox.execute({ language: "python", code, network: "registries", timeout_seconds: 60 });
    expect(response.stdout, response.stderr).toContain("installed is-number@");
  } finally {
    await glovebox.close();
  }
});

describe.each(engines)("pip's index on %s", (engine) => {
  const trusting = (hosts: readonly string[]): Parameters<typeof useGlovebox>[1] => ({
    settings: { images: testImages, network: { dns_servers: [dns.address], private_hosts: hosts } },
  });
  const glovebox = useGlovebox(engine, trusting([`files.test:${files.port}`]));
  const wary = useGlovebox(engine, trusting([]));
  beforeEach((context) => {
    if (wheels.length === 0) context.skip(`no wheels in ${wheelFolder} (Debian: python3-setuptools-whl)`);
  });
  const request: ExecuteRequest = {
    language: "python",
    code: "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-m', 'pip', 'install', '--no-cache-dir', '--no-input', '--retries', '0', '--target', '/work/packages', 'setuptools']).returncode)",
    network: "registries",
    timeout_seconds: 60,
    limits: { memory_mb: 1024 },
  };

  it("serves an installation, from the private address that the host is set up for", async () => {
    const response: ExecuteResponse = await glovebox().execute(request);
    expect(response.stdout, response.stderr).toContain("Successfully installed setuptools");
  });

  it("makes no private address of the files' host reachable that the operator did not name", async () => {
    const response = await wary().execute(request);
    expect(response).toMatchObject({
      outcome: "policy_denied",
      error: { context: { denials: [{ target: `files.test:${files.port}`, rule: "private_address" }] } },
    });
  });
});
