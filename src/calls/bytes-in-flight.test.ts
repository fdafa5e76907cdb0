import { describe, expect, it } from "vitest";
import { BytesInFlight, type HeldBytes } from "./bytes-in-flight.ts";

const mebibyte = 1_048_576;
const isFull = (limit: Readonly<Record<string, number>>): unknown =>
  expect.objectContaining({ errorType: "CAPACITY", context: { ...limit, retry_after_seconds: 5 } });

describe("bytes in flight", () => {
  it("are refused beyond a principal's share, to that principal alone, until some are given back", () => {
    const inFlight = new BytesInFlight();
    const held = Array.from({ length: 4 }, () => inFlight.hold("a", 16 * mebibyte));
    expect(() => inFlight.hold("a")).toThrow(isFull({ in_flight_bytes: 64 * mebibyte }));
    expect(() => inFlight.hold("b", 16 * mebibyte)).not.toThrow();
    held[0]?.release();
    held[0]?.release();
    expect(inFlight.of("a")).toEqual({ bytes: 48 * mebibyte, messages: 3 });
    const more = inFlight.hold("a", mebibyte);
    expect(() => more.set(17 * mebibyte)).toThrow(isFull({ in_flight_bytes: 64 * mebibyte }));
    expect(inFlight.of("a").bytes).toBe(49 * mebibyte);
    more.set(0);
    expect(inFlight.of("a").bytes).toBe(48 * mebibyte + 4096);
  });

  it("count each message, however short, and not what was refused", () => {
    const inFlight = new BytesInFlight();
    const held: HeldBytes[] = [];
    for (let count = 0; count < 1024; count += 1) held.push(inFlight.hold("a"));
    expect(() => inFlight.hold("a")).toThrow(isFull({ in_flight_messages: 1024 }));
    for (const each of held) each.release();
    expect(inFlight.of("a")).toEqual({ bytes: 0, messages: 0 });
  });

  it("of one message larger than the share fit alone", () => {
    const inFlight = new BytesInFlight();
    const held = inFlight.hold("a", 500 * mebibyte);
    expect(() => inFlight.hold("a")).toThrow(isFull({ in_flight_bytes: 64 * mebibyte }));
    held.release();
    expect(inFlight.of("a").bytes).toBe(0);
  });

  it("have a small share for callers without a key, all together, and a bound for everyone", () => {
    const inFlight = new BytesInFlight();
    inFlight.hold(null, 7 * mebibyte);
    expect(() => inFlight.hold(null, 2 * mebibyte)).toThrow(isFull({ in_flight_bytes: 8 * mebibyte }));
    for (const principal of ["a", "b"]) inFlight.hold(principal, 64 * mebibyte);
    expect(() => inFlight.hold("c", 61 * mebibyte)).toThrow(isFull({ in_flight_bytes_of_all: 256 * mebibyte }));
    expect(() => inFlight.hold("c", 60 * mebibyte)).not.toThrow();
  });

  it("leave room for another when several use up all that they may", () => {
    const inFlight = new BytesInFlight();
    for (let number = 0; number < 8; number += 1) {
      const fill = (): void => {
        for (;;) inFlight.hold(`greedy ${number}`, mebibyte);
      };
      expect(fill).toThrow(expect.objectContaining({ errorType: "CAPACITY" }));
    }
    expect(() => inFlight.hold("late", mebibyte)).not.toThrow();
  });
});
