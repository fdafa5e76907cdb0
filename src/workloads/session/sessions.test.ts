import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { WorkArchives } from "../../sandbox/work-archives.ts";
import type { SessionSettings } from "./session-call.ts";
import { Sessions } from "./sessions.ts";

const ignore = (): void => undefined;
const open = (idleMs = 60_000): Sessions =>
  new Sessions({
    archives: {} as WorkArchives,
    idleMs,
    waiting: () => 0,
    now: () => 0,
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
const settings = {} as SessionSettings;

describe("Sessions", () => {
  it("belong to their principal, and one to each connection", () => {
    const sessions = open();
    const session = sessions.create(settings, { principal: "a", connection: "c" });
    expect(session.id).toMatch(/^ses-/);
    expect(sessions.find(undefined, { principal: "a", connection: "c" })).toBe(session);
    expect(sessions.find(session.id, { principal: "a" })).toBe(session);
    expect(sessions.find(undefined, { principal: "a" })).toBeNull();
    expect(sessions.find(undefined, { principal: "b", connection: "c" })).toBeNull();
    expect(() => sessions.find(session.id, { principal: "b", connection: "c" })).toThrow(
      expect.objectContaining({ errorType: "NOT_FOUND", context: { session_id: session.id, session_ids: [] } }),
    );
  });

  it("end by name, with their connection, when they are idle, and all together", async () => {
    const sessions = open(5);
    const a = { principal: "a", connection: "c" };
    await sessions.end(sessions.create(settings, a));
    expect(sessions.find(undefined, a)).toBeNull();
    const second = sessions.create(settings, a);
    await sessions.endConnection(a);
    expect(() => sessions.find(second.id, a)).toThrow("No session has the id");
    const idle = sessions.create(settings, a);
    while (sessions.find(undefined, a) !== null) await sleep(1);
    expect(() => sessions.find(idle.id, a)).toThrow("No session has the id");
    await sessions.close();
    expect(() => sessions.create(settings, a)).toThrow("shutting down");
  });

  it("are so many and no more", () => {
    const sessions = open();
    for (let number = 0; number < 100; number += 1) sessions.create(settings, { principal: "a" });
    expect(() => sessions.create(settings, { principal: "a" })).toThrow(
      expect.objectContaining({ errorType: "CAPACITY" }),
    );
    expect(sessions.create(settings, { principal: "b" }).principal).toBe("b");
  });
});
