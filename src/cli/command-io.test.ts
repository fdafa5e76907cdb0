import { expect, it } from "vitest";
import { plainLog } from "./command-io.ts";

function written(write: (log: ReturnType<typeof plainLog>) => void): string {
  let text = "";
  write(plainLog({ write: (chunk: string) => (text += chunk) }));
  return text;
}

it("is a line of ours per entry, with its reason and its other fields in short", () => {
  expect(
    written((log) => {
      log.warn({ bun: "1.4.5" }, "fetching Bun, once for this user");
      log.error({ sandbox: "sbx-1", left: ["a"], more: "x".repeat(300), err: new Error("broken") }, "not removed");
      log.info({}, "done");
    }),
  ).toBe(
    `glovebox: fetching Bun, once for this user (bun 1.4.5)\nglovebox: not removed: broken (sandbox sbx-1, left ["a"], more ${"x".repeat(100)})\nglovebox: done\n`,
  );
});

it("lets a hostile reason neither begin a line nor move the cursor nor fill the terminal", () => {
  const err = new Error(`a\nglovebox: fine\u001b[2J${"x".repeat(5_000)}`);
  const text = written((log) => log.warn({ err }, "failed"));
  expect(text.startsWith(String.raw`glovebox: failed: a\nglovebox: fine\x1b[2Jxx`)).toBe(true);
  expect(text.length).toBeLessThan(1_100);
  expect(written((log) => log.info({ name: "a\nglovebox: fine" }, "m"))).toBe(
    String.raw`glovebox: m (name a\nglovebox: fine)` + "\n",
  );
});
