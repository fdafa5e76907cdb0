import { describe, expect, it } from "vitest";
import { LiveExecs, type LiveExec } from "./live-execs.ts";

function program(user = "1000:1000"): LiveExec {
  return { user, identity: null };
}

describe("LiveExecs", () => {
  it("knows who lives beside whom: programs of the same user number", async () => {
    const execs = new LiveExecs();
    const [one, sameUser, otherUser] = [program(), program("1000:5"), program("1001:1000")];
    for (const each of [one, sameUser, otherUser]) await execs.enter(each, undefined);
    expect(execs.beside(one)).toEqual([sameUser]);
    expect(execs.beside(otherUser)).toEqual([]);
    execs.leave(sameUser);
    expect(execs.has(sameUser)).toBe(false);
    expect(execs.beside(one)).toEqual([]);
  });

  it("lets no program in while a kill goes on, nor another kill, whatever became of the first", async () => {
    const execs = new LiveExecs();
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = execs.alone(() => gate.promise);
    const second = execs.alone(() => Promise.resolve(void events.push("second kill")));
    const entered = execs.enter(program(), undefined).then(() => events.push("entered"));
    await Promise.resolve();
    expect(events).toEqual([]);
    gate.reject(new Error("failed"));
    await expect(first).rejects.toThrow("failed");
    await Promise.all([second, entered]);
    expect(events).toEqual(["second kill", "entered"]);
  });

  it("gives up a program that is given up while it waits", async () => {
    const execs = new LiveExecs();
    const [gate, exec] = [Promise.withResolvers<void>(), program()];
    const kill = execs.alone(() => gate.promise);
    await expect(execs.enter(exec, AbortSignal.abort())).rejects.toMatchObject({ errorType: "CANCELLED" });
    gate.resolve();
    await kill;
    expect(execs.has(exec)).toBe(false);
  });
});
