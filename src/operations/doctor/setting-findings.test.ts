import { describe, expect, it } from "vitest";
import type { EngineConnection, EngineSetup } from "../../engines/engine-setup.ts";
import { settingFindings, type Surroundings } from "./setting-findings.ts";

const quiet: EngineSetup = {
  connection: { kind: "socket", tls: null, remote: false, origin: "the default socket" },
  kernel: "6.1.0",
  containerRoot: "rootless",
  accessControl: ["apparmor"],
};

function found(setup: EngineSetup, others: Partial<Surroundings> = {}): readonly string[] {
  const kernel = { release: "6.1.0", corePattern: "core", processorFaults: [] };
  return settingFindings({ setup, kernel, isRoot: false, hints: {}, ...others }).map(
    ({ severity, what }) => `${severity}: ${what}`,
  );
}

const tcp: EngineConnection = { kind: "tcp", tls: null, remote: true, origin: "DOCKER_HOST" };

describe("settingFindings", () => {
  it("has nothing to say of a careful set-up, and of one that tells nothing", () => {
    expect(found(quiet)).toEqual([]);
    expect(found({})).toEqual([]);
  });

  it.each([
    [tcp, [/^danger: .*plain TCP \(DOCKER_HOST\)/, /^note: .*another machine/]],
    [{ ...tcp, remote: false }, [/^warning: .*plain TCP/]],
    [{ ...tcp, tls: "unverified" }, [/^danger: .*not verified/, /^note: .*another machine/]],
    [{ ...tcp, tls: "unverified", remote: false }, [/^warning: .*not verified/]],
    [{ ...tcp, tls: "verified" }, [/^note: .*another machine/]],
    [{ ...tcp, tls: "verified", remote: false }, []],
    [{ ...tcp, kind: "ssh" }, [/^note: .*another machine/]],
  ] as const)("of the connection %j", (connection, expected) => {
    const lines = found({ ...quiet, connection });
    expect(lines).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(lines[index]).toMatch(pattern);
  });

  it.each([
    [{ openAddresses: ["http://0.0.0.0:2375"] }, /^danger: .*open to anyone who can reach http:\/\/0\.0\.0\.0:2375/],
    [{ openAddresses: ["http://localhost.example.org:2375"] }, /^danger/],
    [{ openAddresses: ["https://127.0.0.1:2376"] }, /^warning: .*open/],
    [{ openAddresses: ["http://[::1]:2375"] }, /^warning: .*open/],
    [{ accessControl: [] }, /^note: Neither AppArmor nor SELinux/],
    [{ setuid: true }, /^warning: .*setuid/],
  ] as const)("of %j", (change, expected) => {
    expect(found({ ...quiet, ...change })).toEqual([expect.stringMatching(expected)]);
  });

  it("says that there is no user namespace", () => {
    const lines = found({ ...quiet, containerRoot: "root" }, { isRoot: true });
    expect(lines).toEqual([expect.stringMatching(/^note: .*no user namespace/)]);
  });

  it("says what it means that this user may talk to an engine of root's", () => {
    const asRoot = /^note: This user can talk to an engine that runs as root/;
    const remapped = { ...quiet, containerRoot: "remapped" } as const;
    expect(found(remapped)).toEqual([expect.stringMatching(asRoot)]);
    expect(found(remapped, { isRoot: true })).toEqual([]);
    expect(found({ ...remapped, kernel: "6.6.0-linuxkit" }), "root of a machine inside this one").toEqual([]);
  });

  it("minds faults of the processor where sandboxes share this kernel", () => {
    const kernel = { release: "6.1.0", corePattern: "core", processorFaults: ["l1tf", "mds"] };
    expect(found(quiet, { kernel })).toEqual([
      expect.stringMatching(/^note: The processor has unmitigated .*l1tf, mds/),
    ]);
    expect(found({ ...quiet, kernel: "6.6.0-linuxkit" }, { kernel })).toEqual([]);
  });

  it("minds root where sandboxes are this process's own work", () => {
    expect(found({ inProcess: true }, { isRoot: true })).toEqual([expect.stringMatching(/^note: .*as root/)]);
    expect(found({ inProcess: true })).toEqual([]);
    expect(found(quiet, { isRoot: true })).toEqual([]);
  });

  it("minds what a crash starts where sandboxes share this kernel", () => {
    const corePattern = "|/usr/lib/systemd/systemd-coredump %P";
    const kernel = { release: "6.1.0", corePattern, processorFaults: [] };
    expect(found(quiet, { kernel })).toEqual([expect.stringMatching(/^note: A crash starts a host program/)]);
    expect(found({ ...quiet, kernel: "6.6.0-linuxkit" }, { kernel })).toEqual([]);
    expect(found({}, { kernel: { ...kernel, release: null } })).toEqual([]);
  });

  it("gives advice in the engine's own words", () => {
    const setup: EngineSetup = { connection: { ...tcp, kind: "socket" }, kernel: "6.1.0", containerRoot: "root" };
    const kernel = { release: "6.1.0", corePattern: "core", processorFaults: [] };
    const hints = {
      access: "by the group boats",
      userNamespaces: "remap-boats",
      strongerRuntime: { name: "hull", product: "Hull" },
    };
    const told = (words: Surroundings["hints"]): string =>
      JSON.stringify(settingFindings({ setup, kernel, isRoot: false, hints: words }));
    expect(told(hints)).toMatch(/rootless or with user namespaces \(remap-boats\), or install Hull \(hull\)\./);
    expect(told(hints)).toContain("an engine that runs as root (by the group boats).");
    expect(told({})).toContain("Run the engine rootless or with user namespaces.");
  });

  it("names the engine's own way to encrypt", () => {
    const kernel = { release: "6.1.0", corePattern: "core", processorFaults: [] };
    const findings = settingFindings({
      setup: { connection: tcp },
      kernel,
      isRoot: false,
      hints: { encryption: "mTLS" },
    });
    expect(findings[0]?.fix).toMatch(/^Use mTLS, or the local socket/);
  });
});
