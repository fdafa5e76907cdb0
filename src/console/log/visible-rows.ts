/** Which rows of a long list are drawn. */
export interface VisibleRows {
  readonly first: number;
  /** Behind the last. */
  readonly end: number;
}

/** Rows above and below what is seen, so that nothing is blank while it moves. */
const margin = 20;

/** The rows that can be seen in a list whose rows have one height, in pixels. */
export function visibleRows(
  count: number,
  { scrollTop, height, rowHeight }: { readonly scrollTop: number; readonly height: number; readonly rowHeight: number },
): VisibleRows {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - margin));
  return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + margin) };
}
