import { describe, expect, it } from "vitest";
import { plainText } from "../../base/plain-text.ts";
import { withPlainTexts, withoutPadding } from "./tool-result.ts";

describe("a program's text", () => {
  it.each([
    ["\u001b[1;31mred\u001b[0m plain", "red plain"],
    ["\u001b]0;title\u0007text\u001b]8;;https://a.example\u001b\\link", "textlink"],
    ["\u009b2Jcleared \u001b7saved\u001b(B", "cleared saved"],
    ["cut off \u001b[31", "cut off "],
    ["no sequence [31m", "no sequence [31m"],
  ])("has no sequences for terminals: %j", (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it("is read in one pass, whatever it is, and the content of files stays", () => {
    for (const hostile of ["\u001b[", "\u001b]", ";?", "\u001b[0;", "\u009b"]) {
      expect(plainText(`\u001b[${hostile.repeat(500_000)}`).length).toBeLessThan(1_000_001);
    }
    const value = { stdout: "\u001b[1ma", files: [{ content: "\u001b[1ma" }] };
    expect(withPlainTexts(value)).toEqual({ stdout: "a", files: [{ content: "\u001b[1ma" }] });
  });
});

describe("an answer", () => {
  it("is without what is false, empty or said elsewhere", () => {
    const padding = {
      stderr: "",
      timed_out: false,
      truncated: false,
      warnings: [],
      alerts: [],
    };
    const ids = { session_id: "ses-1", container_id: "sbx-1", sandbox_id: "sbx-1", policy_digest: "sha256:1" };
    const said = { outcome: "completed", exit_code: 0, stdout: "1\n" };
    expect(withoutPadding({ ...said, ...ids, ...padding, memory_used_mb: null })).toEqual({
      ...said,
      session_id: "ses-1",
      sandbox_id: "sbx-1",
    });
    const warnings = ["scratch: memory-backed, 1 MiB"];
    expect(withoutPadding({ ...said, ...padding, warnings })).toEqual({ ...said, warnings });
    const exception = { name: "ValueError", value: "", traceback: "ValueError" };
    expect(withoutPadding({ ...said, ...padding, exception })).toEqual({ ...said, exception });
  });

  it("says once whose entries they are, and of which sandbox another one is", () => {
    const entry = (id: string) => ({ container_id: id, offset: 0, message: "m" });
    expect(withoutPadding({ container_id: "sbx-1", entries: [entry("sbx-1"), entry("sbx-2")] })).toEqual({
      container_id: "sbx-1",
      entries: [{ offset: 0, message: "m" }, entry("sbx-2")],
    });
  });

  it("keeps what means something when it is empty, false or nothing", () => {
    const process = { process_id: "p", is_over: false, counted: false, written_bytes: 0, content: "", files: [] };
    expect(withoutPadding(process)).toEqual(process);
    expect(withoutPadding({ alerts: [] })).toEqual({ alerts: [] });
    expect(withoutPadding({ container_id: "a", sandbox_id: "b", mount_path: "/workdir" })).toHaveProperty(
      "container_id",
    );
  });
});
