import { describe, expect, it } from "vitest";
import { unknownStats } from "../container-stats.ts";
import { parseContainers, AnswerError, isServiceRunning, parseVersion } from "./command-format.ts";
import { parseImage } from "./apple-images.ts";
import { parseStats } from "./apple-place.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("containers", () => {
  it("are read as 1.0 and newer tell of them", () => {
    const text = String.raw`[{"configuration":{"creationDate":"2026-08-07T22:17:54Z","id":"sb-1",
      "image":{"reference":"docker.io\/library\/alpine:latest"},"labels":{"k":"\/a%3Db","n":1}},
      "id":"sb-1","status":{"networks":[],"startedDate":"2026-08-07T22:17:55Z","state":"running"}}]`;
    expect(parseContainers(text)).toEqual([
      { id: "sb-1", labels: { k: "/a=b" }, state: "running", createdAtMs: Date.UTC(2026, 7, 7, 22, 17, 54) },
    ]);
  });

  it("are read as older ones tell of them", () => {
    const text = `[{"status":"stopped","configuration":{"id":"old","labels":{}},"networks":[],"startedDate":86400.5},
      {"status":"running","configuration":{"id":"older"}}]`;
    expect(parseContainers(text)).toEqual([
      { id: "old", labels: {}, state: "stopped", createdAtMs: Date.UTC(2001, 0, 2) + 500 },
      { id: "older", labels: {}, state: "running", createdAtMs: 0 },
    ]);
  });

  it.each(["", "[", "null", "{}", "[1]", "[null]", '[{"id":"x"}]', '[{"configuration":{},"status":"running"}]'])(
    "are refused when the answer is %j",
    (text) => {
      expect(() => parseContainers(text)).toThrow(AnswerError);
    },
  );
});

describe("images", () => {
  it("are read as 1.0 and newer tell of them, of this architecture", () => {
    const variant = (architecture: string, config: object): object => ({
      platform: { architecture },
      config: { config },
    });
    const text = JSON.stringify([
      {
        configuration: { name: "docker.io/library/x:1", descriptor: { digest } },
        variants: [
          variant("amd64", { Env: ["AMD=1"], Labels: { a: "amd" } }),
          variant("arm64", { Env: ["PATH=/bin", "E=", 3, "=x", "none", "L=a=b\nc"], Labels: { a: "arm" } }),
        ],
      },
    ]);
    const facts = { name: "docker.io/library/x:1", digest };
    const environment = { PATH: "/bin", E: "", L: "a=b\nc" };
    expect(parseImage(text, "arm64")).toEqual({ ...facts, labels: { a: "arm" }, environment });
    expect(parseImage(text, "riscv64")).toEqual({ ...facts, labels: { a: "amd" }, environment: { AMD: "1" } });
  });

  it("are read as older ones tell of them", () => {
    const text = JSON.stringify([{ reference: "docker.io/library/x:1", descriptor: { digest } }]);
    expect(parseImage(text, "arm64")).toEqual({ name: "docker.io/library/x:1", digest, labels: {}, environment: {} });
  });

  it.each(["[]", '[{"configuration":{}}]', `[{"reference":"x","descriptor":{"digest":"sha256:../.."}}]`, "[{"])(
    "are refused when the answer is %j",
    (text) => {
      expect(() => parseImage(text, "arm64")).toThrow(AnswerError);
    },
  );
});

describe("numbers", () => {
  const row = { id: "a", cpuUsageUsec: 1500, memoryUsageBytes: 10, blockReadBytes: -1, blockWriteBytes: "5" };

  it("are those of the container, as far as they are told", () => {
    const stats = parseStats(JSON.stringify([{ id: "b" }, row]), "a");
    expect(stats).toEqual({ ...unknownStats, memoryBytes: 10, cpuTimeMs: 1.5 });
    expect(parseStats("[]", "a")).toEqual(unknownStats);
  });
});

describe("the service", () => {
  it.each([
    ['{"status":"running","apiServerVersion":"x"}', true],
    ['{"status":"running","paths":{},"server":{"version":"1.4.1"}}', true],
    ['{"status":"not running"}', false],
    ["{}", false],
  ])("%s: %s", (text, running) => {
    expect(isServiceRunning(text)).toBe(running);
  });

  it.each([
    ["container CLI version 1.2.2 (build: release, commit: 0190097)", { text: "1.2.2", major: 1, build: "0190097" }],
    ["container CLI version 1.3.0 (build: release, commit: unspeci)\n", { text: "1.3.0", major: 1, build: "unspeci" }],
    ["container CLI version 0.1.0 (build: debug, sdk: MacOS 15)", { text: "0.1.0", major: 0, build: undefined }],
    ["container CLI version 10.0", { text: "10.0", major: 10, build: undefined }],
    ["container 1.0", null],
    ["", null],
  ])("tells its version: %s", (text, version) => {
    expect(parseVersion(text)).toEqual(version);
  });
});
