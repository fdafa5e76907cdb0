import { dialectsOf } from "../../packages/dialects.ts";
import { npmPackage } from "../../packages/npm-package.ts";

/** A specifier where code imports or requires; what stands between the words is bounded, so that reading stays linear. */
const importing = /(\b(?:from|import|require)\s{0,20}(?:\(\s{0,20})?)(["'`])(npm:[^"'`\s]{1,300})\2/g;

/**
 * The code with each import of `npm:name@version/sub` as one of `name/sub`, which interpreters understand; of the same
 * length in bytes, so that every position in it stays. Other code is returned unchanged.
 */
export function withPlainSpecifiers(path: string, content: Uint8Array): Uint8Array {
  if (dialectsOf(path).length === 0) return content;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (!bytes.includes("npm:")) return content;
  const text = bytes
    .toString("latin1")
    .replace(importing, (whole, before: string, quote: string, specifier: string) => {
      const plain = plainSpecifier(specifier);
      return plain === null ? whole : `${before}${quote}${plain}${quote}`.padEnd(whole.length);
    });
  return Buffer.from(text, "latin1");
}

function plainSpecifier(specifier: string): string | null {
  if (npmPackage(specifier) === null) return null;
  return specifier.replace(/^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@[^/]*)?/, "$1");
}
