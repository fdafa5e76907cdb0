/**
 * What the elements of a file are made with: React, unless a comment names another source. Null for the classic way,
 * which uses what the file has in scope.
 */
export function jsxSpecifier(comments: readonly string[]): string | null {
  let specifier = "react";
  for (const comment of comments) {
    if (/@jsxRuntime\s+classic\b/.test(comment)) return null;
    specifier = /@jsxImportSource\s+(\S+)/.exec(comment)?.[1] ?? specifier;
  }
  return `${specifier}/jsx-runtime`;
}
