import { expect, it } from "vitest";
import { openAnsweringEngine, type AnsweringEngine } from "../../../../test/helpers/answering-engine.ts";
import { removeContainer } from "./remove-container.ts";

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
