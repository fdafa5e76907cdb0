import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RecordWriter } from "../sandboxes.ts";
import type { LiveRecord, SandboxRecord } from "./sandbox-records.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const quiet = (): undefined => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function scene(kind: string) {
  const done: string[] = [];
  const records = {
    add: ({ id, peerAddress }: SandboxRecord) => Promise.resolve(void done.push(`add ${id} ${peerAddress}`)),
    delete: (id: string) => Promise.resolve(void done.push(`delete ${id}`)),
  };
  const peerServer = { open: () => Promise.resolve("there") };
  const record = { id: "sbx-1", kind } as LiveRecord;
  return { writer: new RecordWriter(record, { records, peerServer, logger }), done };
}

it("writes what lasts at once", async () => {
  const { writer, done } = scene("session");
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toEqual(["add sbx-1 there"]);
  await writer.remove();
  expect(done.at(-1)).toBe("delete sbx-1");
});

it("writes nothing of a run that is over in a moment, and a longer one's as it goes on", async () => {
  const short = scene("execute");
  await vi.advanceTimersByTimeAsync(40);
  await short.writer.remove();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(short.done).toEqual([]);
  const long = scene("execute");
  await vi.advanceTimersByTimeAsync(60);
  expect(long.done).toEqual(["add sbx-1 there"]);
  await long.writer.remove();
  expect(long.done.at(-1)).toBe("delete sbx-1");
});
