import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import type { Container } from "../../src/engines/engine.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { RunningProcess } from "../helpers/running-process.ts";
import type { BehaviourNeeds, Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

const port = 4173;
const needs = { capability: "execNetwork" } as const;

function serving(scene: Scene): Promise<Container> {
  return scene.idle({ image: scene.subject.images.python });
}

async function serve(
  scene: Scene,
  container: Container,
  manner: string,
  host = "127.0.0.1",
  at = port,
): Promise<RunningProcess> {
  const server = await scene.exec(container, fixtureProgram("serves-tcp.py", String(at), host, manner));
  await server.until("stdout", `ready ${host}\n`);
  return server;
}

async function echo(stream: Duplex, sent: Uint8Array | string): Promise<Buffer> {
  stream.end(sent);
  return buffer(stream);
}

/** Resolves when the connection has ended, in whatever way. */
function closed(stream: Duplex): Promise<void> {
  stream.on("error", () => undefined);
  return new Promise((resolve) => void stream.once("close", resolve));
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A container in which a server listens on the port. */
interface Served {
  readonly scene: Scene;
  readonly container: Container;
  readonly server: RunningProcess;
}

/** A server in the sandbox is reached from outside, and only by us. */
export const connect: Topic = (behaviour) => {
  /** A behaviour of this kind of server, on 127.0.0.1 or the address next to it. */
  function served(
    id: string,
    title: string,
    manner: string | readonly [manner: string, host: string],
    test: (served: Served) => Promise<void>,
    more: Pick<BehaviourNeeds, "timeoutMs"> = {},
  ): void {
    const [name, host] = typeof manner === "string" ? [manner] : manner;
    const inScene = async (scene: Scene): Promise<void> => {
      const container = await serving(scene);
      await test({ scene, container, server: await serve(scene, container, name, host) });
    };
    behaviour(id, title, inScene, { ...needs, ...more });
  }

  served(
    "connect.half-close",
    "a connection carries both ways, and each end is closed by itself",
    "echo",
    async ({ container }) => {
      const stream = await container.connect(port);
      stream.write("first ");
      expect(String((await once(stream, "data"))[0])).toBe("first ");
      expect((await echo(stream, "second ")).toString()).toBe("second end of input");
    },
  );

  served(
    "connect.server-closes-first",
    "a server that has said all still hears the rest",
    "farewell",
    async ({ container, server }) => {
      const stream = await container.connect(port);
      expect(await text(stream)).toBe("farewell");
      stream.end(Buffer.alloc(mebibyte));
      await server.until("stdout", `received ${mebibyte}\n`);
    },
  );

  behaviour(
    "connect.refused",
    "an unused port is refused with a reason, and reached once a program listens on it",
    async (scene) => {
      const container = await serving(scene);
      const server = await serve(scene, container, "echo", "127.0.0.1", port + 1);
      for (let attempt = 0; attempt < 3; attempt++) {
        const error = await failureOf(container.connect(port), "NETWORK_ERROR");
        expect(error.message).toBe(`Nothing in the sandbox listens on port ${port}.`);
        expect(error.message + error.suggestion).not.toMatch(/\bE[A-Z]{4,}\b/);
      }
      await serve(scene, container, "echo");
      expect((await echo(await container.connect(port), "now ")).toString()).toBe("now end of input");
      expect((await echo(await container.connect(port + 1), "still ")).toString()).toBe("still end of input");
      expect(server.text("stderr")).toBe("");
    },
    needs,
  );

  for (const [id, title, host] of [
    ["connect.any-address", "a server that listens on all addresses is reached", "0.0.0.0"],
    ["connect.ipv6", "so is one that listens on ::1 only, as servers on `localhost` may", "::1"],
  ] as const) {
    served(id, title, ["echo", host], async ({ container }) => {
      expect((await echo(await container.connect(port), "")).toString()).toBe("end of input");
    });
  }

  served(
    "connect.big",
    "64 MiB of random bytes go in and come back unchanged",
    "echo",
    async ({ container }) => {
      const sent = randomBytes(64 * mebibyte);
      const received = await echo(await container.connect(port), sent);
      const expected = Buffer.concat([sent, Buffer.from("end of input")]);
      expect({ length: received.length, hash: sha256(received) }).toEqual({
        length: expected.length,
        hash: sha256(expected),
      });
    },
    { timeoutMs: 120_000 },
  );

  served(
    "connect.many",
    "a hundred connections at once each carry their own bytes",
    "echo",
    async ({ container }) => {
      const streams = await Promise.all(Array.from({ length: 100 }, () => container.connect(port)));
      const sent = streams.map((_, index) => randomBytes(10_000 + index));
      const received = await Promise.all(streams.map((stream, index) => echo(stream, sent[index]!)));
      expect(received.map(sha256)).toEqual(
        sent.map((bytes) => sha256(Buffer.concat([bytes, Buffer.from("end of input")]))),
      );
    },
    { timeoutMs: 120_000 },
  );

  served(
    "connect.slow-reader",
    "a server's flood waits for its reader, holds up nobody else, and is complete in the end",
    "flood",
    async ({ scene, container, server }) => {
      await serve(scene, container, "echo", "127.0.0.1", port + 1);
      const before = process.memoryUsage().rss;
      const stream = await container.connect(port);
      await sleep(1_500);
      expect(server.text("stdout"), "the flood is not done").not.toContain("flooded");
      expect(process.memoryUsage().rss - before).toBeLessThan(32 * mebibyte);
      expect((await echo(await container.connect(port + 1), "meanwhile ")).toString()).toBe("meanwhile end of input");
      let received = 0;
      for await (const bytes of stream) received += (bytes as Buffer).length;
      expect(received).toBe(64 * mebibyte);
      await server.until("stdout", "flooded");
      stream.end();
    },
    { timeoutMs: 180_000 },
  );

  served(
    "connect.deaf-server",
    "input for a server that does not read waits here, and holds up nobody else",
    "deaf",
    async ({ scene, container }) => {
      await serve(scene, container, "echo", "127.0.0.1", port + 1);
      const stream = await container.connect(port);
      let taken = 0;
      const piece = Buffer.alloc(mebibyte);
      for (let count = 0; count < 64; count++) stream.write(piece, (error) => (taken += error ? 0 : 1));
      await sleep(1_000);
      expect(taken).toBeLessThan(32);
      expect((await echo(await container.connect(port + 1), "meanwhile ")).toString()).toBe("meanwhile end of input");
      stream.destroy();
    },
  );

  served(
    "connect.reset",
    "a connection that the server breaks off closes without an end",
    "reset",
    async ({ container }) => {
      const stream = await container.connect(port);
      const events: string[] = [];
      for (const name of ["data", "end", "close"]) stream.on(name, (data) => events.push(`${name} ${data}`));
      await once(stream, "data");
      stream.write("!");
      await closed(stream);
      expect(events.filter((event) => event.startsWith("end"))).toEqual([]);
      expect(events[0]).toBe("data so far");
    },
  );

  served(
    "connect.broken-off",
    "a connection that we break off is broken for the server",
    "echo",
    async ({ container, server }) => {
      const stream = await container.connect(port);
      stream.write("!");
      await once(stream, "data");
      stream.destroy();
      const other = await container.connect(port);
      expect((await echo(other, "")).toString()).toBe("end of input");
      expect(server.text("stderr")).toBe("");
    },
  );

  served(
    "connect.server-ends",
    "the end of the server is the end of its connections",
    "echo",
    async ({ scene, container, server }) => {
      const stream = await container.connect(port);
      stream.write("!");
      await once(stream, "data");
      const over = closed(stream);
      stream.resume().on("end", () => stream.end());
      // Where a program shares its user with what watches over it, it is lost with that.
      await outcomeOf(scene.run(container, ["sh", "-c", "kill -9 -1"]));
      await outcomeOf(server.process.kill("SIGKILL"));
      await outcomeOf(server.process.exit);
      await over;
      await failureOf(container.connect(port), "NETWORK_ERROR");
    },
  );

  served(
    "connect.container-ends",
    "the end of the container is the end of its connections, and what is asked then is SANDBOX_LOST",
    "deaf",
    async ({ container }) => {
      const stream = await container.connect(port);
      const over = closed(stream);
      stream.resume().on("end", () => stream.end());
      await container.remove();
      await over;
      await failureOf(container.connect(port), "SANDBOX_LOST");
    },
  );

  served("connect.cancelled", "a connection that is given up harms no other", "echo", async ({ container }) => {
    const abort = new AbortController();
    const asked = Array.from({ length: 5 }, () =>
      failureOf(container.connect(port, { signal: abort.signal }), "CANCELLED"),
    );
    abort.abort();
    await Promise.all(asked);
    await failureOf(container.connect(port, { signal: AbortSignal.abort() }), "CANCELLED");
    expect((await echo(await container.connect(port), "")).toString()).toBe("end of input");
  });

  behaviour(
    "connect.no-port",
    "an invalid port is refused",
    async (scene) => {
      const container = await scene.idle();
      for (const wrong of [0, -1, 65_536, 1.5, Number.NaN])
        await failureOf(container.connect(wrong), "INVALID_REQUEST");
    },
    needs,
  );

  behaviour(
    "connect.between-programs",
    "a server in one program answers the others in its container, but no other container",
    async (scene) => {
      const container = await serving(scene);
      const stranger = await serving(scene);
      await serve(scene, container, "echo");
      const way = `tcp:127.0.0.1:${port}`;
      const reach = async (from: Container): Promise<string> =>
        (await scene.run(from, fixtureProgram("reaches-out.py", way))).stdout.toString();
      expect(JSON.parse(await reach(container))).toEqual({ [way]: "reached" });
      expect(JSON.parse(await reach(stranger))).toEqual({ [way]: expect.stringContaining("refused") as unknown });
      await failureOf(stranger.connect(port), "NETWORK_ERROR");
    },
    needs,
  );
};
