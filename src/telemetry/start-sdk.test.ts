import { expect, it } from "vitest";
import { diagnosticsTo, resourceAttributes } from "./start-sdk.ts";

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

const own = { version: "1.2.3", instance: "glovebox-1" };

it("names the service, its version and the process, and nothing of the machine", () => {
  expect(resourceAttributes({ ...own, environment: {} })).toEqual({
    "service.name": "glovebox",
    "service.version": "1.2.3",
    "service.instance.id": "glovebox-1",
  });
});

it("takes what the standard variables say above that", () => {
  const environment = {
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other, deployment.environment.name=a%20b=c ,broken,=nameless,bad=%zz",
    OTEL_SERVICE_NAME: "sandboxes",
  };
  expect(resourceAttributes({ ...own, environment })).toEqual({
    "service.name": "sandboxes",
    "service.version": "1.2.3",
    "service.instance.id": "glovebox-1",
    "deployment.environment.name": "a b=c",
  });
  const { OTEL_SERVICE_NAME: _, ...unnamed } = environment;
  expect(resourceAttributes({ ...own, environment: unnamed })).toMatchObject({ "service.name": "other" });
});
