import { describe, expect, it } from "vitest";
import { executeCodeContract, type ExecuteResponse } from "./execute-contract.ts";

const { tool } = executeCodeContract;

const response: ExecuteResponse = {
  outcome: "completed",
  exit_code: 0,
  stdout: "42\n",
  stderr: "",
  duration_ms: 12.4,
  memory_used_mb: 9,
  timed_out: false,
  truncated: false,
  sandbox_id: "sbx-1",
  engine: "docker",
  isolation: "container",
  warnings: [],
};

describe("the text of a run", () => {
  it("is the verdict and the output", () => {
    expect(tool!.text(response)).toBe("completed after 12 ms (engine docker).\nstdout:\n42");
  });

  it("says what failed, what to do and what else there is", () => {
    const text = tool!.text({
      ...response,
      outcome: "failed",
      exit_code: 3,
      stdout: "",
      stderr: "oh\n",
      truncated: true,
      artifacts: [
        { path: "a.png", size_bytes: 5, media_type: "image/png", type: "image", encoding: "base64", content: "" },
      ],
      warnings: ["limits are weak"],
      error: { error_type: "SYNTAX_ERROR", message: "Line 1.", suggestion: "Fix it.", context: {} },
    });
    expect(text.split("\n")).toEqual([
      "failed with exit code 3 after 12 ms (engine docker).",
      "SYNTAX_ERROR: Line 1.",
      "Fix it.",
      "stderr:",
      "oh",
      "Output beyond the limit was dropped: print less, or write it to a file.",
      "artifact a.png (image/png, 5 bytes)",
      "warning: limits are weak",
    ]);
  });
});

describe("the pictures of a run", () => {
  const picture = (content: string, mediaType = "image/png") =>
    ({ path: "a", size_bytes: 1, media_type: mediaType, type: "image", encoding: "base64", content }) as const;
  const images = (...artifacts: ReturnType<typeof picture>[]) => tool!.images?.({ ...response, artifacts });

  it("are its artifacts that a model can look at", () => {
    expect(images(picture("AAAA"), picture("BBBB", "image/svg+xml"), picture(""))).toEqual([
      { base64: "AAAA", mediaType: "image/png" },
    ]);
    expect(tool!.images?.(response)).toEqual([]);
  });

  it("are left out where there is no room for them", () => {
    const [large, small] = [picture("A".repeat(600_000)), picture("B".repeat(90_000))];
    expect(images(large, large, small)?.map(({ base64 }) => base64.length)).toEqual([600_000, 90_000]);
  });
});
