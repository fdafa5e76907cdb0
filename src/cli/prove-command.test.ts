import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { ProveResponse } from "../operations/prove-contract.ts";
import type { CommandIo } from "./command-io.ts";
import type { CommandCalls } from "./open-calls.ts";
import { prove } from "./prove-command.ts";

it("says what an attack that is open means", async () => {
  const response: ProveResponse = {
    ...{ version: "0.1.0", node_version: "24.0.0", platform: "linux x64", kernel: "6", date: "2026-11-27", held: true },
    engines: [{ name: "docker", verdict: "held", counts: { denied: 20, open: 1 }, duration_ms: 1, attacks: [] }],
  };
  const stdout = new PassThrough();
  const io = { stdout, stderr: new PassThrough(), signal: new AbortController().signal } as unknown as CommandIo;
  const calls = { send: () => Promise.resolve(response) } as unknown as CommandCalls;
  expect(await prove(calls, {}, io)).toBe(0);
  stdout.end();
  expect(await text(stdout)).toContain(
    "docker held: 20 denied, 1 open (gets through, as docs/threat-model.md says of this engine).",
  );
});
