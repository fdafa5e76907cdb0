import { describe, expect, it } from "vitest";
import type { CreateCircumstances } from "../docker-api/dialect.ts";
import { podmanDialect } from "./podman-dialect.ts";

const dialect = podmanDialect({ shareProfile: () => Promise.resolve("/profile.json"), platform: "linux" });
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
      image: { id: "1", volumes: [], labels: {} },
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

  it.each(["read", "write"])("knows what Podman says when a program left input unread: %s", (word) => {
    const said = `Error: ${word} unixpacket @->/proc/self/fd/16/attach: ${word}: connection reset by peer\n`;
    expect(dialect.lastWords.exec(`own\n${said}`)?.[0]).toBe(said);
    expect(dialect.lastWords.test(`${said}more`)).toBe(false);
    expect(dialect.lastWords.test("Error: write failed\n")).toBe(false);
  });
});
