import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const source = readFileSync(new URL("../fixtures/programs/disturbs-newcomers.py", import.meta.url), "utf8");

describe.each(engines)("a session whose programs disturb it on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it.each(["0", "0111", "0444"])("continues after chmod %s of its working folder", async (mode) => {
    const { session_id, container_id } = await glovebox().runCode({
      language: "python",
      code: `import os\nopen("kept", "w").write("kept")\nos.chmod("/work", 0o${mode})`,
    });
    try {
      const second = await glovebox().runCode({ session_id, language: "python", code: 'print(open("kept").read())' });
      expect(second).toMatchObject({ outcome: "completed", stdout: "kept\n", container_id, restarted: false });
      await glovebox().runCode({ session_id, language: "python", code: `import os\nos.chmod("/work", 0o${mode})` });
      expect((await glovebox().listFiles({ session_id })).files.map(({ path }) => path)).toEqual(["kept"]);
      await glovebox().runCode({ session_id, language: "python", code: `import os\nos.chmod("/work", 0o${mode})` });
      const read = await glovebox().readFile({ session_id, path: "kept" });
      expect(read).toMatchObject({ content: "kept", restarted: false });
    } finally {
      await glovebox().endSession({ session_id });
    }
  });

  it("answers in time, and continues in a trustworthy sandbox", { timeout: 300_000 }, async () => {
    const { processes } = glovebox();
    const { session_id } = await glovebox().runCode({ language: "python", code: 'open("file", "w").write("mine")' });
    try {
      const { process_id } = await processes.start({ session_id, command: ["python3", "-uc", source, "stop"] });
      await expect
        .poll(async () => (await processes.list({ session_id, process_id })).processes[0]?.stdout?.text)
        .toContain("ready");
      const read = await glovebox()
        .readFile({ session_id, path: "file" })
        .then(
          ({ content }) => content,
          (error: unknown) => (error as GloveboxError).errorType,
        );
      expect(["mine", "TIMEOUT", "POLICY_DENIED", "SANDBOX_LOST", "ENGINE_UNAVAILABLE"]).toContain(read);
      await processes.stop({ session_id, process_id, signal: "SIGKILL" }).catch(() => undefined);
      const next = await glovebox().runCode({ session_id, language: "python", code: "print(6 * 7)" });
      expect(next).toMatchObject({ outcome: "completed", stdout: "42\n" });
      // The caller that lost the files has been told.
      const kept = next.restarted
        ? next.warnings.join()
        : (await glovebox().readFile({ session_id, path: "file" })).content;
      expect(kept).toMatch(next.restarted ? /lost/ : /^mine$/);
    } finally {
      await glovebox().endSession({ session_id });
    }
  });
});
