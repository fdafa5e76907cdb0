import { describe, expect, it } from "vitest";
import { BuildLines } from "./build-lines.ts";

describe("BuildLines", () => {
  it("puts pieces together to lines", () => {
    const lines = new BuildLines();
    expect(lines.add({ stream: "Step 1/2 : " })).toEqual([]);
    expect(lines.add({ stream: "FROM a\n ---> 1\n\n" })).toEqual(["Step 1/2 : FROM a", "---> 1"]);
    expect(lines.failure).toBeNull();
  });

  it("keeps the last lines before the failure, and not more", () => {
    const lines = new BuildLines();
    for (let number = 1; number <= 40; number += 1) lines.add({ stream: `line ${number}\n` });
    lines.add({ errorDetail: { message: "exit code 1" }, error: "exit code 1" });
    const told = lines.failure?.split("\n") ?? [];
    expect(told).toHaveLength(13);
    expect([told[0], told.at(-2), told.at(-1)]).toEqual(["line 29", "line 40", "exit code 1"]);
  });
});
