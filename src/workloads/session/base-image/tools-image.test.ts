import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { readPackagedScript } from "../../../base/packaged-script.ts";
import { toolsImageOf, toolsRecipe } from "../../../engines/images/tools-image.ts";

it("is named after its Dockerfile and the session image that it is built on", async () => {
  const text = await readPackagedScript(new URL("../../../../images/session-tools/Dockerfile", import.meta.url));
  expect(toolsRecipe).toBe(createHash("sha256").update(text).digest("hex").slice(0, 8));
  expect(toolsImageOf("a")).toMatch(/^glovebox-session-tools:[0-9a-f]{16}$/);
  expect(toolsImageOf("a")).not.toBe(toolsImageOf("b"));
});
