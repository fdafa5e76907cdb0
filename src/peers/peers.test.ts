import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failureOf } from "../../test/helpers/failure-of.ts";
import type { OperationCall } from "../operations/contract/operation-contract.ts";
import { execInSandboxContract } from "../operations/live-sandbox-contract.ts";
import { PeerFolder } from "./peer-folder.ts";
import { Peers } from "./peers.ts";

let folder = "";
const servers: Server[] = [];
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-peer-"))));
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true });
});

/** Listens in place of a process of ours; what it hears it answers with these bytes, or not at all. */
async function listen(name: string, answer: Uint8Array | string | null): Promise<{ readonly heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      heard.push(data.toString());
      if (answer !== null) socket.end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(path.join(folder, name), resolve));
  return { heard };
}

function ask(name: string, { signal, acceptMs }: { signal?: AbortSignal; acceptMs?: number } = {}): Promise<unknown> {
  const uid = process.getuid?.() ?? null;
  const leases = { stateOf: () => Promise.resolve("living" as const) };
  const own = new PeerFolder({ folder, owner: "own-1", uid, platform: process.platform, leases });
  const call: OperationCall = { principal: "local", signal };
  return new Peers(own, acceptMs).at(path.join(folder, name))(
    execInSandboxContract,
    { sandbox_id: "sbx-1", command: ["true"] },
    call,
  );
}

it.each([
  ["another version's frames", Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 1, 0x7b]), "UNSUPPORTED"],
  ["a server of something else", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "UNSUPPORTED"],
  ["a process that ends", "", "SANDBOX_LOST"],
] as const)("%s is a clear error", async (_, answer, type) => {
  await listen("own-9", answer);
  await failureOf(ask("own-9"), type);
});

it("a process that is not there, or answers nothing, holds nobody up", async () => {
  await failureOf(ask("own-8"), "SANDBOX_LOST");
  const { heard } = await listen("own-9", null);
  const giveUp = new AbortController();
  const asked = ask("own-9", { signal: giveUp.signal });
  await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(1);
  giveUp.abort();
  await failureOf(asked, "CANCELLED");
  await failureOf(ask("own-9", { acceptMs: 100 }), "SANDBOX_LOST");
});

it("a link or a file in place of a socket is not spoken to", async () => {
  const { heard } = await listen("own-9", "");
  symlinkSync("own-9", path.join(folder, "own-link"));
  writeFileSync(path.join(folder, "own-file"), "");
  for (const name of ["own-link", "own-file"]) {
    const failure = await failureOf(ask(name), "PERMISSION_DENIED");
    expect(failure.message).toContain("it is no socket");
  }
  expect(heard).toEqual([]);
});
