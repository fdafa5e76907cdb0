/** An address that a frame or a link may have: a page of another origin than this one's; null for everything else. */
export function pageAddress(text: string, own: string = location.origin): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && origin !== own ? href : null;
}
