import { describe, expect, it } from "vitest";
import { gibibyte, mebibyte } from "../../../base/bytes.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { createArguments } from "./create-arguments.ts";

const spec: ContainerSpec = {
  name: "glovebox-1",
  image: "python:3.13-slim",
  labels: { "glovebox.owner": "one" },
  limits: { cpus: 2, memoryBytes: 512 * mebibyte, pids: 64 },
  scratch: [{ path: "/work", sizeBytes: 16.5 * mebibyte }],
};

function created(changes: Partial<ContainerSpec> = {}): { readonly options: string[]; readonly rest: string[] } {
  const words = createArguments({ ...spec, ...changes }, "linux/arm64");
  const end = words.indexOf("--");
  return { options: words.slice(0, end), rest: words.slice(end + 1) };
}

describe("creating a container", () => {
  it("seals it: no network, no capability, nothing to write to but its scratch", () => {
    expect(created({ command: ["python3", "-c", "print(1)"] })).toEqual({
      options: [
        "create",
        "--name=glovebox-1",
        "--init",
        "--interactive",
        "--platform=linux/arm64",
        "--user=1000:1000",
        "--workdir=/",
        "--label=glovebox.owner=one",
        "--cpus=2",
        "--memory=512m",
        `--shm-size=${64 * mebibyte}b`,
        "--ulimit=nofile=16384:16384",
        "--ulimit=core=0:0",
        "--ulimit=nproc=64:64",
        "--network=none",
        "--no-dns",
        "--cap-drop=ALL",
        "--read-only",
        "--mount=type=tmpfs,target=/work,size=16m,mode=1777",
        "--entrypoint=python3",
      ],
      rest: ["python:3.13-slim", "-c", "print(1)"],
    });
  });

  it("keeps one without a command up by the keeper, which goes with its last reader", () => {
    const { options, rest } = created({ environment: { A: "1" } });
    expect(options).toEqual(expect.arrayContaining(["--rm", "--user=0:0", "--workdir=/", "--entrypoint=sh"]));
    expect(options.join(" ")).not.toContain("--env");
    expect(rest.slice(-2)).toEqual(["keeper", "/work"]);
  });

  it("keeps each value in one word, whatever it begins with", () => {
    const { options, rest } = created({
      command: ["-x", "---", "--rm", "--"],
      environment: { EMPTY: "", DASH: "-v", LINES: "a\nb", EQUALS: "a=b=c" },
      processUser: "501:20",
      workingDirectory: "/-w",
    });
    expect(options).toEqual(
      expect.arrayContaining(["--entrypoint=-x", "--env=EMPTY=", "--env=DASH=-v", "--env=LINES=a\nb"]),
    );
    expect(options).toEqual(expect.arrayContaining(["--env=EQUALS=a=b=c", "--user=501:20", "--workdir=/-w"]));
    expect(rest).toEqual(["python:3.13-slim", "---", "--rm", "--"]);
    expect(options.slice(1).every((word) => /^--[a-z]/.test(word))).toBe(true);
  });

  it("writes labels so that no second equals sign is in them", () => {
    const { options } = created({ labels: { paths: '["/a=b","/50%"]' } });
    expect(options).toContain('--label=paths=["/a%3Db","/50%25"]');
  });

  it("gives root the capabilities that were asked for and no others", () => {
    const { options } = created({ rootCapabilities: ["CHOWN", "SETUID"] });
    const capabilities = options.filter((word) => word.startsWith("--cap"));
    expect(capabilities).toEqual(["--cap-drop=ALL", "--cap-add=CHOWN", "--cap-add=SETUID"]);
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
