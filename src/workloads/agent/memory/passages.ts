/** Approximate characters of a passage. */
const maxLength = 1_000;
/** Maximum passages of one file; the rest is not searched. */
const maxPassages = 2_000;

/**
 * Splits a text into passages at headings and empty lines: short ones are merged, long ones split, each with its
 * heading.
 */
export function passagesOf(text: string): readonly string[] {
  const passages: string[] = [];
  let heading = "";
  let open = "";
  const close = (): void => {
    if (open.trim() !== "" && passages.length < maxPassages) passages.push(open.trim());
    open = "";
  };
  for (const block of text.replaceAll("\r\n", "\n").split(/\n(?=#{1,6} )|\n[ \t]*\n/)) {
    const isHeading = /^#{1,6} /.test(block);
    if (isHeading) {
      close();
      heading = block.split("\n", 1)[0]?.slice(0, 200) ?? "";
    }
    for (let from = 0; from < block.length; from += maxLength) {
      const part = block.slice(from, from + maxLength);
      if (open.length + part.length > maxLength) {
        close();
        if (heading !== "" && !part.startsWith(heading)) open = `${heading}\n`;
      }
      open += `${part}\n`;
    }
  }
  close();
  return passages;
}
