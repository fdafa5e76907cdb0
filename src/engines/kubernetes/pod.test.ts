import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "../container-spec.ts";
import { supervisorBinary } from "../supervised/supervisor-binary.ts";
import { labelsForSelectors, podManifest, readLabels } from "./pod.ts";
import { podTerms } from "./pod-terms.ts";

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: { a: "x y" },
  limits: { cpus: 0.05, memoryBytes: 80_000_000, pids: 8 },
  scratch: [],
};
const options = {
  user: { user: 5, group: 6 },
  architecture: "arm64",
  configMap: "program",
  pullPolicy: "IfNotPresent",
  pullSecrets: ["registry"],
  owner: {},
  covered: [],
  isDenied: true,
  now: 0,
} as const;

describe("podManifest", () => {
  it("goes to Linux nodes of its processors, wherever the server runs", () => {
    expect(podManifest(spec, options)).toMatchObject({
      spec: {
        nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" },
        imagePullSecrets: [{ name: "registry" }],
      },
    });
  });

  it("goes to none of another system", () => {
    expect(JSON.stringify(podManifest(spec, options))).not.toContain("windows");
  });

  it("claims no more than its limits, all of its memory, and has every writable place in memory", () => {
    const manifest = podManifest(spec, options) as {
      readonly spec: {
        readonly volumes: readonly object[];
        readonly containers: readonly [{ readonly resources: object }];
      };
    };
    expect(manifest.spec.containers[0].resources).toMatchObject({
      limits: { cpu: "50m", memory: "80000000" },
      requests: { cpu: "50m", memory: "80000000" },
    });
    expect(manifest.spec.volumes).toEqual([
      { name: "supervisor", configMap: expect.objectContaining({ name: "program", defaultMode: 0o555 }) },
      { name: "scratch-0", emptyDir: { medium: "Memory", sizeLimit: "10000000" } },
    ]);
  });

  it("has a hard end only where its labels have one", () => {
    expect(podManifest(spec, options)).not.toHaveProperty("spec.activeDeadlineSeconds");
  });
});

it("keeps labels that Kubernetes has no place for", () => {
  const { metadata } = podManifest(spec, options) as {
    readonly metadata: { readonly annotations: Record<string, string> };
  };
  expect(readLabels(metadata.annotations)).toEqual(spec.labels);
  expect(labelsForSelectors({ ok: "1", "not ok": "1", wrong: "a/b", empty: "", long: "x".repeat(64) })).toEqual({
    ok: "1",
    empty: "",
  });
  for (const text of [undefined, "{", "null", "[1]"]) expect(readLabels({ "glovebox.labels": text ?? "" })).toEqual({});
});

describe("podTerms", () => {
  it("has the limits that no field of a pod has, and leaves signals and queues to a runtime that is named", () => {
    const termsOf = (more: Partial<ContainerSpec>) =>
      podTerms(supervisorBinary("x64"), options.user, { ...spec, ...more });
    const limits = { processes: 11, openFiles: 100, lockedBytes: 65_536, fileBytes: 80_000_000 };
    const given = { limits: { ...spec.limits, openFiles: 100 } };
    expect(termsOf(given).limits).toEqual({ ...limits, signals: 1_024, queueBytes: 262_144 });
    expect(termsOf({ ...given, ociRuntime: "gvisor" }).limits).toEqual({ ...limits, signals: 0, queueBytes: 0 });
  });
});
