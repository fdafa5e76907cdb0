/**
 * Private modes that a program may set: cursor keys, colours, wrapping, cursor, screens, mouse, focus, paste,
 * synchronised drawing.
 */
const privateModes: ReadonlySet<number> = new Set([
  ...[1, 5, 6, 7, 9, 12, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1034, 1047, 1048, 1049, 2004, 2026],
]);
/** Of the ANSI modes only insertion: 2 locks the keyboard, 12 and 20 change what is typed. */
const ansiModes: ReadonlySet<number> = new Set([4]);

/**
 * After ESC: save and restore the cursor, one line down and up, keypad, reset; and letters or line drawing in G0 and
 * G1.
 */
const escapes = /^(?:[78DEMc=>]|[()][0AB])$/;

/**
 * Maximum parameters of a control sequence, by its intermediate and final characters; colour parameters may have
 * subparameters.
 */
const maxParameters: Readonly<Record<string, number>> = {
  ...Object.fromEntries("@ABCDEFGIJKLMPSTXZ`abde".split("").map((final) => [final, 1])),
  ...{ H: 2, f: 2, r: 2, s: 0, u: 0, m: 32, h: 16, l: 16, "?h": 16, "?l": 16, "?J": 1, "?K": 1, " q": 1, "!p": 0 },
};

const maxNumber = 9_999;
const form = /^(\??)([\d;:]*)([ -/]{0,2})([@-~])$/;

/** A change of a mode. */
export interface ModeChange {
  readonly modes: readonly number[];
  readonly isPrivate: boolean;
  readonly isSet: boolean;
}

/** The part after ESC if it draws; else null. */
export function drawingEscape(sequence: string): string | null {
  return escapes.test(sequence) ? sequence : null;
}

/**
 * The part after CSI if it draws: moves, erasures, insertions, scrolling, colours, the cursor's shape, harmless modes
 * and their resets; with plain numbers, so that no terminal parses it differently. Else null.
 */
export function drawingControl(sequence: string): { readonly text: string; readonly change?: ModeChange } | null {
  const [, mark = "", given = "", intermediate = "", final = ""] = form.exec(sequence) ?? [];
  const name = `${mark}${intermediate}${final}`;
  const most = maxParameters[name];
  if (most === undefined || (given.includes(":") && name !== "m")) return null;
  const parameters = given === "" ? [] : given.split(";");
  if (parameters.length > most) return null;
  if (final !== "h" && final !== "l") {
    const plain = parameters.map((parameter) => parameter.split(":").map(plainNumber).join(":"));
    return { text: `${mark}${plain.join(";")}${intermediate}${final}` };
  }
  const isPrivate = mark === "?";
  const modes = parameters.map(Number).filter((mode) => (isPrivate ? privateModes : ansiModes).has(mode));
  if (modes.length === 0) return null;
  return { text: `${mark}${modes.join(";")}${final}`, change: { modes, isPrivate, isSet: final === "h" } };
}

function plainNumber(digits: string): string {
  return digits === "" ? "" : String(Math.min(Number(digits), maxNumber));
}
