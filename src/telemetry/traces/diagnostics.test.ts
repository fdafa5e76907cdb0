import { expect, it } from "vitest";
import { diagnosticsTo } from "./diagnostics.ts";

it("a collector that is away for long is worth one warning in ten minutes", () => {
  const said: string[] = [];
  const say =
    (level: string) =>
    (fields: Readonly<Record<string, unknown>>): void =>
      void said.push(`${level} ${String(fields["opentelemetry"])}`);
  let nowMs = 0;
  const logger = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  const diagnostics = diagnosticsTo(logger, () => nowMs);
  diagnostics.info("begins");
  diagnostics.error("away");
  nowMs += 5_000;
  diagnostics.error("still away");
  nowMs += 10 * 60_000;
  diagnostics.error(`away ${"x".repeat(10_000)}`);
  expect(said.map((each) => each.slice(0, 20))).toEqual([
    "debug begins",
    "warn away",
    "debug still away",
    "warn away xxxxxxxxxx",
  ]);
  expect(said.at(-1)).toHaveLength(505);
});
