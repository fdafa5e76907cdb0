/** Fewest bytes of a value that is looked for in output: a shorter one would be found in innocent places. */
export const shortestRedacted = 6;

/** Lines of a value of many lines that are looked for one by one, such as those of a key in PEM. */
const shortestLine = 16;

/** Which characters each kind of percent-encoding leaves alone, and what it makes of a space. */
const percentEncodings: readonly { readonly kept: RegExp; readonly space: string }[] = [
  { kept: /[\w.!~*'()-]/, space: "%20" },
  { kept: /[\w.~-]/, space: "%20" },
  { kept: /[\w.~/-]/, space: "%20" },
  { kept: /[\w.*-]/, space: "+" },
  { kept: /[\w.~-]/, space: "+" },
];

/** Columns after which tools break base64: `base64` and mail, `openssl` and PEM. */
const base64Columns = [76, 64] as const;

/**
 * The bytes by which a secret's value is found in what a program writes: itself, in lower case (host names), as JSON
 * and as part of an address would spell it, in hexadecimal, and in base64, wherever in the encoded text it begins.
 * None for a value that is too short.
 */
export function secretSpellings(value: string): readonly Uint8Array[] {
  if (Buffer.byteLength(value) < shortestRedacted) return [];
  const trimmed = value.trim();
  const lines = value.split(/\r\n|[\r\n]/).map((line) => line.trim());
  const texts = [...new Set([value, ...(Buffer.byteLength(trimmed) < shortestRedacted ? [] : [trimmed])])].flatMap(
    spellings,
  );
  const parts = lines.length > 1 ? lines.filter((line) => line.length >= shortestLine) : [];
  return [...new Set([...texts, ...parts])].map((text) => Buffer.from(text));
}

function spellings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const hexadecimal = bytes.toString("hex");
  return [
    text,
    text.toLowerCase(),
    ...percentEncodings.map(({ kept, space }) => percentEncoded(bytes, kept, space)),
    ...[json, ascii, json.replaceAll("/", "\\/")],
    ...[hexadecimal, hexadecimal.toUpperCase()],
    ...base64Spellings(bytes),
  ];
}

function percentEncoded(bytes: Uint8Array, kept: RegExp, space: string): string {
  const encoded = Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    if (byte < 0x80 && kept.test(character)) return character;
    return character === " " ? space : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return encoded.join("");
}

/** By itself, broken into lines, and as it stands after one and after two other bytes; in both alphabets. */
function base64Spellings(bytes: Uint8Array): readonly string[] {
  const whole = Buffer.from(bytes).toString("base64");
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/(?<!=)=+$/, "");
    // Characters at the ends that other bytes have a share in say too little, and are not known.
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((before * 8) / 6), end);
  });
  const broken = base64Columns.map((columns) =>
    (inside[0] ?? "").replaceAll(new RegExp(`(.{${columns}})(?=.)`, "g"), "$1\n"),
  );
  const standard = [whole, whole.replace(/(?<!=)=+$/, ""), ...inside, ...broken];
  return [...standard, ...standard.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}
