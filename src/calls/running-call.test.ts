import { describe, expect, it } from "vitest";
import { RecentOutput } from "./running-call.ts";

describe("recent output", () => {
  it("is the newest part, and the count is of everything", () => {
    const recent = new RecentOutput(5);
    for (const text of ["abc", "def", "", "g"]) recent.append(Buffer.from(text));
    expect([recent.text(), recent.totalBytes]).toEqual(["cdefg", 7]);
    recent.append(Buffer.from("0123456789"));
    expect([recent.text(), recent.totalBytes]).toEqual(["56789", 17]);
  });

  it("begins with a whole character", () => {
    const recent = new RecentOutput(4);
    recent.append(Buffer.from("aéßü"));
    expect(recent.text()).toBe("ßü");
    recent.append(Buffer.from("x"));
    expect(recent.text()).toBe("üx");
  });
});
