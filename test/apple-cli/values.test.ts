import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { capabilitySet } from "./container/capabilities.ts";
import { readConfiguration, type Configuration, type ImageFacts } from "./container/configuration.ts";
import { createBody } from "./container/create-body.ts";
import { readSize } from "./container/sizes.ts";
import { readReference, shortReference } from "./images/reference.ts";
import { readSignal } from "./commands/container/signal-names.ts";
import { parseCall } from "./parser/parse-call.ts";
import { readName } from "./container/names.ts";

const image: ImageFacts = {
  reference: "docker.io/library/base:1",
  digest: "sha256:0",
  sizeBytes: 1,
  environment: ["PATH=/bin", "LANG=C"],
  entrypoint: ["/entry"],
  command: ["default"],
  workingDirectory: "",
  user: "",
  stopSignal: undefined,
};

const folder = mkdtempSync(path.join(tmpdir(), "apple-cli-values-"));
const file = path.join(folder, "file");
writeFileSync(file, "# a comment\nFROM_FILE=1\nBARE\n");
afterAll(() => rmSync(folder, { recursive: true }));

function configure(words: readonly string[], version = "1.2.2"): Configuration {
  const call = parseCall(version, [
    "run",
    ...words,
    "--",
    "base:1",
    ...(words.includes("--entrypoint") ? ["arg"] : []),
  ]);
  if (call.kind !== "run") throw new Error(`not a call: ${words.join(" ")}`);
  const surroundings = { version, variables: { BARE: "own" }, cwd: folder, now: 0, newName: () => "new-volume" };
  return readConfiguration("id", call.options, image, surroundings);
}

