import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const limits = { memory_mb: 160, disk_mb: 300 };

/** Writes this many MiB to a file, without holes. */
const writes = (file: string, mebibytes: number): string => `
with open('${file}', 'wb') as file:
    for _ in range(${mebibytes}):
        file.write(b'x' * 1048576)
`;
const waits = "import time; time.sleep(240)";
/** It is ended long before this. */
const timeout_seconds = 240;
const takenTooMuch = { error_type: "SANDBOX_LOST", context: { field: "limits.disk_mb", retryable: false } };

describe.each(engines)("scratch that is asked to be larger than memory on %s", { timeout: 300_000 }, (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("is on disk for a program, which may fill it and is ended beyond it", async () => {
    const code = `${writes("/work/a", 150)}${writes("/tmp/b", 60)}print('written')`;
    const filled = await glovebox().execute({ language: "python", code, limits, timeout_seconds });
    expect(filled).toMatchObject({ outcome: "completed", stdout: "written\n" });
    expect(filled.warnings.join("\n")).toContain("scratch: on disk, 300 MiB");

    const greedy = await glovebox().execute({
      language: "python",
      code: `${writes("/work/a", 400)}${waits}`,
      limits,
      timeout_seconds,
    });
    expect(greedy).toMatchObject({ outcome: "sandbox_lost", error: takenTooMuch });
  });

  it("is in memory where its size was not named, and no result speaks of it", async () => {
    const code = "import os; print(os.statvfs('/work').f_blocks * os.statvfs('/work').f_frsize < 80 * 1048576)";
    const inMemory = await glovebox().execute({ language: "python", code, limits: { memory_mb: 160 } });
    expect(inMemory).toMatchObject({ outcome: "completed", stdout: "True\n" });
    expect(inMemory.warnings.join("\n")).not.toContain("scratch");
  });

  it("is on disk for a session, whose files last from call to call, until it is ended beyond it", async () => {
    const first = { language: "python" as const, code: writes("kept", 200), packages: [], limits, timeout_seconds };
    const written = await glovebox().runCode(first);
    const run = (code: string): ReturnType<ReturnType<typeof glovebox>["runCode"]> =>
      glovebox().runCode({ ...first, code, session_id: written.session_id });
    expect(written, written.stderr).toMatchObject({ outcome: "completed" });
    const read = await run("import os; print(os.path.getsize('kept'), os.getcwd())");
    expect(read).toMatchObject({ outcome: "completed", stdout: `${200 * 1024 * 1024} /work\n`, restarted: false });

    const added = await run(
      `import os; os.chdir("/packages")\n${writes("added", 100)}\nos.unlink("added"); print("added")`,
    );
    expect(added, added.stderr).toMatchObject({ outcome: "completed", stdout: expect.stringContaining("added") });

    const greedy = await run(`${writes("more", 250)}${waits}`);
    expect(greedy).toMatchObject({ outcome: "sandbox_lost", error: takenTooMuch });
    expect(await run("print('again')")).toMatchObject({ outcome: "completed", stdout: "again\n", restarted: true });
  });
});
