import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { groupOwner, success, useAgents } from "../helpers/agent-scene.ts";
import { DnsServer } from "../helpers/dns-server.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { FarSide } from "../helpers/far-side.ts";
import { getProgram } from "../helpers/network-scene.ts";

const hosts = await Promise.all(
  ["the model", "the index", "elsewhere"].map((name) => FarSide.start((_, response) => response.end(name))),
);
const [model, index, elsewhere] = hosts as [FarSide, FarSide, FarSide];
const names = new Set(["model.test", "index.test", "listed.test", "elsewhere.test"]);
const dns = await DnsServer.start((name) => (names.has(name) ? [{ a: "127.0.0.1" }] : undefined));
const listedAt = `listed.test:${elsewhere.port}`;
const network = {
  dns_servers: [dns.address],
  private_hosts: [`model.test:${model.port}`, `elsewhere.test:${elsewhere.port}`, listedAt],
  allow_open: true,
};

const home = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-home-")));
const inHome = (...parts: string[]): string => path.join(home, ...parts);
const allowlist = inHome(".config", "glovebox", "mount-allowlist.json");
for (const folder of [".config/glovebox", "extra/in", "extra/.ssh", "extra/draft", "outside"]) {
  mkdirSync(inHome(folder), { recursive: true, mode: 0o700 });
}
for (const file of ["extra/in/a.txt", "outside/a.txt"]) writeFileSync(inHome(file), "of this machine\n");
execFileSync("mkfifo", [inHome("extra/pipe")]);
// Agents run as a different user.
chmodSync(inHome("extra/in"), 0o777);
writeFileSync(
  allowlist,
  JSON.stringify({
    allowedRoots: [{ path: inHome("extra"), allowReadWrite: true }, { path: "/dev/null" }],
    blockedPatterns: ["draft"],
  }),
  { mode: 0o600 },
);
afterAll(() => {
  for (const each of [dns, ...hosts]) each.close();
  rmSync(home, { recursive: true });
});
const variables = {
  HOME: home,
  XDG_CONFIG_HOME: "",
  PI_BASE_URL: `http://model.test:${model.port}/v1`,
  PIP_INDEX_URL: `http://index.test:${index.port}/simple`,
};

/** What is refused, by rule. */
const refused = {
  "outside-roots": { hostPath: inHome("outside") },
  "blocked-pattern": { hostPath: inHome("extra/.ssh") },
  "configured-pattern": { hostPath: inHome("extra/draft") },
  missing: { hostPath: inHome("extra/absent") },
  "protected-place": { hostPath: "/dev/null" },
  "not-a-file-or-folder": { hostPath: inHome("extra/pipe") },
  "bad-target": { hostPath: inHome("extra/in"), containerPath: "../group" },
};
const inMain = { hostPath: inHome("extra/in"), readonly: false };
const groups = {
  family: {
    containerConfig: { additionalMounts: [{ hostPath: inHome("extra/in"), containerPath: "notes/in" }] },
  },
  other: { containerConfig: { additionalMounts: [inMain] } },
  main: { containerConfig: { additionalMounts: [inMain] } },
  ...Object.fromEntries(
    Object.entries(refused).map(([rule, mount]) => [rule, { containerConfig: { additionalMounts: [mount] } }]),
  ),
};

const get = (name: string, { port }: FarSide): string => `get http://${name}:${port}/`;
const asks = (...each: readonly string[]): string =>
  `get() { python3 -c '${getProgram}' "$1" 2>&1 | tail -1; }; ${each.join("; ")}; ${success("")}`;

describe.each(["docker", "podman"] as const)("what agents of groups have beside their folders, on %s", (engine) => {
  const logged: unknown[] = [];
  const log = (facts: unknown): void => void logged.push(facts);
  const logger = { debug: log, info: log, warn: log, error: log };
  const { run } = useAgents({ engine }, { groups }, variables, { network }, { logger });

  it("is the host of their model and listed ones: any other is refused, reported, and logged with the sandbox's id", async () => {
    elsewhere.forget();
    const all = [get("model.test", model), get("listed.test", elsewhere), get("elsewhere.test", elsewhere)];
    const result = await run(asks(...all), { network: [listedAt] });
    expect(result).toMatchObject({ status: "success" });
    expect(result.output).toMatch(/^the model\nelsewhere\n.*HTTP Error 403.*\n$/);
    expect(elsewhere.requests).toEqual([`GET ${listedAt}/`]);
    const target = `elsewhere.test:${elsewhere.port}`;
    expect(result.warnings.join("\n")).toContain("elsewhere.test");
    expect(result.alerts).toContainEqual(expect.objectContaining({ kind: "network" }));
    const denial = expect.objectContaining({ target, rule: "not_allowed" }) as unknown;
    expect(logged).toContainEqual({ sandbox: result.sandbox_id, denial });
  });

  it("is the package registries too where that is asked for, and no third host", async () => {
    const all = [get("model.test", model), get("index.test", index), get("elsewhere.test", elsewhere)];
    const result = await run(asks(...all, 'echo "$PIP_INDEX_URL"'), { network: "registries" });
    expect(result.output).toMatch(/^the model\nthe index\n.*HTTP Error 403.*\nhttp:\/\/index\.test:\d+\/simple\n$/);
    expect(result.warnings.join("\n")).toContain(`elsewhere.test:${elsewhere.port} (not_allowed)`);
  });

  it("is every public name where the deployment allows that, and their model at its own port", async () => {
    const result = await run(asks(get("model.test", model), "get http://index.test/"), { network: "open" });
    expect(result.output).toMatch(/^the model\n.*HTTP Error 403.*\n$/);
    expect(result.warnings.join("\n")).toContain("index.test:80 (private_address)");
  });

  it("are folders that the allowlist has, below /workspace/extra: read-only but for the main group", async () => {
    const script = `cat /workspace/extra/notes/in/a.txt; touch /workspace/extra/notes/in/b 2>&1; ${success("")}`;
    const readOnly = await run(script);
    expect(readOnly.output).toContain("of this machine\n");
    expect(readOnly.output).toContain("Read-only file system");
    const other = await run(`touch /workspace/extra/in/b 2>&1; ${success("")}`, { group: "other" });
    expect(other.output).toContain("Read-only file system");
    expect(other.warnings.join("\n")).toContain("only the main group may write to additional mounts");
    const own = await run(`touch /workspace/extra/in/made 2>&1; ${success("")}`, { group: "main", main: true });
    expect(own).toMatchObject({ status: "success", output: "" });
    expect(statSync(inHome("extra/in/made"))).toMatchObject(groupOwner);
    rmSync(inHome("extra/in/made"));
  });

  it.each(Object.keys(refused))("are refused by the rule %s before anything starts", async (group) => {
    const rule = group === "configured-pattern" ? "blocked-pattern" : group;
    const isWrong = ["outside-roots", "missing", "not-a-file-or-folder", "bad-target"].includes(rule);
    const failure = await failureOf(run(success(""), { group }), isWrong ? "INVALID_REQUEST" : "POLICY_DENIED");
    const field = `agents.groups.${group}.containerConfig.additionalMounts.0`;
    expect(failure).toMatchObject({ context: { field, rule } });
    expect(failure.message).toContain(`refused by the rule ${rule}`);
  });

  it("are none without an allowlist", async () => {
    const text = readFileSync(allowlist);
    rmSync(allowlist);
    try {
      const failure = await failureOf(run(success("")), "POLICY_DENIED");
      expect(failure).toMatchObject({ context: { rule: "no-allowlist" } });
    } finally {
      writeFileSync(allowlist, text, { mode: 0o600 });
    }
  });
});
