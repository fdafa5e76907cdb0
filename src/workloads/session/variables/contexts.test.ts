import { describe, expect, it } from "vitest";
import { Contexts, usualIn } from "./contexts.ts";

const python = { language: "python", toolchain: "python" } as const;
const bun = { language: "javascript", toolchain: "bun" } as const;
const specOf = (name: string) => ({ ...python, name, workingDirectory: "/work" });

describe("contexts of a session", () => {
  it("belong to one runtime, and are its own where they have no name", () => {
    const contexts = new Contexts({ now: () => 5, folder: "/work" });
    const own = contexts.ofCall(undefined, python);
    expect(own).toMatchObject({ name: "python", workingDirectory: "/work", createdAtMs: 5, lastUsedAtMs: null });
    expect(contexts.ofCall("python", python)).toBe(own);
    const a = contexts.ofCall("a", bun);
    expect(contexts.ofCall("a", { ...bun, language: "typescript" })).toBe(a);
    expect(() => contexts.ofCall("a", python)).toThrow("Context a runs with bun, not with python.");
    expect(() => contexts.ofCall("a", { ...bun, toolchain: "node" })).toThrow(
      "Context a runs with bun, not with node.",
    );
    expect(() => contexts.create({ ...specOf("node") })).toThrow("Context node runs with node, not with python.");
    expect(() => contexts.create(specOf("a"))).toThrow("This session has a context a already.");
    expect(contexts.all).toEqual([own, a]);
  });

  it("are at most eight, until one is removed", () => {
    const contexts = new Contexts({ now: () => 0, folder: "/work" });
    const [first] = Array.from({ length: 8 }, (_, index) => contexts.create(specOf(`c${index}`)));
    expect(() => contexts.ofCall(undefined, python)).toThrow("This session has 8 contexts already.");
    if (first !== undefined) contexts.remove(first);
    const again = contexts.create(specOf("c0"));
    // A second end of the one that is gone.
    if (first !== undefined) contexts.remove(first);
    expect(contexts.find("c0")).toBe(again);
    expect(() => contexts.get("constructor")).toThrow("This session has no context constructor.");
  });

  it("cancel the calls that are in them now, and no later ones", () => {
    const context = new Contexts({ now: () => 0, folder: "/work" }).ofCall("a", python);
    const before = context.stopped;
    context.stop("restarted");
    expect(before.reason).toMatchObject({
      errorType: "CANCELLED",
      message: "Context a was restarted before this call could begin.",
    });
    expect(context.stopped.aborted).toBe(false);
  });

  it("say what their calls are in unless these say otherwise", () => {
    const contexts = new Contexts({ now: () => 0, folder: "/work" });
    expect(usualIn("a", contexts.ofCall("a", bun))).toEqual({ language: "javascript", runtime: "bun" });
    expect(usualIn("b", contexts.ofCall("b", python))).toEqual({ language: "python" });
    expect(usualIn("python", undefined)).toEqual({ language: "python" });
    expect(usualIn("node", undefined)).toEqual({ runtime: "node" });
    expect(usualIn("toString", undefined)).toEqual({});
  });
});
