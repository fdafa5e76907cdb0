import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toolsImagesOf, toolsRecipes, type ToolsRecipe } from "../../engines/tools-image.ts";
import { readCertificates, readToolsRecipe } from "./session-images.ts";

it.each(Object.keys(toolsRecipes) as ToolsRecipe[])(
  "%s is named after its Dockerfile and the image that it is built on",
  async (recipe) => {
    const text = await readToolsRecipe(recipe);
    expect(toolsRecipes[recipe]).toBe(createHash("sha256").update(text).digest("hex").slice(0, 8));
    expect(toolsImagesOf("a")[recipe]).toMatch(new RegExp(`^glovebox-${recipe}:[0-9a-f]{16}$`));
    expect(toolsImagesOf("a")[recipe]).not.toBe(toolsImagesOf("b")[recipe]);
  },
);

it("takes the certificates of a file and no key beside them, and none of what is no such file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-certificates-"));
  try {
    const block = (kind: string): string => `-----BEGIN ${kind}-----\nQUJD\n-----END ${kind}-----\n`;
    const file = join(folder, "bundle.pem");
    writeFileSync(file, `# Company\n${block("CERTIFICATE")}${block("PRIVATE KEY")}${block("CERTIFICATE")}x`);
    expect(await readCertificates(file)).toBe(block("CERTIFICATE").repeat(2));
    writeFileSync(file, `${block("CERTIFICATE")}${"x".repeat(4 * 1024 * 1024)}`);
    expect(await readCertificates(file)).toBe("");
    expect(await readCertificates(folder)).toBe("");
    expect(await readCertificates(join(folder, "missing"))).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
