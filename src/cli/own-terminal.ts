import { on } from "node:events";
import { untilWritable } from "../base/streams/chunks.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { CommandIo } from "./command-io.ts";

/** Off by default in a terminal, and without effect on the cursor's position. */
const usuallyOff = [1, 5, 9, 12, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026];
/** Resetting them moves the cursor, or they may have been on before: only for a program that has set them. */
const onlyIfSet: ReadonlySet<number> = new Set([6, 47, 1034, 1047, 1048, 1049]);

/**
 * Restores a terminal after anything that `TerminalFilter` lets through, whichever of it the program has used:
 * character sets, keypad, insertion, modes, scroll region, cursor and colours. What is on the screen stays.
 */
export function terminalReset(set: ReadonlySet<number>): string {
  const left = [...set].filter((mode) => onlyIfSet.has(mode));
  return [
    "\u000f\u001b(B\u001b)B\u001b>\u001b[4l",
    ...left.map((mode) => `\u001b[?${mode}l`),
    `\u001b[?${usuallyOff.join(";")}l\u001b[?7;25h`,
    // Resetting the region moves the cursor.
    "\u001b7\u001b[r\u001b8",
    "\u001b[0 q\u001b[0m",
  ].join("");
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The user's terminal, handed over to a program. */
export interface OwnTerminal {
  readonly size: Size;
  /** Its type, if it can be passed to a program. */
  readonly term: string | undefined;
  /** Each new size. */
  readonly sizes: AsyncIterable<Size>;
  /** Every key, including those that otherwise end the command. */
  readonly typed: AsyncIterable<Uint8Array>;
  /** Draws what the program writes, except what a terminal answers or stores (see `TerminalFilter`). */
  readonly draw: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Hands the user's terminal over during the work and restores it afterwards, however the work ends. @throws UNSUPPORTED
 */
export async function withOwnTerminal<T>(io: CommandIo, work: (terminal: OwnTerminal) => Promise<T>): Promise<T> {
  const { stdin, stdout } = io;
  if (stdin.isTTY !== true || stdout.isTTY !== true || stdin.setRawMode === undefined) throw noTerminal();
  const filter = new TerminalFilter();
  const over = new AbortController();
  const size = (): Size => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
  stdin.setRawMode(true);
  try {
    return await work({
      size: size(),
      term: /^[\w.+-]{1,64}$/.test(io.term) ? io.term : undefined,
      sizes: sizesOf(stdout, size, over.signal),
      typed: stdin.iterator({ destroyOnReturn: false }),
      draw: async (bytes) => {
        if (!stdout.write(filter.push(bytes))) await untilWritable(stdout);
      },
    });
  } finally {
    over.abort();
    stdin.setRawMode(false);
    stdin.pause();
    if (!stdout.destroyed) stdout.write(filter.end());
  }
}

async function* sizesOf(
  stdout: CommandIo["stdout"],
  size: () => Size,
  signal: AbortSignal,
): AsyncGenerator<Size, void, undefined> {
  try {
    for await (const _ of on(stdout, "resize", { signal })) yield size();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function noTerminal(): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "This needs a terminal as standard input and output.", {
    suggestion: "Without one, run a command: `glovebox exec -i ID sh` passes standard input on to it.",
  });
}

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
interface ModeChange {
  readonly modes: readonly number[];
  readonly isPrivate: boolean;
  readonly isSet: boolean;
}

/** The part after ESC if it draws; else null. */
function drawingEscape(sequence: string): string | null {
  return escapes.test(sequence) ? sequence : null;
}

/**
 * The part after CSI if it draws: moves, erasures, insertions, scrolling, colours, the cursor's shape, harmless modes
 * and their resets; with plain numbers, so that no terminal parses it differently. Else null.
 */
function drawingControl(sequence: string): { readonly text: string; readonly change?: ModeChange } | null {
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

/** A control sequence or a string that is longer is not one. */
const maxCharacters = { control: 256, string: 65_536 };

/** Bell, backspace, tab, line breaks, and the two that switch between G0 and G1. */
const controls = "\u0007\u0008\t\n\u000b\u000c\r\u000e\u000f";

/** Where in a sequence the text is: outside, after ESC, in a CSI, or in a string that ends with ST. */
type State = "text" | "escape" | "control" | "string" | "string-escape";

/**
 * What a program may do to the user's terminal: draw anywhere on it, in colours (the sequences above; nothing
 * else passes). This removes sequences that a terminal answers as if the user had typed (reports of device, cursor,
 * modes, window and colours), those that print or leave UTF-8, and all strings for the terminal itself: title,
 * clipboard, settings (OSC, DCS, APC, PM, SOS). Bytes that are not UTF-8 become U+FFFD, so that none of them acts as a
 * one-byte control character; those characters are removed too.
 */
export class TerminalFilter {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Private modes that the program has set. */
  readonly #modes = new Set<number>();
  #state: State = "text";
  #sequence = "";
  #length = 0;

  push(bytes: Uint8Array): string {
    let shown = "";
    for (const character of this.#decoder.decode(bytes, { stream: true })) shown += this.#next(character);
    return shown;
  }

  /** Undoes everything that the program may have left behind. */
  end(): string {
    return terminalReset(this.#modes);
  }

  #next(character: string): string {
    switch (this.#state) {
      case "text":
        return this.#text(character);
      case "escape":
        return this.#escape(character);
      case "control":
        return this.#control(character);
      case "string":
        // BEL ends it too, as in terminals.
        if ("\u0007\u0018\u001a".includes(character) || ++this.#length > maxCharacters.string) this.#state = "text";
        if (character === "\u001b") this.#state = "string-escape";
        return "";
      case "string-escape":
        if (character !== "\\") return this.#begin(character);
        this.#state = "text";
        return "";
    }
  }

  #text(character: string): string {
    if (character === "\u001b") {
      this.#state = "escape";
      this.#sequence = "";
      return "";
    }
    if (character >= " ") return character >= "\u007f" && character <= "\u009f" ? "" : character;
    return controls.includes(character) ? character : "";
  }

  /** The first character after an ESC that ended something else. */
  #begin(character: string): string {
    this.#state = "escape";
    this.#sequence = "";
    return this.#escape(character);
  }

  #escape(character: string): string {
    if (character === "\u001b") return this.#text(character);
    if (this.#sequence === "" && character === "[") {
      this.#state = "control";
      return "";
    }
    if (this.#sequence === "" && "]PX^_k".includes(character)) {
      // The last is a title, as some terminals take it.
      this.#state = "string";
      this.#length = 0;
      return "";
    }
    this.#sequence += character;
    // Intermediate characters: more follows.
    if (character >= " " && character <= "/" && this.#sequence.length < maxCharacters.control) return "";
    this.#state = "text";
    if (this.#sequence === "c") this.#modes.clear();
    const drawing = drawingEscape(this.#sequence);
    return drawing === null ? "" : `\u001b${drawing}`;
  }

  #control(character: string): string {
    if (character < " " || character > "~") {
      this.#state = "text";
      return character === "\u001b" ? this.#text(character) : "";
    }
    this.#sequence += character;
    if (character < "@" && this.#sequence.length < maxCharacters.control) return "";
    this.#state = "text";
    const drawing = drawingControl(this.#sequence);
    if (drawing === null) return "";
    const { text, change } = drawing;
    if (change?.isPrivate === true) {
      for (const mode of change.modes) {
        if (change.isSet) this.#modes.add(mode);
        else this.#modes.delete(mode);
      }
    }
    return `\u001b[${text}`;
  }
}
