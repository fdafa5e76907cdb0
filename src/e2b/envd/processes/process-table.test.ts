import { describe, expect, it } from "vitest";
import type { E2bSandbox } from "../../sandboxes/e2b-sandbox.ts";
import { E2bProcess } from "./e2b-process.ts";
import { InputQueue } from "./input-queue.ts";
import { ProcessTable } from "./process-table.ts";

const start = { cmd: "x", args: [], envs: {}, cwd: "/work", tag: undefined, pty: null, stdin: true };
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
