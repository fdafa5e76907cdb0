import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { startDrain } from "./drain.ts";

/** Longer than the silence that ends a drain. */
const pauseMs = 700;

async function socketPair(): Promise<[near: Socket, far: Socket, close: () => void]> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-drain-"));
  const server = createServer();
  server.listen(join(folder, "socket"));
  await once(server, "listening");
  const far = connect(join(folder, "socket"));
  const [near] = (await once(server, "connection")) as [Socket];
  const close = (): void => {
    for (const end of [near, far]) end.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  };
  return [near, far, close];
}

it("takes what had arrived while the whole server paused for longer than the silence", async () => {
  const [near, far, close] = await socketPair();
  try {
    let received = "";
    let drain: ReturnType<typeof startDrain> | undefined;
    const done = new Promise<void>((resolve) => {
      near.on("data", (bytes: Buffer) => {
        received += bytes.toString();
        drain?.saw(bytes.length);
      });
      drain = startDrain(near, resolve);
    });
    await turn();
    far.write("the last words");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    await done;
    expect(received).toBe("the last words");
  } finally {
    close();
  }
});
