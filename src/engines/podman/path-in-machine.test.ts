import { describe, expect, it } from "vitest";
import { pathInMachine } from "./path-in-machine.ts";

describe("pathInMachine", () => {
  it("is the path itself but on Windows", () => {
    expect(pathInMachine("/home/me/x.json", "linux")).toBe("/home/me/x.json");
    expect(pathInMachine("C:\\Users\\me\\x.json", "win32")).toBe("/mnt/c/Users/me/x.json");
  });
});
