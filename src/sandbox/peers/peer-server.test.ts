import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { encodeFrame } from "../../base/mux/frames.ts";
import { PeerCall } from "./peer-call.ts";
import { removeRemote, reachRemote } from "./remote-sandbox.ts";
import { PeerServer } from "./peer-server.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-peer-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const quiet = (): void => undefined;

function serverOf(owner = "own-1", expired: readonly string[] = []): PeerServer {
  return new PeerServer({
    folder: path.join(folder, "peers"),
    owner,
    uid: process.getuid?.() ?? null,
    platform: process.platform,
    leases: { stateOf: (name) => Promise.resolve(expired.includes(name) ? "expired" : "living") },
    find: () => undefined,
    usageOf: () => null,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

/** All that comes back for these bytes, until the server ends the connection. */
async function said(address: string, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(address);
  socket.write(bytes);
  let text = "";
  for await (const piece of socket) text += String(piece);
  return text;
}

describe("a peer server", () => {
  it("opens once, for its user only, and is gone when it is closed", async () => {
    const own = serverOf();
    const [address, again] = await Promise.all([own.open(), own.open()]);
    expect(again).toBe(address);
    expect(statSync(path.join(folder, "peers")).mode & 0o777).toBe(0o700);
    await own.close();
    expect(existsSync(address)).toBe(false);
    await failureOf(reachRemote({ id: "sbx-1", address, platform: process.platform }), "SANDBOX_LOST");
  });

  it("does not open in a folder that others may enter", async () => {
    mkdirSync(path.join(folder, "peers"), { mode: 0o700 });
    chmodSync(path.join(folder, "peers"), 0o755);
    await expect(serverOf().open()).rejects.toThrow("open to other users");
    expect(readdirSync(path.join(folder, "peers"))).toEqual([]);
  });

  it("sweeps those of processes that are gone, and no others", async () => {
    const own = serverOf("own-1", ["own-2"]);
    await own.open();
    for (const name of ["own-2", "own-3"]) writeFileSync(path.join(folder, "peers", name), "");
    await own.forgetLeft();
    expect(readdirSync(path.join(folder, "peers")).toSorted()).toEqual(["own-1", "own-3"]);
    await own.close();
  });

  it("answers a sandbox that it does not have", async () => {
    const own = serverOf();
    const address = await own.open();
    await failureOf(reachRemote({ id: "sbx-1", address, platform: process.platform }), "NOT_FOUND");
    // Gone already: that is what was wanted.
    await removeRemote({ id: "sbx-1", address });
    await own.close();
  });
});

describe("bad input at a peer server", () => {
  const exec = { protocol: 1, sandbox_id: "sbx-1", action: "exec", command: ["true"], as_program: false };
  const line = (request: unknown): string => `${JSON.stringify(request)}\n`;

  it.each([
    ["no JSON", "GET / HTTP/1.1\r\n", "INVALID_REQUEST"],
    ["an empty line", "\n", "INVALID_REQUEST"],
    ["null", "null\n", "INVALID_REQUEST"],
    ["no command", line({ ...exec, command: [] }), "INVALID_REQUEST"],
    ["an unknown field", line({ ...exec, user: "0:0" }), "INVALID_REQUEST"],
    ["an unknown action", line({ ...exec, action: "own" }), "INVALID_REQUEST"],
    ["another version", line({ ...exec, protocol: 2 }), "UNSUPPORTED"],
    ["no line at all", "x".repeat(9 * 1024 * 1024), ""],
    ["frames without a request", encodeFrame(0, 0, Buffer.from("\n")), "INVALID_REQUEST"],
    ["an unknown sandbox, then what is no frame", `${line(exec)}${"\u0007".repeat(100)}`, ""],
    ["an unknown sandbox, then a message that is none", line(exec) + String(encodeFrame(2, 0, Buffer.from("[]"))), ""],
  ])("%s is answered, and the server goes on", async (_, bytes, type) => {
    const own = serverOf();
    const address = await own.open();
    const answer = await said(address, bytes).catch(() => "");
    expect(answer).toContain(type);
    await failureOf(reachRemote({ id: "sbx-1", address, platform: process.platform }), "NOT_FOUND");
    await own.close();
  });
});

it("is given up by an abort, also before it answers", async () => {
  const own = serverOf();
  const address = await own.open();
  const request = { protocol: 1, sandbox_id: "sbx-1", action: "describe" } as const;
  await failureOf(PeerCall.open(address, request, AbortSignal.abort()), "CANCELLED");
  const later = new AbortController();
  const opening = PeerCall.open(address, request, later.signal);
  later.abort();
  await failureOf(opening, "CANCELLED");
  await own.close();
});
