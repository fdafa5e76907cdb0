import { describe, expect, it } from "vitest";
import { startedScene } from "../../../../test/helpers/supervised-scene.ts";

function question(name: string): Buffer {
  const labels = name.split(".").map((label) => `${String.fromCharCode(label.length)}${label}`);
  return Buffer.from(`\x07\x07\x01\0\0\x01\0\0\0\0\0\0${labels.join("")}\0\0\x01\0\x01`, "latin1");
}

async function hearing(): Promise<
  Awaited<ReturnType<typeof startedScene>> & {
    readonly names: string[];
    readonly hearing: Disposable;
    readonly stream: number;
  }
> {
  const scene = await startedScene();
  const names: string[] = [];
  const heard = scene.container.hearNames((name) => names.push(name));
  const { stream, fields } = await scene.standIn.next("LISTEN");
  expect(fields).toMatchObject({ port: 0, family: 4, kind: 2 });
  return { ...scene, names, hearing: heard, stream };
}

describe("hearNames of a supervised container", () => {
  it("tells each name once, as it was spelled", async () => {
    const { container, standIn, names, stream } = await hearing();
    standIn.say("OPENED", stream, { port: 53 });
    const asked = ["example.com", "example.com", "Other.test", "4.3.2.1.in-addr.arpa"].map(question);
    for (const tail of asked) standIn.say("DATAGRAM", stream, { port: 4000, tail });
    await expect.poll(() => names).toEqual(["example.com", "Other.test"]);
    expect(await container.isAlive()).toBe(true);
  });

  it("tells no more than 20 names, however many a program asks for", async () => {
    const { container, standIn, names, stream } = await hearing();
    standIn.say("OPENED", stream, { port: 53 });
    for (let at = 0; at < 64; at += 1) {
      standIn.say("DATAGRAM", stream, { port: 4000, tail: question(`n${at}.test`) });
    }
    expect(await container.isAlive()).toBe(true);
    expect(names).toHaveLength(20);
  });

  it("tells nothing where there is no resolver, and nothing breaks", async () => {
    const { container, standIn, names, hearing: heard, stream } = await hearing();
    standIn.end(stream, { reason: 1, stage: 15, error: 13 });
    expect(await container.isAlive()).toBe(true);
    heard[Symbol.dispose]();
    expect(await container.isAlive()).toBe(true);
    expect([names, standIn.got("CLOSE")]).toEqual([[], []]);
  });

  it("listens no longer when it is disposed of, whatever still comes", async () => {
    const { container, standIn, names, hearing: heard, stream } = await hearing();
    standIn.say("OPENED", stream, { port: 53 });
    heard[Symbol.dispose]();
    standIn.say("DATAGRAM", stream, { port: 4000, tail: question("late.test") });
    expect((await standIn.next("CLOSE")).stream).toBe(stream);
    standIn.end(stream, { reason: 4 });
    expect(await container.isAlive()).toBe(true);
    expect(names).toEqual([]);
  });

  it.each([
    ["one question more than there may be", 65, 100],
    ["a question that is too long", 1, 513],
  ])("ends a sandbox whose supervisor tells %s", async (_, count, bytes) => {
    const { container, standIn, stream } = await hearing();
    standIn.say("OPENED", stream, { port: 53 });
    for (let at = 0; at < count; at += 1) {
      standIn.say("DATAGRAM", stream, { port: 4000, tail: Buffer.alloc(bytes) });
    }
    await expect.poll(() => container.isAlive()).toBe(false);
  });
});
