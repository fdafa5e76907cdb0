/**
 * Whether a whole name fits a pattern in which `*` stands for any letters and `?` for one.
 *
 * Takes time in proportion to name times pattern: on a mismatch only the last `*` takes a letter more, which is enough.
 */
export function matchesWildcard(name: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      star = inPattern;
      starAt = at;
      inPattern += 1;
    } else if (wanted === "?" || wanted === name[at]) {
      at += 1;
      inPattern += 1;
    } else if (star !== -1) {
      starAt += 1;
      at = starAt;
      inPattern = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}
