import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Process } from "../../engines/engine.ts";
import { startProgram, type StartedProgram } from "./start-program.ts";

class Hearing {
  tell: (name: string) => void = () => undefined;
  isOver = false;
  readonly hearNames = (onName: (name: string) => void): Disposable => {
    this.tell = onName;
    return { [Symbol.dispose]: () => void (this.isOver = true) };
  };
}

function start(
  hearing: Partial<Pick<Hearing, "hearNames">>,
  runner: () => Promise<Process> = () => Promise.resolve({} as Process),
): Promise<StartedProgram> {
  return startProgram({
    sandbox: { id: "s", capabilities: {} as Capabilities, listen: undefined, placeFile: undefined, ...hearing },
    runner,
    grant: null,
    onDenied: () => undefined,
    redact: (text) => text.replace("s3cret", "***"),
  });
}

describe("a program without a network", () => {
  it("reports the names that it looked up, from before its start on", async () => {
    const hearing = new Hearing();
    const program = await start(hearing, async () => {
      hearing.tell("early.test");
      return {} as Process;
    });
    hearing.tell("late.test");
    expect(await program.networkReport()).toMatchObject({ denialCount: 0, lookedUp: ["early.test", "late.test"] });
    expect(hearing.isOver).toBe(false);
    program[Symbol.dispose]();
    expect(hearing.isOver).toBe(true);
  });

  it("reports no name that has a secret in it", async () => {
    const hearing = new Hearing();
    const program = await start(hearing);
    hearing.tell("s3cret.test");
    hearing.tell("a.test");
    expect((await program.networkReport()).lookedUp).toEqual(["a.test"]);
  });

  it("is heard no longer when it cannot be started", async () => {
    const hearing = new Hearing();
    await expect(start(hearing, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(hearing.isOver).toBe(true);
  });

  it("runs where nobody can hear it", async () => {
    expect(await (await start({})).networkReport()).toMatchObject({ lookedUp: [] });
  });
});
