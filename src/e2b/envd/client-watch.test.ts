import { expect, it } from "vitest";
import { ConnectError } from "../refusal.ts";
import { ChangeReader, WatchTable, type ClientWatch } from "./client-watch.ts";
import type { E2bSandbox } from "../e2b-sandbox.ts";

it("reads changes whatever pieces they come in, and splits no name", () => {
  const text = Buffer.from("S\0Ca\nCb\0W\u{fc}/x\0D.\0Ny\0Mz\0=\0");
  const whole = new ChangeReader().take(text);
  expect(whole).toEqual([
    "started",
    { type: "EVENT_TYPE_CREATE", name: "a\nCb" },
    { type: "EVENT_TYPE_WRITE", name: "\u{fc}/x" },
    { type: "EVENT_TYPE_REMOVE", name: "." },
    { type: "EVENT_TYPE_RENAME", name: "y" },
    { type: "EVENT_TYPE_CHMOD", name: "z" },
    "all told",
  ]);
  const reader = new ChangeReader();
  expect([...text].flatMap((byte) => reader.take(Uint8Array.of(byte)))).toEqual(whole);
});

it.each(["\0", "C\0", "x\0", "Xname\0", "S1\0", "toString\0", `C${"x".repeat(5000)}\0`, "x".repeat(5000)])(
  "takes nothing that is never told: %j",
  (text) => {
    expect(() => new ChangeReader().take(Buffer.from(text))).toThrow(ConnectError);
  },
);

const sandboxWith = (id: string, end = new AbortController()): E2bSandbox => ({ id, ended: end.signal }) as E2bSandbox;
const watchWith = (hasEnded = false): ClientWatch =>
  ({ ended: new Promise<null>(() => undefined), hasEnded, stop: () => undefined }) as unknown as ClientWatch;

it("bounds the watches of a sandbox, and gives a place back at the end of one", async () => {
  const table = new WatchTable();
  const [one, other] = [sandboxWith("i1"), sandboxWith("i2")];
  const { promise, resolve } = Promise.withResolvers<null>();
  table.count(one, { ended: promise });
  for (let count = 1; count < 16; count += 1) table.count(one, watchWith());
  expect(() => table.assertRoom(one)).toThrow("16 folders of this sandbox are being watched");
  table.assertRoom(other);
  resolve(null);
  await promise;
  await Promise.resolve();
  table.assertRoom(one);
});

it("finds a watch in its own sandbox only, and no longer once it is removed", () => {
  const table = new WatchTable();
  const [one, other] = [sandboxWith("i1"), sandboxWith("i2")];
  const id = table.add(one, { watch: watchWith(), events: [] });
  expect(table.find(one, id).events).toEqual([]);
  expect(() => table.find(other, id)).toThrow(`watcher "${id}" not found`);
  expect(() => table.remove(other, id)).toThrow("not found");
  table.remove(one, id);
  expect(() => table.find(one, id)).toThrow("not found");
});

it("forgets the eldest that have ended, and those of a sandbox that has ended", () => {
  const table = new WatchTable();
  const end = new AbortController();
  const sandbox = sandboxWith("i1", end);
  const ids = Array.from({ length: 40 }, () => table.add(sandbox, { watch: watchWith(true), events: [] }));
  expect(() => table.find(sandbox, ids[0]!)).toThrow("not found");
  table.find(sandbox, ids.at(-1)!);
  end.abort();
  expect(() => table.find(sandbox, ids.at(-1)!)).toThrow("not found");
});
