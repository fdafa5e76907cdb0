import { describe, expect, it } from "vitest";
import { CurrentContainer, type PlaceContainer } from "./current-container.ts";

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
