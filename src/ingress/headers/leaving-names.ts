/** Policies under which a page's address leaves with no request to another origin. */
const safePolicies = new Set(["no-referrer", "same-origin"]);
const policies = new Set([
  ...[...safePolicies, "no-referrer-when-downgrade", "origin", "origin-when-cross-origin"],
  ...["strict-origin", "strict-origin-when-cross-origin", "unsafe-url"],
]);

/**
 * The one referrer policy of an answer, whatever its program asks for: a preview's name opens it, so it leaves with no
 * request. Of several, browsers obey the last that they know; a program may only choose the stricter one.
 */
export function referrerPolicy(asked: string | undefined): string {
  const known = (asked ?? "")
    .split(",")
    .map((text) => text.trim().toLowerCase())
    .filter((text) => policies.has(text));
  const last = known.at(-1);
  return last !== undefined && safePolicies.has(last) ? last : "same-origin";
}

/** Headers that have a browser report a page's address to other origins, also after the preview has ended. */
export const reportingHeaders: readonly string[] = ["nel", "report-to", "reporting-endpoints"];

/** A content policy without the addresses of other origins that its reports, which name the page, would go to. */
export function withoutForeignReports(policy: string): string {
  return policy.replaceAll(/(^|[;,])(\s*report-uri\s[^;,]*)/gi, (_, before: string, directive: string) =>
    /\s(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(directive) ? before : `${before}${directive}`,
  );
}
