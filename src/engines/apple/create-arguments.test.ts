import { describe, expect, it } from "vitest";
import { gibibyte, mebibyte } from "../../base/bytes.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { createArguments } from "./apple-engine.ts";

const spec: ContainerSpec = {
  name: "glovebox-1",
  image: "python:3.13-slim",
  labels: { "glovebox.owner": "one" },
  limits: { cpus: 2, memoryBytes: 512 * mebibyte, pids: 64 },
  scratch: [{ path: "/work", sizeBytes: 16.5 * mebibyte }],
};

function created(changes: Partial<ContainerSpec> = {}): { readonly options: string[]; readonly rest: string[] } {
  const binary = { path: "/opt/glovebox/supervisor/bin/supervisor-arm64" };
  const words = createArguments({ ...spec, ...changes }, { platform: "linux/arm64", binary });
  const end = words.indexOf("--");
  return { options: words.slice(0, end), rest: words.slice(end + 1) };
}

describe("creating a container", () => {
  it("seals it: no network, nothing to write to but its scratch, and the supervisor with its own capabilities", () => {
    expect(created({ command: ["python3", "-c", "print(1)"], environment: { A: "1" }, processUser: "7:8" })).toEqual({
      options: [
        "create",
        "--name=glovebox-1",
        "--interactive",
        "--platform=linux/arm64",
        "--user=0:0",
        "--workdir=/",
        "--label=glovebox.owner=one",
        "--cpus=2",
        "--memory=512m",
        `--shm-size=${64 * mebibyte}b`,
        "--ulimit=nofile=4096:4096",
        "--ulimit=core=0:0",
        "--ulimit=nproc=64:64",
        "--network=none",
        "--no-dns",
        "--cap-drop=ALL",
        "--cap-add=SETPCAP",
        "--cap-add=SETUID",
        "--cap-add=SETGID",
        "--cap-add=KILL",
        "--read-only",
        "--mount=type=tmpfs,target=/work,size=16m,mode=1777",
        "--volume=/opt/glovebox/supervisor/bin:/.glovebox:ro,nosuid,nodev",
        "--entrypoint=/.glovebox/supervisor-arm64",
      ],
      rest: ["python:3.13-slim"],
    });
  });

  it("has one without a command removed when its supervisor ends", () => {
    expect(created().options).toContain("--rm");
  });

  it("writes labels so that no second equals sign is in them", () => {
    const { options } = created({ labels: { paths: '["/a=b","/50%"]' } });
    expect(options).toContain('--label=paths=["/a%3Db","/50%25"]');
  });

  it("gives installers' capabilities to the supervisor, beside its own", () => {
    const { options } = created({ rootCapabilities: ["CHOWN", "SETUID"] });
    const capabilities = options.filter((word) => word.startsWith("--cap-add"));
    expect(capabilities).toEqual(["SETPCAP", "SETUID", "SETGID", "KILL", "CHOWN"].map((name) => `--cap-add=${name}`));
  });

  it.each([
    [{ source: "/a b,c=d", target: "/x", readOnly: true }, "--volume=/a b,c=d:/x:ro,nosuid,nodev"],
    [{ source: "/a", target: "/x", readOnly: false }, "--volume=/a:/x:nosuid,nodev"],
  ])("mounts %o", (mount, word) => {
    expect(created({ mounts: [mount] }).options).toContain(word);
  });

  it.each([
    [{ limits: { ...spec.limits, cpus: 0.5 } }, "UNSUPPORTED", /whole CPUs only; 0.5/],
    [{ limits: { ...spec.limits, memoryBytes: 199 * mebibyte } }, "UNSUPPORTED", /at least 200 MB.*199 MB/],
    [{ mounts: [{ source: "/a:b", target: "/x", readOnly: true }] }, "UNSUPPORTED", /mounted at \/x/],
    [{ scratch: [{ path: "/a,b", sizeBytes: gibibyte }] }, "INVALID_REQUEST", /scratch.path/],
    [{ name: "a" }, "INVALID_REQUEST", /2 to 63/],
    [{ name: "-ab" }, "INVALID_REQUEST", /2 to 63/],
    [{ name: "x".repeat(64) }, "INVALID_REQUEST", /2 to 63/],
  ])("refuses what cannot be said: %o", (changes, errorType, message) => {
    expect(() => created(changes)).toThrow(
      expect.objectContaining({ errorType, message: expect.stringMatching(message) }),
    );
  });
});
