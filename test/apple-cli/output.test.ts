import { describe, expect, it } from "vitest";
import { containerJson, type Status } from "./container/container-json.ts";
import { readConfiguration } from "./container/configuration.ts";
import { CommandError, ConnectionError, SeveralErrors } from "./output/command-error.ts";
import { dateOf, indented, oneLine } from "./output/swift-json.ts";
import { tableOf } from "./output/table.ts";
import { parseCall } from "./parser/parse-call.ts";

const status: Status = {
  state: "running",
  startedMs: Date.UTC(2026, 7, 7, 22, 17, 55, 123),
  attachments: [
    { network: "default", address: "192.168.64.3/24", gateway: "192.168.64.1", macAddress: "02:0", mtu: 1280 },
  ],
};

function shown(version: string): unknown {
  const call = parseCall(version, ["run", "-l", "k=v", "-m", "512m", "image", "sleep", "600"]);
  if (call.kind !== "run") throw new Error("not a call");
  const image = {
    reference: "docker.io/library/image:latest",
    digest: "sha256:0",
    sizeBytes: 9218,
    environment: [],
    entrypoint: [],
    command: [],
    workingDirectory: "",
    user: "",
    stopSignal: undefined,
  };
  const surroundings = { version, variables: {}, cwd: "/", now: Date.UTC(2026, 7, 7), newName: () => "" };
  return JSON.parse(
    oneLine(containerJson(version, readConfiguration("box.a", call.options, image, surroundings), status)),
  );
}

describe("JSON as Apple's command prints it", () => {
  it("is sorted, with escaped slashes and without what is not there", () => {
    const value = { b: "a/b", a: [1, true, { d: undefined, c: "\n" }], B: {} };
    expect(oneLine(value)).toBe(String.raw`{"B":{},"a":[1,true,{"c":"\n"}],"b":"a\/b"}`);
  });

  it("is spread over lines where it is to be read", () => {
    expect(indented([{ b: "a/b", a: [] }])).toBe(String.raw`[
  {
    "a" : [

    ],
    "b" : "a\/b"
  }
]`);
    expect(indented([])).toBe("[\n\n]");
  });

  it("has dates without fractions, and before 1.0.0 seconds since 2001", () => {
    expect(dateOf("1.0.0", Date.UTC(2026, 7, 7, 22, 17, 55, 999))).toBe("2026-08-07T22:17:55Z");
    expect(dateOf("0.12.3", Date.UTC(2001, 0, 1, 0, 0, 1, 500))).toBe(1.5);
  });

  it.each(["1.0.0", "1.2.2", "1.4.1"])("shows a container of %s with its state in an object", (version) => {
    expect(shown(version)).toMatchObject({
      id: "box.a",
      configuration: {
        id: "box.a",
        creationDate: "2026-08-07T00:00:00Z",
        labels: { k: "v" },
        resources: { cpus: 4, memoryInBytes: 512 * 1024 ** 2 },
        initProcess: { executable: "sleep", arguments: ["600"], user: { id: { uid: 0, gid: 0 } } },
      },
      status: {
        state: "running",
        startedDate: "2026-08-07T22:17:55Z",
        networks: [
          { hostname: "box", ipv4Address: "192.168.64.3/24", ipv4Gateway: "192.168.64.1", network: "default" },
        ],
      },
    });
  });

  it("shows a container of older versions with its state as a word", () => {
    expect(shown("0.12.3")).toMatchObject({
      status: "running",
      configuration: { id: "box.a", capDrop: [] },
      networks: [{ ipv4Address: "192.168.64.3/24" }],
      startedDate: expect.any(Number),
    });
    expect(shown("0.12.3")).not.toHaveProperty("id");
    expect(shown("0.7.1")).toMatchObject({ networks: [{ address: "192.168.64.3/24", gateway: "192.168.64.1" }] });
    expect(shown("0.7.1")).not.toHaveProperty("startedDate");
    expect(shown("0.7.1")).not.toHaveProperty("configuration.capDrop");
  });
});

describe("what Apple's command says", () => {
  it("is padded in tables but for the last column", () => {
    expect(
      tableOf(
        ["A", "BB"],
        [
          ["long", "x"],
          ["", ""],
        ],
      ),
    ).toBe("A     BB\nlong  x\n      ");
  });

  it("names the code of an error in causes and lists, and before 0.10.0 everywhere", () => {
    const cause = new CommandError("notFound", "container with ID x not found");
    const error = new CommandError("internalError", "failed to stop container", cause);
    const text = 'failed to stop container (cause: "notFound: "container with ID x not found"")';
    expect(error.shown("1.2.2")).toBe(text);
    expect(error.shown("0.9.0")).toBe(
      'internalError: "failed to stop container" (cause: "notFound: "container with ID x not found"")',
    );
    expect(new SeveralErrors([cause, cause]).message).toBe(`${cause.coded()}\n${cause.coded()}`);
  });

  it("says how to start a daemon that is not running", () => {
    const hint = "Ensure container system service has been started with `container system start`.";
    expect(new ConnectionError("invalid", "failed to list containers").shown("1.2.2")).toBe(
      `internalError: "failed to list containers" (cause: "interrupted: "XPC connection error: Connection invalid"")\n${hint}`,
    );
    expect(new ConnectionError("interrupted").shown("1.2.2")).toBe(
      `interrupted: "XPC connection error: Connection interrupted"\n${hint}`,
    );
    expect(new ConnectionError("invalid").shown("0.1.0")).not.toContain("Ensure");
  });
});
