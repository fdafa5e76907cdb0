/** Characters of one field that are looked at; the longest that a standard has, baggage, may have as many. */
const maxFieldLength = 8192;

/** Of what a stranger sent, the fields that say which trace it belongs to: those that are text, and not too long. */
export function carrierFields(carrier: unknown, names: readonly string[]): Record<string, string> {
  if (typeof carrier !== "object" || carrier === null) return {};
  const given = carrier as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      return typeof value === "string" && value.length <= maxFieldLength ? [[name, value] as const] : [];
    }),
  );
}
