import { describe, expect, it } from "vitest";
import type { E2bSandbox } from "../e2b-sandbox.ts";
import { E2bProcess, ProcessTable } from "./e2b-process.ts";
import { InputQueue } from "./input-queue.ts";

const start = { cmd: "x", args: [], envs: {}, cwd: "/home/user", tag: undefined, pty: null, stdin: true };
const running = new Promise<void>(() => undefined);
const sandboxWith = (id: string, end = new AbortController()): E2bSandbox => ({ id, ended: end.signal }) as E2bSandbox;

describe("the processes of E2B's clients", () => {
  it("are bounded in each sandbox, and found in no other", () => {
    const table = new ProcessTable();
    const [one, other] = [sandboxWith("i1"), sandboxWith("i2")];
    for (let count = 0; count < 64; count += 1) {
      table.assertRoom(one);
      table.add(one, new E2bProcess({ ...start, tag: `tag-${count}` }), running);
    }
    expect(() => table.assertRoom(one)).toThrow("64 processes of this sandbox are running");
    table.assertRoom(other);
    expect(table.find(one, { tag: "tag-3" }).start.tag).toBe("tag-3");
    expect(() => table.find(other, { tag: "tag-3" })).toThrow('process with tag "tag-3" not found');
  });

  it("leave room as soon as they end, and only so many of them are still known", async () => {
    const table = new ProcessTable();
    const sandbox = { ...sandboxWith("i1"), caller: { principal: "p" } } as E2bSandbox;
    const call = (() => Promise.resolve({ exit_code: 0 })) as never;
    const alive = new E2bProcess({ ...start, tag: "alive" });
    table.add(sandbox, alive, running);
    for (let count = 0; count < 300; count += 1) {
      table.assertRoom(sandbox);
      const program = new E2bProcess({ ...start, tag: `tag-${count}` });
      await program.run(call, { sandbox, sandboxId: "s" });
      table.add(sandbox, program, Promise.resolve());
    }
    const isKnown = (tag: string): boolean => {
      try {
        return table.find(sandbox, { tag }, { ended: true }).start.tag === tag;
      } catch {
        return false;
      }
    };
    expect(["alive", "tag-299", "tag-173", "tag-172", "tag-0"].map(isKnown)).toEqual([true, true, true, false, false]);
  });

  it("are forgotten with their sandbox", () => {
    const table = new ProcessTable();
    const end = new AbortController();
    const sandbox = sandboxWith("i1", end);
    table.add(sandbox, new E2bProcess(start), running);
    end.abort();
    expect(table.live(sandbox)).toEqual([]);
  });

  it("have an input that is bounded while they do not read it", async () => {
    const queue = new InputQueue<string>(5, ({ length }) => length);
    queue.push("abc");
    expect(() => queue.push("def")).toThrow("the program does not read its input");
    queue.push("de");
    queue.close();
    expect(() => queue.push("f")).toThrow("the input is closed");
    const taken: string[] = [];
    for await (const item of queue) taken.push(item);
    expect(taken).toEqual(["abc", "de"]);
  });
});
