import { describe, expect, it } from "vitest";
import type { Container, Engine } from "../engines/engine.ts";
import { Admission } from "./admission.ts";
import { Sandbox } from "./sandbox.ts";
import { Sandboxes, type SandboxesOptions, type SandboxPlan } from "./sandboxes.ts";

const quiet = (): undefined => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const caller = { principal: "somebody" };
const plan = { kind: "execute", lifetimeMs: 1_000, image: "any:1", scratch: [] } as unknown as SandboxPlan;

/** What goes wrong in an engine's next container. */
type Fault = "none" | "create" | "start" | "start and remove";

/** An engine that can make containers and start them, or not; and sandboxes of which one may live at a time. */
function scene() {
  const there = new Set<string>();
  let fault: Fault = "none";
  const containerOf = (name: string): Container =>
    ({
      id: name,
      start: () => (fault.startsWith("start") ? Promise.reject(new Error("no start")) : Promise.resolve()),
      remove: () => {
        if (fault === "start and remove") return Promise.reject(new Error("no removal"));
        there.delete(name);
        return Promise.resolve();
      },
    }) as unknown as Container;
  const engine = {
    name: "docker",
    capabilities: () => Promise.resolve({}),
    create: ({ name }: { readonly name: string }) => {
      if (fault === "create") return Promise.reject(new Error("no container"));
      there.add(name);
      return Promise.resolve(containerOf(name));
    },
  } as unknown as Engine;
  const sandboxes = new Sandboxes({
    admission: new Admission({ maxSandboxes: 1, queueLimit: 0, queueTimeoutMs: 1 }),
    leases: { hold: () => Promise.resolve() } as SandboxesOptions["leases"],
    records: {
      add: () => Promise.resolve(),
      delete: () => Promise.resolve(),
    } as unknown as SandboxesOptions["records"],
    door: { open: () => Promise.resolve("door") },
    owner: "own-this",
    logger,
    now: () => 0,
  });
  return { sandboxes, engine, there, break: (next: Fault) => void (fault = next) };
}

describe("a start that fails", () => {
  it.each(["create", "start"] as const)("(%s) leaves no container and gives its place back", async (fault) => {
    const { sandboxes, engine, there, break: breakIt } = scene();
    breakIt(fault);
    await expect(sandboxes.open(engine, plan, caller)).rejects.toThrow(fault === "create" ? "container" : "start");
    expect([...there], "nothing is left on the engine").toEqual([]);
    breakIt("none");
    const next: unknown = await sandboxes.open(engine, plan, caller).catch((error: unknown) => error);
    expect(next, "its place is free").toBeInstanceOf(Sandbox);
    expect(sandboxes.live).toEqual([next]);
  });

  it("is told as it was when its rest stays behind, which is named as left; its place is free all the same", async () => {
    const { sandboxes, engine, there, break: breakIt } = scene();
    breakIt("start and remove");
    await expect(sandboxes.open(engine, plan, caller)).rejects.toThrow("no start");
    const [stuck = ""] = there;
    expect(sandboxes.left).toEqual([stuck.replace("glovebox-", "")]);
    breakIt("none");
    await (await sandboxes.open(engine, plan, caller)).remove();
  });
});

describe("a sandbox", () => {
  it("holds its place until it is removed", async () => {
    const { sandboxes, engine } = scene();
    const first = await sandboxes.open(engine, plan, caller);
    await expect(sandboxes.open(engine, plan, caller)).rejects.toMatchObject({ errorType: "CAPACITY" });
    await first.remove();
    await (await sandboxes.open(engine, plan, caller)).remove();
  });
});
