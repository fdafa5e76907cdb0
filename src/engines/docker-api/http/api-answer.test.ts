import { describe, expect, it } from "vitest";
import { consistentStatus, refusalReason, statusError, createDemuxer } from "./api-answer.ts";

const product = { engine: "docker", title: "Docker" } as const;

describe("statusError", () => {
  it.each([
    [404, "No such container: abc", "SANDBOX_LOST"],
    [409, "Container abc is not running", "SANDBOX_LOST"],
    [409, "container is marked for removal and cannot be started", "SANDBOX_LOST"],
    [500, "cannot exec in a stopped container: unknown", "SANDBOX_LOST"],
    [409, 'Conflict. The container name "/box" is already in use by container "abc"', "ALREADY_EXISTS"],
    [500, "error setting rlimit type 7: operation not permitted", "UNSUPPORTED"],
    [500, "Decoding seccomp profile failed: invalid character", "UNSUPPORTED"],
    [400, 'invalid mount config for type "bind": bind source path does not exist: /home/me/x', "UNSUPPORTED"],
    [500, "statfs /home/me/x: no such file or directory", "UNSUPPORTED"],
    [400, "Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available", "UNSUPPORTED"],
    [500, "mkdir /var/lib/docker/overlay2: no space left on device", "INTERNAL"],
  ])("makes of %d %j %s", (status, message, errorType) => {
    const error = statusError(product, "do it", { status, body: { message } });
    expect(error).toMatchObject({ errorType, context: { engine: "docker", http_status: status } });
    expect(error.message).toContain("do it");
    expect((error.cause as Error).message).toContain(message);
  });

  it("shows nothing of the engine's host", () => {
    const body = { message: "open /var/lib/docker/containers/abc: no such file" };
    expect(JSON.stringify(statusError(product, "do it", { status: 500, body }).toWire())).not.toContain("/var/lib");
    const mount = { message: "invalid mount config: bind source path does not exist: /home/me" };
    expect(JSON.stringify(statusError(product, "do it", { status: 400, body: mount }).toWire())).not.toContain("/home");
  });

  it("names the place of an image where nothing can be mounted", () => {
    const message = `error mounting "/run/own" to rootfs at "/etc/passwd": "/data/merged/proc/1/environ" cannot be mounted because it is inside /proc`;
    const error = statusError(product, "start the container", { status: 500, body: { message } });
    expect(error).toMatchObject({ errorType: "UNSUPPORTED", context: { path: "/etc/passwd" } });
    expect(JSON.stringify(error.toWire())).not.toMatch(/merged|run\/own/);
  });

  it("says what is wrong with what we asked for", () => {
    const body = { message: "Minimum memory limit allowed is 6MB" };
    expect(statusError(product, "create a container", { status: 400, body }).message).toContain("6MB");
  });
});

describe("refusalReason", () => {
  it.each([
    [{ message: " text \n" }, "text"],
    [{ cause: "reason", response: 500 }, "reason"],
    ["plain", "plain"],
    [null, ""],
    [{ message: 7 }, ""],
  ])("of %j is %j", (body, reason) => {
    expect(refusalReason({ status: 500, body })).toBe(reason);
  });
});

describe("consistentStatus", () => {
  it("is 404 for a container that went away during the call", () => {
    const message = "container 0f does not exist in database: no such container";
    expect(consistentStatus({ status: 500, body: { cause: "no such container", message } })).toBe(404);
    expect(consistentStatus({ status: 409, body: { message } })).toBe(409);
    expect(consistentStatus({ status: 500, body: { message: "disk full" } })).toBe(500);
    expect(consistentStatus({ status: 200, body: null })).toBe(200);
  });
});

function frame(type: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = type;
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

function fed(pieces: readonly Uint8Array[]): { stdout: string; stderr: string } {
  const demux = createDemuxer();
  const all = pieces.flatMap((piece) => demux(piece));
  const text = (stream: string): string =>
    Buffer.concat(all.filter((chunk) => chunk.stream === stream).map((chunk) => chunk.bytes)).toString("utf8");
  return { stdout: text("stdout"), stderr: text("stderr") };
}

describe("createDemuxer", () => {
  const stream = Buffer.concat([frame(1, "one é"), frame(2, "two"), frame(1, ""), frame(2, "漢"), frame(1, "three")]);
  const expected = { stdout: "one éthree", stderr: "two漢" };

  it("gives the same for every place that the stream may be split at", () => {
    for (let at = 0; at <= stream.length; at += 1) {
      expect(fed([stream.subarray(0, at), stream.subarray(at)]), `split at ${at}`).toEqual(expected);
    }
  });

  it("gives the same byte by byte", () => {
    expect(fed([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it("delivers the bytes of a frame that is not whole yet", () => {
    const demux = createDemuxer();
    const whole = frame(2, "slowly");
    expect(demux(whole.subarray(0, 7))).toEqual([]);
    expect(demux(whole.subarray(7, 10))).toEqual([{ stream: "stderr", bytes: Buffer.from("sl") }]);
    expect(demux(whole.subarray(10))).toEqual([{ stream: "stderr", bytes: Buffer.from("owly") }]);
  });

  it("joins neighbouring frames of one stream and keeps the order of the streams", () => {
    const bytes = Buffer.concat([frame(1, "a"), frame(1, "b"), frame(2, "c"), frame(1, "d")]);
    const shown = createDemuxer()(bytes).map((chunk) => `${chunk.stream} ${Buffer.from(chunk.bytes).toString()}`);
    expect(shown).toEqual(["stdout ab", "stderr c", "stdout d"]);
  });

  it("takes the engine's own complaints for stderr", () => {
    expect(fed([frame(3, "broken pipe")]).stderr).toBe("broken pipe");
  });

  it("reads lengths as 32 bits without a sign", () => {
    const demux = createDemuxer();
    expect(demux(Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x61]))).toHaveLength(1);
    expect(demux(Buffer.from("b"))).toEqual([{ stream: "stdout", bytes: Buffer.from("b") }]);
  });

  it("refuses bytes that are no frame", () => {
    expect(() => createDemuxer()(Buffer.from("plain text"))).toThrow(
      expect.objectContaining({ errorType: "INTERNAL" }),
    );
  });
});
