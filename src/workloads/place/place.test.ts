import { expect, it, describe } from "vitest";
import { Place, CurrentContainer, type PlaceContainer } from "./place.ts";

function open(): { readonly place: Place; readonly told: boolean[] } {
  const told: boolean[] = [];
  const place = new Place({
    noun: "session",
    id: "ses-1",
    principal: "one",
    now: () => 0,
    onActivity: (isBusy) => void told.push(isBusy),
  });
  return { place, told };
}

it("tells of its first activity and of the end of its last one, whatever comes between", async () => {
  const { place, told } = open();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const both = [place.whileActive(() => first.promise), place.whileActive(() => second.promise)];
  expect([told, place.activeCount]).toEqual([[true], 2]);
  first.resolve();
  await both[0];
  expect(told).toEqual([true]);
  second.reject(new Error("failed"));
  await expect(both[1]).rejects.toThrow("failed");
  expect([told, place.activeCount]).toEqual([[true, false], 0]);
});

it("is no longer active for a process that could not be started", async () => {
  const { place, told } = open();
  const spec = { command: ["true"], environment: {}, workingDirectory: "/", ports: [] };
  await expect(place.startProcess(spec, () => Promise.reject(new Error("no sandbox")))).rejects.toThrow("no sandbox");
  expect(told).toEqual([true, false]);
});

it("gives up what goes on when it ends, lets nothing in, and ends once", async () => {
  const { place } = open();
  const signal = place.signalOf(undefined);
  let ends = 0;
  const last = (): Promise<void> => Promise.resolve(void (ends += 1));
  await Promise.all([place.end(last), place.end(last)]);
  expect([signal.aborted, place.isEnding, ends]).toEqual([true, true, 1]);
  await expect(place.whileActive(() => Promise.resolve())).rejects.toMatchObject({ errorType: "CANCELLED" });
});

it("has a bound of calls at once, whether they work or wait, and says so", async () => {
  const { place } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  const active = Array.from({ length: 256 }, () => place.whileActive(() => promise));
  await expect(place.whileActive(() => Promise.resolve())).rejects.toMatchObject({
    errorType: "CAPACITY",
    message: "256 calls of this session have begun and not ended.",
    context: { limit: 256, retry_after_seconds: 5 },
  });
  const spec = { command: ["true"], environment: {}, workingDirectory: "/", ports: [] };
  await expect(place.startProcess(spec, () => Promise.reject(new Error("started")))).rejects.toMatchObject({
    errorType: "CAPACITY",
  });
  expect(place.activeCount).toBe(256);
  resolve();
  await Promise.all(active);
  await expect(place.whileActive(() => Promise.resolve("works"))).resolves.toBe("works");
});

interface TestContainer extends PlaceContainer {
  readonly sandbox: { readonly id: string; state: "running" | "removed" };
}

function maker(): { readonly made: TestContainer[]; readonly open: () => Promise<TestContainer> } {
  const made: TestContainer[] = [];
  const open = (): Promise<TestContainer> => {
    const sandbox: TestContainer["sandbox"] = { id: `sbx-${made.length}`, state: "running" };
    const container = { sandbox, remove: () => Promise.resolve(void (sandbox.state = "removed")) };
    made.push(container);
    return Promise.resolve(container);
  };
  return { made, open };
}

describe("CurrentContainer", () => {
  it("opens one for all that ask at once, and another when it was removed", async () => {
    const { made, open } = maker();
    const current = new CurrentContainer<TestContainer>();
    const [first, same] = await Promise.all([current.present(open), current.present(open)]);
    expect(same).toBe(first);
    expect(current.live).toBe(first);
    await first.remove();
    expect(await current.present(open)).toBe(made[1]);
    expect(made).toHaveLength(2);
  });

  it("opens anew what could not be opened", async () => {
    const { made, open } = maker();
    const current = new CurrentContainer<TestContainer>();
    await expect(current.open(Promise.reject(new Error("full")))).rejects.toThrow("full");
    expect(current.live).toBeNull();
    expect(await current.present(open)).toBe(made[0]);
  });

  it("replaces one once, however many ask, and removes it first", async () => {
    const { made, open } = maker();
    const current = new CurrentContainer<TestContainer>();
    const first = await current.open(open());
    const [second, same] = await Promise.all([current.replace(first, open), current.replace(first, open)]);
    expect(first.sandbox.state).toBe("removed");
    expect(same).toBe(second);
    expect(await current.replace(first, open)).toBe(second);
    expect(made).toHaveLength(2);
  });

  it("has none when it was discarded", async () => {
    const { open } = maker();
    const current = new CurrentContainer<TestContainer>();
    const only = await current.open(open());
    await current.discard();
    expect(only.sandbox.state).toBe("removed");
    expect([current.live, await current.current]).toEqual([null, null]);
  });
});
