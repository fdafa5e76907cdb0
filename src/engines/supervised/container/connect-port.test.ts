import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { startedScene } from "../../../../test/helpers/supervised-scene.ts";

const refused = { reason: 1, stage: 14, error: 111 };

describe("connect of a supervised container", () => {
  it("carries a connection", async () => {
    const { container, standIn } = await startedScene();
    const connecting = container.connect(8080);
    expect((await standIn.next("DIAL")).fields).toMatchObject({ port: 8080, family: 4 });
    standIn.say("OPENED", 1, { port: 1 });
    const connection = await connecting;
    standIn.output(1, "hello");
    standIn.say("OUTPUT_END", 1, { channel: 1 });
    expect(await text(connection)).toBe("hello");
  });

  it("finds a server at the other address of localhost", async () => {
    const { container, standIn } = await startedScene();
    const connecting = container.connect(8080);
    await standIn.next("DIAL");
    standIn.end(1, refused);
    expect((await standIn.next("DIAL", 2)).fields).toMatchObject({ port: 8080, family: 6 });
    standIn.say("OPENED", 2, { port: 1 });
    expect((await connecting).destroyed).toBe(false);
  });

  it.each([111, 97, 99, 101])("says that nothing listens (errno %d at the second address)", async (error) => {
    const { container, standIn } = await startedScene();
    const connecting = failureOf(container.connect(8080), "NETWORK_ERROR");
    await standIn.next("DIAL");
    standIn.end(1, refused);
    await standIn.next("DIAL", 2);
    standIn.end(2, { ...refused, error });
    expect((await connecting).context).toMatchObject({ port: 8080, reason: "refused" });
  });

  it.each([{ reason: 3 }, { reason: 1, stage: 14, error: 24 }])("says that the way was lost (%o)", async (end) => {
    const { container, standIn } = await startedScene();
    const connecting = failureOf(container.connect(8080), "NETWORK_ERROR");
    await standIn.next("DIAL");
    standIn.end(1, end);
    expect((await connecting).context).toMatchObject({ reason: "lost" });
  });

  it("says that the sandbox was lost when it was", async () => {
    const { container, standIn } = await startedScene();
    const connecting = failureOf(container.connect(8080), "SANDBOX_LOST");
    await standIn.next("DIAL");
    standIn.side.end();
    await connecting;
  });

  it("takes an attempt back that is given up", async () => {
    const { container, standIn } = await startedScene();
    const abort = new AbortController();
    const connecting = failureOf(container.connect(8080, { signal: abort.signal }), "CANCELLED");
    await standIn.next("DIAL");
    abort.abort();
    expect((await standIn.next("CLOSE")).stream).toBe(1);
    standIn.end(1, { reason: 4 });
    await connecting;
    expect(await container.isAlive()).toBe(true);
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])("refuses the port %d", async (port) => {
    const { container, standIn } = await startedScene();
    await failureOf(container.connect(port), "INVALID_REQUEST");
    expect(await container.isAlive()).toBe(true);
    expect(standIn.got("DIAL")).toEqual([]);
  });
});
