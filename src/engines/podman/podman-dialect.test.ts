import { describe, expect, it } from "vitest";
import type { CreateCircumstances } from "../docker-api/dialect.ts";
import { engineComponents } from "../docker-api/engine-setup.ts";
import { podmanDialect } from "./podman-dialect.ts";

const dialect = podmanDialect({ shareProfile: () => Promise.resolve("/profile.json"), platform: "linux" });
const connectionHere = { kind: "socket", tls: null, remote: false, origin: "CONTAINER_HOST" } as const;
const podman = (version: string): object => ({
  Os: "linux",
  Components: [{ Name: "Podman Engine", Version: version }],
});

describe("podmanDialect", () => {
  it("takes Podman 4 and newer for itself, and tells its own version", () => {
    expect(dialect.foreignness(podman("4.3.1"))).toBeNull();
    expect(dialect.foreignness(podman("5.0.0-dev"))).toBeNull();
    expect(dialect.version({ ...podman("4.3.1"), Version: "1.41" })).toBe("4.3.1");
  });

  it("tells its version and its parts from its own account, and asks for no other", async () => {
    const asked: string[] = [];
    const own = {
      host: {
        conmon: { version: "conmon version 2.1.6, commit: unknown" },
        ociRuntime: { name: "crun", version: "crun version 1.8.1" },
      },
      version: { Version: "4.3.1" },
    };
    const describe = <T extends object>(path: string): Promise<T> => {
      asked.push(path);
      return Promise.resolve((path.includes("libpod") ? own : { DockerRootDir: "/r" }) as T);
    };
    const { version, machine } = await dialect.examine(describe, connectionHere);
    expect(asked).toEqual(["/info", "/v4.0.0/libpod/info"]);
    expect([dialect.foreignness(version), dialect.version(version)]).toEqual([null, "4.3.1"]);
    expect(engineComponents(version)).toEqual([
      { name: "Podman Engine", version: "4.3.1" },
      { name: "Conmon", version: "2.1.6" },
      { name: "crun", version: "1.8.1" },
    ]);
    expect(machine.DockerRootDir).toBe("/r");
  });

  it.each([
    ["Docker, which has no such account", { Components: [{ Name: "Engine" }] }, "What answers on Podman's endpoint"],
    ["an old Podman", podman("3.4.4"), "3.4.4"],
    ["a Podman that fails at it", podman("5.1.0"), "no answer"],
  ])("names %s", async (_, version, reason) => {
    const describe = <T extends object>(path: string): Promise<T> =>
      path === "/version" ? Promise.resolve(version as T) : Promise.reject(new Error("no answer"));
    await expect(dialect.examine(describe, connectionHere)).rejects.toThrow(reason);
  });

  it.each([
    ["an older one", podman("3.4.4"), "3.4.4"],
    ["Docker", { Os: "linux", Components: [{ Name: "Engine" }] }, "not Podman"],
    ["what tells no parts", {}, "not Podman"],
  ])("refuses %s", (_, answer, word) => {
    expect(dialect.foreignness(answer)?.reason).toContain(word);
  });

  it("refuses a service that the profile cannot be handed to", async () => {
    const connection = { kind: "tcp", tls: null, remote: true, origin: "CONTAINER_HOST" } as const;
    const circumstances: CreateCircumstances = {
      seccompProfile: {},
      mountsByHandle: false,
      runtimeKind: "namespaces",
      image: { id: "1", volumes: [], environment: {}, programUid: null, labels: {} },
      supervisorVolume: "program",
      ownFiles: [],
      setup: { connection },
    };
    const spec = { name: "a", image: "b", labels: {}, limits: { cpus: 1, memoryBytes: 1, pids: 1 }, scratch: [] };
    await expect(dialect.createCall(spec, circumstances)).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      message: expect.stringContaining("seccomp"),
    });
    const here = { ...circumstances, setup: { connection: { ...connection, remote: false } } };
    expect(await dialect.createCall(spec, here)).toMatchObject({
      path: "/v4.0.0/libpod/containers/create",
      body: { name: "a", seccomp_profile_path: "/profile.json" },
    });
  });

  it("offers no runtime but the service's own", () => {
    expect(dialect.runtimes({ DefaultRuntime: "crun", Runtimes: { crun: {}, runsc: {} } })).toEqual(["crun"]);
  });

  it.each([
    [409, "", true],
    [500, "can only kill running containers: container state improper", true],
    [500, "disk full", false],
  ])("reads %i %j", (status, reason, expected) => {
    expect(dialect.isNotRunning(status, reason)).toBe(expected);
  });
});
