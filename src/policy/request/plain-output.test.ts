import { describe, expect, it } from "vitest";
import { withPlainOutput } from "./plain-output.ts";

describe("the variables of a program whose output is no terminal", () => {
  it("ask for no colours", () => {
    expect(withPlainOutput({ A: "1" })).toEqual({ A: "1", NO_COLOR: "1", TERM: "dumb" });
  });

  it.each([{ FORCE_COLOR: "1" }, { CLICOLOR_FORCE: "1" }, { NO_COLOR: "" }])("leave the choice to %j", (own) => {
    expect(withPlainOutput(own)).toEqual({ ...own, TERM: "dumb" });
    expect(withPlainOutput({ ...own, TERM: "xterm" })).toEqual({ ...own, TERM: "xterm" });
  });
});
