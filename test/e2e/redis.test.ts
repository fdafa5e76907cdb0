import pino from "pino";
import { createClient } from "redis";
import { afterAll, beforeEach, expect, it } from "vitest";
import type { LogBlock, WireLogEntry } from "../../src/telemetry/log-entry.ts";
import { LogSink } from "../../src/telemetry/log-sink.ts";
import { RedisPublisher } from "../../src/telemetry/redis-publisher.ts";
import { RedisServer, redisProblem } from "../helpers/redis-server.ts";
import { skipOrFail } from "../helpers/require.ts";
import { blocksOf, entriesOf } from "../helpers/store-scene.ts";
import { until } from "../helpers/until.ts";

const source = { sandbox: "sbx-1", principal: "ann" };
const logger = pino({ level: "silent" });
let redis: RedisServer | undefined;

beforeEach(async (context) => {
  const problem = redisProblem();
  if (problem !== null) skipOrFail(context, "redis", problem);
  redis ??= await RedisServer.start();
});
afterAll(() => redis?.[Symbol.asyncDispose]());

async function subscribe(): Promise<{ readonly heard: WireLogEntry[]; end(): void }> {
  const client = createClient({ url: redis?.url ?? "" });
  client.on("error", () => undefined);
  await client.connect();
  const heard: WireLogEntry[] = [];
  await client.pSubscribe("glovebox:logs:*", (text, channel) => {
    const entry = JSON.parse(text) as WireLogEntry;
    expect(channel).toBe(`glovebox:logs:${entry.container_id}`);
    heard.push(entry);
  });
  return { heard, end: () => client.destroy() };
}

it("waits while Redis is away, publishes in order when it is back, and counts what found no room", async () => {
  const publisher = new RedisPublisher(redis?.url ?? "", logger);
  const write = (blocks: readonly LogBlock[]): Promise<void> => publisher.publish(blocks);
  const sink = new LogSink({ name: "Redis", maxBytes: 400_000, batchItems: 100, write, logger, now: () => 0 });
  const before = await subscribe();
  for (const block of blocksOf(entriesOf(source, 50))) sink.offer(block);
  await sink.idle();
  await until(() => before.heard.length === 50);
  before.end();

  await redis?.down();
  for (const block of blocksOf(entriesOf(source, 5_000, 50))) sink.offer(block);
  await until(() => sink.state.isFailing);
  const other = { sandbox: "sbx-2", principal: "bob" };
  for (const block of blocksOf(entriesOf(other, 10))) sink.offer(block);
  sink.end(source);
  await redis?.up();
  const after = await subscribe();
  await sink.idle();
  await until(() => after.heard.some(({ dropped }) => dropped !== undefined));
  const ours = after.heard.filter(({ container_id: id }) => id === "sbx-1");
  const gap = ours.at(-1);
  // The first may have been sent before this subscriber was back.
  const first = ours[0]?.offset ?? 0;
  expect(ours.map(({ offset }) => offset)).toEqual(ours.map((_, index) => first + index));
  expect((gap?.offset ?? 0) + (gap?.dropped ?? 0)).toBe(5_050);
  expect(gap?.dropped).toBe(sink.state.dropped);
  // A flooding neighbour has not taken its room.
  expect(after.heard.filter(({ container_id: id }) => id === "sbx-2").map(({ offset }) => offset)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
  after.end();
  await sink.close(1_000);
  publisher.close();
});
