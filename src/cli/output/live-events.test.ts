import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Isolation } from "../../policy/isolation.ts";
import { engineCaveats } from "../../policy/engine-caveats.ts";
import { denial } from "../../policy/network/denial.ts";
import { LiveEvents } from "./live-events.ts";

it("lists each refused connection once, and not without end", async () => {
  const stderr = new PassThrough({ encoding: "utf8" });
  const written = (): readonly string[] => ((stderr.read() as string | null) ?? "").split(/(?<=\n)/);
  using live = new LiveEvents(stderr);
  const refuse = (name: string): Promise<void> =>
    live.onEvent({ type: "denied", denial: denial("not_allowed", name, "No.", "Ask.") });
  await refuse("a.example:443");
  await refuse("a.example:443");
  await refuse("b.example:443");
  expect(written()).toEqual(
    ["a", "b"].map((name) => `glovebox: refused a connection to ${name}.example:443: No. Ask.\n`),
  );
  for (let index = 0; index < 500; index += 1) await refuse(`x${index}.example:443`);
  const more = written();
  expect(more).toHaveLength(99);
  expect(more.at(-1)).toBe("glovebox: refused further connections, which are not listed.\n");
});

describe("warnings", () => {
  const caveat = engineCaveats.missing("local", "a CPU limit");
  const warnings = [caveat, "a \u001b[2Jlimit", "seen"];
  /** What commands show one after another. */
  const shows = (options: object = {}) => {
    const known = new Set<string>();
    const caveats = { isNew: (sentence: string) => !known.has(sentence) && known.add(sentence) !== undefined };
    return (result: { readonly warnings: readonly string[]; readonly isolation?: Isolation }): readonly string[] => {
      const stderr = new PassThrough({ encoding: "utf8" });
      using live = new LiveEvents(stderr, { caveats, ...options });
      live.warn("seen");
      live.warnAll(result);
      return ((stderr.read() as string | null) ?? "").split("\n").slice(0, -1);
    };
  };
  const harmless = expect.stringMatching(/^glovebox: a .x1b\[2Jlimit$/) as string;

  it("are shown once each, harmless to a terminal, and what an engine lacks once for all commands of a day", () => {
    const show = shows();
    expect(show({ warnings, isolation: "namespaces" })).toEqual([
      "glovebox: seen",
      `glovebox: ${caveat}`,
      harmless,
      expect.stringContaining("shown once a day"),
    ]);
    expect(show({ warnings, isolation: "namespaces" })).toEqual(["glovebox: seen", harmless]);
    // Without a wall all of it is said each time.
    for (let times = 0; times < 2; times += 1)
      expect(show({ warnings, isolation: "preload" })).toEqual(["glovebox: seen", `glovebox: ${caveat}`, harmless]);
  });

  it("are all shown each time where nothing is kept, and never in a quiet command, nor is anything else", async () => {
    const everytime = shows({ caveats: null });
    for (let times = 0; times < 2; times += 1) expect(everytime({ warnings })).toContain(`glovebox: ${caveat}`);
    expect(shows({ isQuiet: true })({ warnings })).toEqual([]);
    const stderr = new PassThrough({ encoding: "utf8" });
    const output: string[] = [];
    using live = new LiveEvents(stderr, { isQuiet: true, onOutput: ({ bytes }) => void output.push(String(bytes)) });
    await live.onEvent({ type: "denied", denial: denial("not_allowed", "a.example:443", "No.", "Ask.") });
    await live.onEvent({ type: "progress", message: "Pulling", fraction: null });
    await live.onEvent({ type: "warning", message: "hm" });
    await live.onEvent({ type: "output", stream: "stdout", bytes: Buffer.from("out") });
    expect(stderr.read()).toBe(null);
    expect(output).toEqual(["out"]);
    // An error says in full what was not shown.
    expect(live.shown.size).toBe(0);
  });
});
