import { describe, expect, it } from "vitest";
import { parseEvents, stateFromEvents } from "./place.ts";
import { containerState, removeContainer } from "./container-link.ts";
import { openAnsweringEngine, type AnsweringEngine } from "../../../../test/helpers/answering-engine.ts";

describe("containerState", () => {
  it.each([
    ["created", { Status: "created", Running: false, ExitCode: 0, OOMKilled: false }, [false, null, false]],
    ["running", { Status: "running", Running: true, ExitCode: 0, OOMKilled: false }, [true, null, false]],
    ["ended well", { Status: "exited", Running: false, ExitCode: 0, OOMKilled: false }, [false, 0, false]],
    ["out of memory", { Status: "exited", Running: false, ExitCode: 137, OOMKilled: true }, [false, 137, true]],
    [
      "never able to start",
      { Status: "created", Running: false, ExitCode: 127, OOMKilled: false },
      [false, 127, false],
    ],
    ["unknown", undefined, [false, null, null]],
  ] as const)("of what is %s", (_, State, [running, exitCode, oomKilled]) => {
    expect(containerState(State === undefined ? {} : { State })).toEqual({ running, exitCode, oomKilled });
  });
});

describe("stateFromEvents", () => {
  it("tells of the last death and of want of memory", () => {
    const lines = [
      '{"Action":"oom","Actor":{"Attributes":{}}}',
      '{"Action":"die","Actor":{"Attributes":{"exitCode":"137"}}}',
    ];
    const state = stateFromEvents(parseEvents(`${lines.join("\n")}\n`));
    expect(state).toEqual({ running: false, exitCode: 137, oomKilled: true });
  });

  it("tells a death that had another reason, from one event alone", () => {
    const event = { Action: "die", Actor: { Attributes: { exitCode: "0" } } };
    expect(stateFromEvents(parseEvents(event))).toEqual({ running: false, exitCode: 0, oomKilled: false });
  });

  it("knows nothing of what the engine has forgotten", () => {
    expect(stateFromEvents(parseEvents(null))).toEqual({ running: false, exitCode: null, oomKilled: null });
  });
});

const left =
  "timed out waiting for container c1 exec session e1 PID 7 to stop after SIGKILL: given PIDs did not die within timeout";

/** An engine that fails as many removals; gives how often it was asked for one. */
async function engineThatFails(removals: number): Promise<AnsweringEngine & { readonly asked: () => number }> {
  let asked = 0;
  const engine = await openAnsweringEngine("podman", (_, response) => {
    asked += 1;
    const fails = asked <= removals;
    response.writeHead(fails ? 500 : 204, { "content-type": "application/json" });
    response.end(fails ? JSON.stringify({ message: left }) : undefined);
  });
  return { ...engine, asked: () => asked };
}

it("asks again for a removal that the engine has failed", async () => {
  using engine = await engineThatFails(2);
  await removeContainer(engine.api, "c1");
  expect(engine.asked()).toBe(3);
});

it("tells when the engine fails it every time", async () => {
  using engine = await engineThatFails(Number.POSITIVE_INFINITY);
  await expect(removeContainer(engine.api, "c1")).rejects.toMatchObject({
    errorType: "INTERNAL",
    message: "Podman failed to remove the container (HTTP 500).",
  });
  expect(engine.asked()).toBe(5);
});
