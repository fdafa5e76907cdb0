import { expect, it } from "vitest";
import { describeDenial, describeError } from "./error-report.ts";

const forged = "x\nglovebox: all is well\r\u202e\u001b[2K";

it("shows an error whose further lines look like none of ours", () => {
  const shown = describeError({ error_type: "INTERNAL", message: forged, suggestion: forged });
  expect(shown.split("\n").filter((line) => line.startsWith("glovebox:"))).toEqual(["glovebox: INTERNAL: x"]);
  expect(shown).not.toMatch(/[\r\u202e]/);
});

it("names the options of commands, where a suggestion names a request's fields", () => {
  const suggestion = "Raise timeout_seconds, limits.memory_mb or limits.other; read_logs has more.";
  const shown = describeError({ error_type: "TIMEOUT", message: "late", suggestion });
  expect(shown).toContain("Raise --timeout, --memory or limits.other; read_logs has more.");
});

it("shows a refused connection in one line", () => {
  const shown = describeDenial({ target: forged, reason: forged, remedy: forged } as Parameters<
    typeof describeDenial
  >[0]);
  expect(shown.split("\n")).toHaveLength(2);
});

it("leaves out reasons that the user has seen, and then says in its one line what would help", () => {
  const error = { error_type: "NETWORK_ERROR", message: "It failed. No rule allows x. Twice.", suggestion: "Allow x." };
  expect(describeError(error, { shown: new Set(["No rule allows x.", "Allow x."]) })).toBe(
    "glovebox: NETWORK_ERROR: It failed. Twice. Allow x.\n",
  );
  const long = { ...error, message: "It failed.\nnpm error" };
  expect(describeError(long, { shown: new Set(["Allow x."]) })).toBe(
    "glovebox: NETWORK_ERROR: It failed.\n    npm error\n  Allow x.\n",
  );
  expect(describeError(error)).toBe("glovebox: NETWORK_ERROR: It failed. No rule allows x. Twice.\n  Allow x.\n");
});
