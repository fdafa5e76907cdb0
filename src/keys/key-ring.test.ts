import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../test/helpers/failure-of.ts";
import { until } from "../../test/helpers/until.ts";
import { KeyRing } from "./key-ring.ts";
import { makeKey, type KeyRecord } from "./key-record.ts";
import { changeKeys, readKeys, type KeysPlace } from "./keys-file.ts";

const uid = process.getuid?.() ?? null;
const ignore = (): undefined => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

interface Made {
  readonly text: string;
  readonly record: KeyRecord;
}

function makeRecord(rights: Partial<KeyRecord> = {}): Made {
  const { text, id, digest } = makeKey(randomBytes);
  const hash = `sha256:${Buffer.from(digest).toString("hex")}`;
  return { text, record: { id, name: "test", hash, created_at: "2026-01-01T00:00:00.000Z", ...rights } };
}

describe("the keys of a running server", () => {
  let folder = "";
  let place: KeysPlace;
  let nowMs = Date.parse("2026-06-01T00:00:00Z");
  let revoked: string[] = [];
  let ring: KeyRing | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "glovebox-keys-"));
    place = { path: path.join(folder, "own/keys.json"), isOwn: true, uid };
    nowMs = Date.parse("2026-06-01T00:00:00Z");
    revoked = [];
  });
  afterEach(async () => {
    ring?.[Symbol.dispose]();
    await rm(folder, { recursive: true });
  });

  const openRing = async (at: KeysPlace = place): Promise<KeyRing> => {
    const onRevoked = (principal: string): void => void revoked.push(principal);
    ring = await KeyRing.open({ place: at, now: () => nowMs, monotonicMs: () => nowMs });
    ring.follow({ logger: silent, onRevoked });
    return ring;
  };
  const add = (...made: readonly Made[]): Promise<void> =>
    changeKeys(place, (keys) => [...keys, ...made.map(({ record }) => record)]);

  it("tell whose key a text is, and nothing else of any other text", async () => {
    const [one, two] = [makeRecord({ sandboxes: 3, secrets: ["A"] }), makeRecord()];
    await add(one, two);
    const keys = await openRing();
    expect(keys.size).toBe(2);
    const caller = keys.authenticate(one.text);
    expect(caller?.principal).toBe(`key:${one.record.id}`);
    expect(keys.grantOf(`key:${one.record.id}`)).toMatchObject({
      ...{ maxSandboxes: 3, engines: null, networks: null, secrets: ["A"], mountRoots: [] },
    });
    expect(keys.grantOf(`key:${two.record.id}`)).toMatchObject({ maxSandboxes: null, secrets: [], mountRoots: [] });
    expect(keys.grantOf("local")).toBeNull();
    expect(() => keys.grantOf("key:other")).toThrow(expect.objectContaining({ errorType: "PERMISSION_DENIED" }));
    const secretOfOther = `gbx_${one.record.id}_${two.text.slice(17)}`;
    const wrong = [
      ...["", " ", "gbx_", one.record.id, `gbx_${one.record.id}`, `gbx_${one.record.id}_`, one.record.hash],
      ...[secretOfOther, `${one.text} `, `${one.text}x`, one.text.slice(0, -1), one.text.toUpperCase()],
      ...[makeKey(randomBytes).text, "x".repeat(1_000_000), `gbx___proto____${"a".repeat(43)}`],
    ];
    for (const text of wrong) expect(keys.authenticate(text), text.slice(0, 80)).toBeNull();
  });

  it("follow their file: a key that is made opens, one that is revoked ends what it has", async () => {
    const [one, two] = [makeRecord(), makeRecord()];
    await add(one);
    const keys = await openRing();
    const caller = keys.authenticate(one.text);
    await add(two);
    await until(() => keys.authenticate(two.text) !== null);
    expect(caller?.revoked.aborted).toBe(false);
    await changeKeys(place, (known) => known.filter(({ id }) => id !== one.record.id));
    await until(() => keys.authenticate(one.text) === null);
    expect(caller?.revoked.aborted).toBe(true);
    expect(() => keys.grantOf(`key:${one.record.id}`)).toThrow(/was revoked/);
    expect(revoked).toEqual([caller?.principal]);
    expect(keys.authenticate(two.text)?.revoked.aborted).toBe(false);
  });

  it("have new rights from the next call on, with the work of the key going on", async () => {
    const one = makeRecord({ sandboxes: 1 });
    await add(one);
    const keys = await openRing();
    const before = keys.authenticate(one.text);
    await changeKeys(place, (known) => known.map((record) => ({ ...record, sandboxes: 7 })));
    await until(() => keys.grantOf(`key:${one.record.id}`)?.maxSandboxes === 7);
    expect(before?.revoked.aborted).toBe(false);
    expect(revoked).toEqual([]);
  });

  it("open nothing from the moment on at which they expire", async () => {
    const one = makeRecord({ expires_at: "2026-06-01T00:01:00.000Z" });
    const old = makeRecord({ expires_at: "2026-05-01T00:00:00.000Z" });
    await add(one, old);
    const keys = await openRing();
    expect(keys.size).toBe(1);
    expect(keys.authenticate(old.text)).toBeNull();
    const caller = keys.authenticate(one.text);
    nowMs += 60_000;
    expect(keys.authenticate(one.text)).toBeNull();
    await until(() => caller?.revoked.aborted === true);
    expect(revoked).toEqual([caller?.principal]);
  });

  it("open nothing while their file is bad, and destroy no work for it", async () => {
    const one = makeRecord();
    await add(one);
    const keys = await openRing();
    const caller = keys.authenticate(one.text);
    const text = JSON.stringify({ keys: await readKeys(place) });
    await writeFile(place.path, '{"keys": [');
    await until(() => keys.authenticate(one.text) === null);
    expect(caller?.revoked.aborted).toBe(false);
    await writeFile(place.path, text);
    await until(() => keys.authenticate(one.text) !== null);
    expect(revoked).toEqual([]);
    await rm(place.path);
    await until(() => caller?.revoked.aborted === true);
  });

  it("count the requests of each key by itself", async () => {
    const [one, two] = [makeRecord({ requests_per_minute: 1 }), makeRecord()];
    await add(one, two);
    const keys = await openRing();
    keys.authenticate(one.text)?.countRequest();
    expect(() => keys.authenticate(one.text)?.countRequest()).toThrow(/1 requests per minute/);
    for (let number = 0; number < 100; number += 1) keys.authenticate(two.text)?.countRequest();
  });

  it("are written by several processes at once without one being lost", async () => {
    const made = Array.from({ length: 12 }, () => makeRecord());
    await Promise.all(made.map((each) => add(each)));
    const ids = (await readKeys(place)).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(made.map(({ record }) => record.id).toSorted());
  });

  const entry = makeRecord().record;
  it.each([
    ["no JSON", "{", /is not JSON/],
    ["no keys", "{}", /keys: /],
    ["a misspelt right, which would open more", { keys: [{ ...entry, sandboxs: 1 }] }, /keys\.0: .*sandboxs/],
    ["a wrong value", { keys: [{ ...entry, sandboxes: 0 }] }, /keys\.0\.sandboxes/],
    ["no hash", { keys: [{ ...entry, hash: "secret" }] }, /keys\.0\.hash/],
    ["a network that is none", { keys: [{ ...entry, network: ["everything"] }] }, /keys\.0\.network/],
    ["an id twice", { keys: [entry, entry] }, /stands there twice/],
  ])("are refused at the start with %s in their file", async (_, content, problem) => {
    await mkdir(path.dirname(place.path));
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await writeFile(place.path, text, { mode: 0o600 });
    const error = await failureOf(openRing(), "INVALID_REQUEST");
    expect(error.message).toMatch(problem);
  });

  it("are refused in a file that others may read, a link and a folder; a deployment's only if others may write it", async () => {
    await add(makeRecord());
    const deployed: KeysPlace = { ...place, isOwn: false };
    await chmod(place.path, 0o644);
    const problemOf = async (at: KeysPlace): Promise<string> =>
      (await failureOf(openRing(at), "PERMISSION_DENIED")).message;
    expect(await problemOf(place)).toContain("other users may read or write it");
    expect((await openRing(deployed)).size).toBe(1);
    ring?.[Symbol.dispose]();
    await chmod(place.path, 0o666);
    expect(await problemOf(deployed)).toContain("other users may write it");
    await chmod(place.path, 0o600);
    await rename(place.path, `${place.path}.other`);
    await symlink(`${place.path}.other`, place.path);
    expect(await problemOf(place)).toContain("it is a symbolic link");
    expect((await openRing(deployed)).size).toBe(1);
    ring?.[Symbol.dispose]();
    await rm(place.path);
    expect(await problemOf(deployed)).toContain("it does not exist");
    await mkdir(place.path);
    expect(await problemOf(place)).toContain("it is not a regular file");
    await failureOf(
      changeKeys(deployed, (keys) => keys),
      "UNSUPPORTED",
    );
  });
});