describe("values that the command reads itself", () => {
  it.each([
    ["512", 512],
    ["1k", 1024],
    ["1.5K", 1536],
    ["2mb", 2 * 1024 ** 2],
    ["1GiB", 1024 ** 3],
    ["3t", 3 * 1024 ** 4],
  ])("%s is a size", (text, bytes) => {
    expect(readSize(text)).toBe(bytes);
  });

  it.each([
    ["x", "invalid size"],
    ["", "invalid size"],
    ["-1", "invalid size"],
    ["1x", "invalid symbol: x"],
  ])("%j is no size", (text, message) => {
    expect(() => readSize(text)).toThrow(message);
  });

  it.each([
    [["-m", "512"], "minimum memory amount allowed is 200 MiB (got 0 bytes)"],
    [["-m", "199m"], "minimum memory amount allowed is 200 MiB (got 208666624 bytes)"],
    [["-l", "a=b=c"], "invalid label format a=b=c"],
    [["-l", ""], "label cannot be an empty string"],
    [["-p", "80"], "invalid publish value: 80"],
    [["-p", "0:80"], "invalid publish host port range: 0"],
    [["-p", "1:80"], "invalid publish host port range: 1"],
    [["-p", "8000-8001:80-82"], "counts are not equal"],
    [
      ["-p", "127.0.0.1:8000:80", "-p", "127.0.0.2:8000:81"],
      "host ports for different publish port specs may not overlap",
    ],
    [
      Array.from({ length: 65 }, (_, index) => ["-p", `${3000 + index}:80`]).flat(),
      "cannot exceed more than 64 port publish descriptors",
    ],
    [["-v", "/no/such/path:/in"], "path '/no/such/path' does not exist"],
    [["-v", "/a:/b:ro:x"], "invalid volume format /a:/b:ro:x"],
    [["--mount", `source=${file},target=/in`], "is not a directory"],
    [["--mount", "type=tmpfs,source=/x,target=/in"], "cannot specify source for tmpfs mount"],
    [["--mount", "type=nfs,target=/in"], "unsupported mount type nfs"],
    [["--mount", "type=tmpfs"], "mount destination cannot be empty"],
    [["--mount", "type=tmpfs,foo=1,target=/in"], "unknown directive foo when parsing mount"],
    [["--mount", "type=tmpfs,target=/a=b"], "invalid directive format missing value"],
    [["--network", "none", "--network", "other"], "no other networks may be created along with network none"],
    [["--network", "default,mtu=100"], "invalid network property 'mtu=100'"],
    [["--ulimit", "nofile=1", "--ulimit", "nofile=2"], "duplicate ulimit type"],
    [["--ulimit", "files=1"], "unsupported ulimit type: files"],
    [["--ulimit", "nofile=2:1"], "ulimit soft limit exceeds hard limit"],
    [["--cap-add", "everything"], "invalid capability: everything"],
    [["--platform", "linux/s390x"], "platform linux/s390x"],
    [["--env-file", "/no/such/file"], "failed to read envfile at /no/such/file"],
    [["--masked-path", "relative"], "path must be absolute: relative"],
  ])("%j is refused", (words, message) => {
    expect(() => configure(words)).toThrow(message);
  });

  it.each(["a", "", "-a", "a b", "a/b", "x".repeat(64)])("%j is no name of a container", (name) => {
    expect(() => readName("1.2.2", name)).toThrow(`container ID ${name} is not a valid container ID`);
    expect(() => readName("0.12.3", name)).toThrow(`invalid entity name ${name}`);
  });

  it("takes names of two letters or more, and makes a lower-case one where none is given", () => {
    expect(readName("1.2.2", "Ab_.-9")).toBe("Ab_.-9");
    expect(readName("1.2.2", undefined)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("reads signals by name or number", () => {
    expect(["KILL", "sigterm", "9"].map((text) => readSignal(text))).toEqual(["SIGKILL", "SIGTERM", "9"]);
    expect(() => readSignal("SIGNO")).toThrow("invalid signal: SIGNO");
    expect(() => readSignal("65")).toThrow("invalid signal: 65");
  });

  it.each([
    ["alpine", "docker.io/library/alpine:latest", "alpine:latest"],
    ["a/b:1", "docker.io/a/b:1", "a/b:1"],
    ["127.0.0.1:5000/a/b", "127.0.0.1:5000/a/b:latest", "127.0.0.1:5000/a/b:latest"],
    ["localhost/a:2", "localhost/a:2", "localhost/a:2"],
  ])("%s is %s, in short %s", (text, full, short) => {
    const reference = readReference(text);
    expect([reference.full, shortReference(reference)]).toEqual([full, short]);
  });

  it.each([
    ["A/b", "cannot parse path for reference A/b"],
    ["a:", "cannot parse path for reference a:"],
    ["f".repeat(64), "cannot specify 64 byte hex string as reference"],
  ])("%s is no reference", (text, message) => {
    expect(() => readReference(text)).toThrow(message);
  });
});

describe("the configuration of a container", () => {
  it("has Apple's defaults", () => {
    expect(configure([])).toMatchObject({
      argv: ["/entry", "default"],
      cpus: 4,
      memoryBytes: 1024 ** 3,
      user: "0:0",
      isUserById: true,
      workingDirectory: "/",
      networks: [{ network: "default", mtu: 1280 }],
      platform: { os: "linux", architecture: "arm64" },
    });
  });

  it("takes variables from files, from the caller and from options, the last of each name", () => {
    expect(
      configure(["-e", "LANG=D", "-e", "BARE", "-e", "UNSET", "--env-file", file, "-e", "FROM_FILE=2"]).environment,
    ).toEqual(["PATH=/bin", "LANG=D", "FROM_FILE=2", "BARE=own"]);
  });

  it("takes one word instead of the image's entrypoint and command", () => {
    expect(configure(["--entrypoint", "sh"]).argv).toEqual(["sh", "arg"]);
    expect(configure(["--entrypoint", ""]).argv).toEqual(["/entry", "arg"]);
  });

  it.each([
    [["-u", "node"], { user: "node", isUserById: false }],
    [["--uid", "1", "--gid", "2"], { user: "1:2", isUserById: true }],
    [["--uid", "1"], { user: "1", isUserById: false }],
    [["--gid", "2"], { user: "0:0", supplementalGroups: [2] }],
    [["-u", "a", "--uid", "1", "--gid", "2"], { user: "a" }],
  ])("%j is a user", (words, user) => {
    expect(configure(words)).toMatchObject(user);
  });

  it("distinguishes host paths, named volumes and unnamed ones", () => {
    const mounts = configure([
      "-v",
      `${folder}:/a:ro`,
      "-v",
      "data:/b",
      "-v",
      "/c",
      "-v",
      "./file:/d",
      "--tmpfs",
      "/t:size=1",
    ]).mounts;
    expect(mounts).toEqual([
      { kind: "tmpfs", source: "tmpfs", destination: "/t:size=1", options: [] },
      { kind: "virtiofs", source: folder, destination: "/a", options: ["ro"] },
      { kind: "volume", source: "", volume: "data", destination: "/b", options: [], anonymous: false },
      { kind: "volume", source: "", volume: "new-volume", destination: "/c", options: [], anonymous: true },
      { kind: "virtiofs", source: file, destination: "/d", options: [] },
    ]);
  });

  it("publishes ports of all addresses unless one is named", () => {
    expect(configure(["-p", "8080:80", "-p", "[::1]:9000-9001:90-91/udp"]).ports).toEqual([
      { hostAddress: "0.0.0.0", hostPort: 8080, containerPort: 80, proto: "tcp", count: 1 },
      { hostAddress: "::1", hostPort: 9000, containerPort: 90, proto: "udp", count: 2 },
    ]);
  });

  it("keeps capabilities as requested, and drops all before it adds any", () => {
    expect(configure(["--cap-drop", "all", "--cap-add", "cap_kill"])).toMatchObject({
      capDrop: ["ALL"],
      capAdd: ["CAP_KILL"],
    });
    expect(capabilitySet("1.2.2", [], [])).toHaveLength(14);
    expect(capabilitySet("1.2.2", ["CAP_KILL", "CAP_CHOWN"], ["ALL", "CAP_CHOWN"])).toEqual(["KILL"]);
    expect(capabilitySet("0.11.0", [], ["ALL"])).toEqual(["ALL"]);
  });
});

describe("what Docker is told", () => {
  const place = {
    version: "1.2.2",
    imageId: "sha256:0",
    labels: {},
    volumeName: (name: string) => `v-${name}`,
    networkName: (name: string) => `n-${name}`,
    cutOff: false,
    openStdin: false,
  };

  it("has no filter of system calls, only the requested limit on processes, and sized file systems in memory", () => {
    const words = [
      "--ulimit",
      "nproc=32",
      "--ulimit",
      "nofile=64:128",
      "--mount",
      "type=tmpfs,target=/t,size=8m,mode=1777",
    ];
    expect(createBody(configure([...words, "-c", "8"]), place)).toMatchObject({
      Entrypoint: ["/entry"],
      Cmd: ["default"],
      HostConfig: {
        CapDrop: ["ALL"],
        CpuQuota: 800_000,
        Memory: 1024 ** 3,
        MemorySwap: 1024 ** 3,
        NetworkMode: "n-default",
        PidsLimit: 35,
        SecurityOpt: ["seccomp=unconfined"],
        Tmpfs: { "/t": "exec,suid,dev,size=8m,mode=1777" },
        Ulimits: [{ Name: "nofile", Soft: 64, Hard: 128 }],
      },
    });
  });

  it("has no network, and so no ports, if there is none or it is dead", () => {
    const none = { NetworkMode: "none", PortBindings: {} };
    expect(createBody(configure(["--network", "none", "-p", "8080:80"]), place)).toMatchObject({ HostConfig: none });
    expect(createBody(configure(["-p", "8080:80"]), { ...place, cutOff: true })).toMatchObject({ HostConfig: none });
  });
});
