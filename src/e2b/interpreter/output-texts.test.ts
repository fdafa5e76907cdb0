import { afterEach, expect, it, vi } from "vitest";
import { OutputTexts } from "./output-texts.ts";

afterEach(() => void vi.useRealTimers());

it("are whole lines as they come, and the beginning of one a moment later", async () => {
  vi.useFakeTimers();
  const said: string[] = [];
  const texts = new OutputTexts((stream, text) => Promise.resolve(void said.push(`${stream}:${text}`)));
  await texts.take("stdout", Buffer.from("hel"));
  await texts.take("stderr", Buffer.from("e"));
  await texts.take("stdout", Buffer.from("lo\nrest"));
  expect(said).toEqual(["stdout:hello\n"]);
  await vi.advanceTimersByTimeAsync(60);
  expect(said.splice(0)).toEqual(["stdout:hello\n", "stdout:rest", "stderr:e"]);
  const euro = Buffer.from("€");
  await texts.take("stdout", euro.subarray(0, 2));
  await texts.take("stdout", euro.subarray(2));
  await texts.take("stderr", euro.subarray(0, 1));
  await texts.end();
  expect(said).toEqual(["stdout:€", "stderr:\ufffd"]);
});

it("hold no line that has no end", async () => {
  let sent = 0;
  const texts = new OutputTexts((_, text) => Promise.resolve(void (sent += text.length)));
  for (let piece = 0; piece < 100; piece += 1) {
    await texts.take("stdout", Buffer.alloc(4_096, "x"));
    expect((piece + 1) * 4_096 - sent).toBeLessThan(16_384);
  }
  await texts.end();
  expect(sent).toBe(409_600);
});
