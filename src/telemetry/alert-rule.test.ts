import { describe, expect, it } from "vitest";
import { initialRuleState, stepRule } from "./alert-rule.ts";

const rule = { startAfterMs: 10, endAfterMs: 3 };

/** Values one after the other, one each millisecond; gives the moments at which something changed. */
function changes(values: readonly boolean[], given = rule): readonly string[] {
  let state = initialRuleState;
  return values.flatMap((isOver, atMs) => {
    const stepped = stepRule(given, state, { isOver, atMs });
    state = stepped.state;
    return stepped.change === null ? [] : [`${stepped.change} at ${atMs}`];
  });
}

const times = (count: number, isOver: boolean): boolean[] => Array.from({ length: count }, () => isOver);

describe("stepRule", () => {
  it.each([
    ["starts when the value has been over for so long", times(11, true), ["start at 10"]],
    ["does not start a moment earlier", times(10, true), []],
    ["starts once", times(40, true), ["start at 10"]],
    ["begins to count anew after one value below", [...times(10, true), false, ...times(10, true)], []],
    ["ends when it has been below for so long", [...times(11, true), ...times(4, false)], ["start at 10", "end at 14"]],
    ["does not end before", [...times(11, true), ...times(3, false), true, ...times(3, false)], ["start at 10"]],
    [
      "starts again after its end",
      [...times(11, true), ...times(4, false), ...times(11, true)],
      ["start at 10", "end at 14", "start at 25"],
    ],
    ["says nothing of a value that is never over", times(30, false), []],
  ])("%s", (_, values, expected) => {
    expect(changes(values)).toEqual(expected);
  });

  it("starts at once where nothing is to be waited for", () => {
    expect(changes([true], { startAfterMs: 0, endAfterMs: 3 })).toEqual(["start at 0"]);
  });
});
