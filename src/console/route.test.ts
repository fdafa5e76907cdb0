import { expect, it } from "vitest";
import { addressOf, parseRoute } from "./route.ts";

it.each([
  ["", { section: "running", id: null, tab: null }],
  ["#/history", { section: "history", id: null, tab: null }],
  ["#/alerts/sbx-1/metrics", { section: "alerts", id: "sbx-1", tab: "metrics" }],
  ["#/nowhere/%zz/none", { section: "running", id: null, tab: null }],
] as const)("reads the address %j", (hash, expected) => {
  expect(parseRoute(hash)).toEqual(expected);
});

it.each(["javascript:alert(1)", "../../x", '"><img>', "a/b#c?d", "\u202e"])(
  "keeps an id whole, whatever it is: %j",
  (id) => {
    const address = addressOf({ section: "history", id, tab: "log" });
    expect(address).toMatch(/^#\/history\/[\w%.\-()'*!~]+\/log$/);
    expect(parseRoute(address)).toEqual({ section: "history", id, tab: "log" });
  },
);
