import { expect, it } from "vitest";
import { failureOf } from "../../test/helpers/failure-of.ts";
import { Tickets } from "./authentication.ts";

/** Makes tickets until one is refused. */
async function makeAll(tickets: Tickets, principal: string): Promise<readonly string[]> {
  const made: string[] = [];
  const make = async (): Promise<never> => {
    for (;;) made.push(tickets.make({ principal }));
  };
  expect((await failureOf(make(), "CAPACITY")).context).toEqual({ retry_after_seconds: 30 });
  return made;
}

it("a principal has a share of tickets, and several that use up theirs leave some for another", async () => {
  let nowMs = 0;
  const tickets = new Tickets(() => nowMs);
  const [first, ...others] = await makeAll(tickets, "greedy");
  expect(others).toHaveLength(99);
  const more: string[] = [];
  for (let count = 0; count < 14; count += 1) more.push(...(await makeAll(tickets, `greedy ${count}`)));
  expect(more.length).toBeLessThan(900);
  expect(() => tickets.make({ principal: "late" })).not.toThrow();
  // One that is used makes room, and time does.
  expect(tickets.take(first ?? "")).toEqual({ principal: "greedy" });
  nowMs = 30_001;
  expect(await makeAll(tickets, "greedy")).toHaveLength(100);
});
