import { expect, it } from "vitest";
import { leftOutWarnings } from "./left-out-artifacts.ts";

it("one warning for each reason names the first ten, on one line, and counts the rest", () => {
  const links = Array.from({ length: 12 }, (_, index) => ({ path: `l${index}`, reason: "A link." }));
  const odd = { path: `a\nb${"x".repeat(300)}`, reason: "Odd." };
  const [first = "", second = "", ...rest] = leftOutWarnings([...links, odd]);
  expect(first).toBe(
    'artifacts: "l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9" and 2 more left out. A link.',
  );
  expect(second).toMatch(/^artifacts: "a\\nbx{197}" left out\. Odd\.$/);
  expect(rest).toEqual([]);
  expect(leftOutWarnings([])).toEqual([]);
});
