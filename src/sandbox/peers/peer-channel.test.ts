import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { firstCreditBytes } from "../../base/mux/frames.ts";
import { PeerChannel } from "./peer-channel.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-peer-"))));
afterEach(() => rmSync(folder, { recursive: true }));

interface End {
  readonly channel: PeerChannel;
  readonly message: Promise<unknown>;
  readonly closed: Promise<void>;
}

function endOf(socket: Socket): End {
  const message = Promise.withResolvers<unknown>();
  const closed = Promise.withResolvers<void>();
  const channel = new PeerChannel(socket, { onMessage: message.resolve, onClose: closed.resolve });
  return { channel, message: message.promise, closed: closed.promise };
}

async function pair(): Promise<readonly [peer: End, owner: End, raw: Socket]> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const server = createServer(resolve);
  const address = path.join(folder, "s");
  await new Promise<void>((listening) => server.listen(address, listening));
  const raw = connect(address);
  const owner = await promise;
  server.close();
  return [endOf(raw), endOf(owner), raw];
}

it("carries every byte both ways, on three streams, in order", async () => {
  const [peer, owner] = await pair();
  const bytes = Buffer.alloc(3_000_000, "abcdefg");
  const collect = async (stream: Readable): Promise<Buffer> => {
    const pieces: Buffer[] = [];
    for await (const piece of stream.iterator({ destroyOnReturn: false })) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  };
  peer.channel.program.end(bytes);
  owner.channel.program.end(bytes.subarray(1));
  owner.channel.errors.end(bytes.subarray(2));
  const [input, output, errors] = await Promise.all([
    collect(owner.channel.program),
    collect(peer.channel.program),
    collect(peer.channel.errors),
  ]);
  expect([input.equals(bytes), output.equals(bytes.subarray(1)), errors.equals(bytes.subarray(2))]).toEqual([
    true,
    true,
    true,
  ]);
  peer.channel.close();
  await Promise.all([peer.closed, owner.closed]);
});

it("can be read to its end when the other end has gone already", async () => {
  const [peer, owner] = await pair();
  await new Promise<void>((sent) => owner.channel.program.end("last words", sent));
  owner.channel.errors.write("never ended");
  owner.channel.finish();
  await peer.closed;
  expect(peer.channel.errors.destroyed).toBe(true);
  const words: unknown = await peer.channel.program.iterator({ destroyOnReturn: false }).next();
  expect(words).toMatchObject({ done: false, value: Buffer.from("last words") });
});

it("holds a sender up while nobody reads, and lets messages pass all the same", async () => {
  const [peer, owner] = await pair();
  let written = 0;
  const piece = Buffer.alloc(65_536);
  const write = (): void => {
    peer.channel.program.write(piece, () => {
      written += piece.length;
      write();
    });
  };
  write();
  while (written < firstCreditBytes) await new Promise(setImmediate);
  peer.channel.send({ type: "end" });
  expect(await owner.message).toEqual({ type: "end" });
  expect(written).toBe(firstCreditBytes);
  peer.channel.close();
  await owner.closed;
});

it.each([
  ["no frame", Buffer.alloc(64, 0xff)],
  ["no message", Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 1, 0x7b])],
])("closes for %s", async (_, bytes) => {
  const [, owner, raw] = await pair();
  raw.write(bytes);
  await owner.closed;
  expect(owner.channel.program.destroyed).toBe(true);
});
