import { describe, expect, it } from "vitest";
import { strongCapabilities } from "../../../test/helpers/strong-capabilities.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import { defaultLimits } from "../../policy/limits.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { environmentPlan } from "./environment-plan.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";

const capabilities = { ...strongCapabilities, diskLimit: { substitute: "a watch" } };

const spec: EnvironmentSpec = {
  id: "a",
  labels: {},
  image: "image:1",
  imageOrigin: "request",
  ociRuntime: undefined,
  setupCommands: [],
  installCommands: [],
  project: null,
  toolingFiles: "named",
  toolingPaths: [],
  readOnlyRoot: false,
  limits: defaultLimits.environment,
  network: { kind: "none" },
  environment: {},
  readSecrets: () => Promise.resolve([]),
  hostEnvironment: {},
  minIsolation: "namespaces",
  explicitDemands: [],
};

const identity = { device: 1n, inode: 2n, heldAt: "/proc/1/fd/2", place: { device: "0:1", root: "/user/shop" } };

const projectOf = (uid: number, readOnly = false) => ({
  place: { realPath: "/home/user/shop", owner: { uid, gid: 20 } } as OpenPlace,
  identity,
  readOnly,
});

const plan = (changes: Partial<EnvironmentSpec> = {}, able: Partial<Capabilities> = {}) =>
  environmentPlan({ ...spec, ...changes }, { engine: "docker", capabilities: { ...capabilities, ...able } });

describe("environmentPlan", () => {
  it("is refused where the engine seals less than is demanded", () => {
    expect(() => plan({ minIsolation: "vm" })).toThrow(expect.objectContaining({ errorType: "UNSUPPORTED" }));
    expect(plan({ minIsolation: "container" }).sandbox.kind).toBe("environment");
  });

  it("lets commands be the owner of the project, which is at /workdir", () => {
    const { sandbox, warnings } = plan({ project: projectOf(501) });
    expect(sandbox).toMatchObject({
      processUser: "501:20",
      workingDirectory: "/workdir",
      mounts: [{ source: "/home/user/shop", target: "/workdir", readOnly: false, identity }],
      scratch: [],
      writableRoot: { folders: ["/tmp"] },
    });
    expect(warnings).toEqual(["Engine docker limits written files by a watch."]);
  });

  it("warns of a project of root's", () => {
    const { sandbox, warnings } = plan({ project: projectOf(0) });
    expect(sandbox.processUser).toBe("0:20");
    expect(warnings.at(-1)).toContain("belongs to root");
  });

  it("has an empty /workdir for nobody of the host without a project", () => {
    const { sandbox } = plan();
    expect(sandbox).toMatchObject({ processUser: "65527:65527", writableRoot: { folders: ["/tmp", "/workdir"] } });
    expect(sandbox.mounts).toBeUndefined();
  });

  it("has scratch instead of a writable root where that is asked", () => {
    const { sandbox } = plan({ readOnlyRoot: true, project: projectOf(501, true) });
    expect(sandbox.writableRoot).toBeUndefined();
    expect(sandbox.scratch.map(({ path }) => path)).toEqual(["/tmp"]);
    expect(sandbox.mounts).toMatchObject([{ readOnly: true }]);
    expect(plan({ readOnlyRoot: true }).sandbox.scratch.map(({ path }) => path)).toEqual(["/workdir", "/tmp"]);
  });

  it("refuses what the engine cannot do, and says what could be asked instead", () => {
    const unsupported = (missing: string): unknown =>
      expect.objectContaining({ errorType: "UNSUPPORTED", context: expect.objectContaining({ missing }) as unknown });
    expect(() => plan({}, { images: false })).toThrow(unsupported("images"));
    expect(() => plan({}, { diskLimit: "no" })).toThrow(unsupported("diskLimit"));
    expect(() => plan({ readOnlyRoot: true }, { diskLimit: "no" })).not.toThrow();
    expect(() => plan({ network: { kind: "open" } }, { execNetwork: "none" })).toThrow(unsupported("execNetwork"));
    expect(() => plan({}, { seccomp: "no" })).toThrow(unsupported("seccomp"));
    const inCluster = { hostPaths: false, execUser: false };
    expect(() => plan({ project: projectOf(501) }, inCluster)).toThrow(unsupported("hostPaths"));
    expect(() => plan({}, inCluster)).not.toThrow();
  });
});
