import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createGlovebox, type ExecuteRequest, type OperationEvent } from "../helpers/wire-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";

describe("bad requests", () => {
  const python = { language: "python", code: "pass" } as const;
  const requests: [string, Record<string, unknown>, string][] = [
    ["empty code", { code: "" }, "code"],
    ["code of white space", { code: " \n" }, "code"],
    ["5 MB of code", { code: `#${"x".repeat(5_000_000)}` }, "code"],
    ["a NUL in the code", { code: "a\0b" }, "code"],
    ["half a surrogate pair in the code", { code: "'\ud800'" }, "code"],
    [
      "a context file above the folder",
      { context_files: [{ path: "../../etc/passwd", content: "" }] },
      "context_files[0].path",
    ],
    ["an absolute context file", { context_files: [{ path: "/etc/passwd", content: "" }] }, "context_files[0].path"],
    ["a context file outside the working directory", { context_files: ["/etc/passwd"] }, "context_files[0]"],
    ["a context file that does not exist", { context_files: ["nowhere.txt"] }, "context_files[0]"],
    ["a variable name with =", { environment: { "A=B": "x" } }, 'environment["A=B"]'],
    ["a variable name with a newline", { environment: { "A\nB": "x" } }, 'environment["A\\nB"]'],
    ["a limit of 0", { limits: { cpus: 0 } }, "limits.cpus"],
    ["a negative limit", { limits: { memory_mb: -1 } }, "limits.memory_mb"],
    ["a limit that is no number", { limits: { pids: Number.NaN } }, "limits.pids"],
    ["a limit above the ceiling", { limits: { memory_mb: 1_000_000 } }, "limits.memory_mb"],
    ["a timeout above the ceiling", { timeout_seconds: 1_000_000 }, "timeout_seconds"],
    ["an unknown language", { language: "cobol" }, "language"],
    ["an unknown engine", { engine: "lxc" }, "engine"],
    ["an image with shell characters", { image: "python;rm -rf /" }, "image"],
    ["an unknown field", { cdoe: "x" }, "cdoe"],
    ["a file name with a folder", { filename: "../x.py" }, "filename"],
    ["a NUL in an argument", { args: ["a\0"] }, "args[0]"],
  ];

  it.each(requests)("%s is refused by name", async (_, change, field) => {
    await using glovebox = await createGlovebox({ engine: "local" });
    const events: OperationEvent[] = [];
    const request = { ...python, ...change } as unknown as ExecuteRequest;
    const error = await failureOf(
      glovebox.execute(request, { onEvent: (event) => void events.push(event) }),
      "INVALID_REQUEST",
    );
    expect(error.message).toContain(field.split("[")[0]);
    expect(error.context["field"]).toBe(field);
    expect(events).toEqual([]);
  });

  it("a context file that is a link out of the working directory is refused", async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "glovebox-test-"));
    try {
      await symlink("/etc/passwd", path.join(folder, "innocent.txt"));
      await writeFile(path.join(folder, "good.txt"), "fine");
      await using glovebox = await createGlovebox({ engine: "local", workingDirectory: folder });
      const error = await failureOf(
        glovebox.execute({ ...python, context_files: ["good.txt", "innocent.txt"] }),
        "INVALID_REQUEST",
      );
      expect(error.context["field"]).toBe("context_files[1]");
      expect(error.message).toContain("outside the working directory");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("names every problem of a request at once", async () => {
    await using glovebox = await createGlovebox({ engine: "local" });
    const request = { language: "cobol", code: 5, args: [1] } as unknown as ExecuteRequest;
    const error = await failureOf(glovebox.execute(request), "INVALID_REQUEST");
    expect(error.context["problems"]).toMatchObject([{ field: "language" }, { field: "code" }, { field: "args[0]" }]);
  });

  it("what this version cannot enforce is refused, not skipped", async () => {
    await using glovebox = await createGlovebox({ engine: "local" });
    await failureOf(glovebox.execute({ ...python, network: "open" }), "POLICY_DENIED");
    await failureOf(glovebox.execute({ ...python, network: ["10.0.0.1"] }), "INVALID_REQUEST");
    await failureOf(glovebox.execute({ ...python, oci_runtime: "runsc" }), "UNSUPPORTED");
    await failureOf(glovebox.execute({ ...python, min_isolation: "vm" }), "UNSUPPORTED");
    await failureOf(glovebox.execute({ ...python, image: "python:3.12" }), "UNSUPPORTED");
  });
});
