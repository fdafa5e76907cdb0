import { drawingControl, drawingEscape } from "./drawing-sequences.ts";
import { terminalReset } from "./terminal-reset.ts";

/** A control sequence or a string that is longer is not one. */
const maxCharacters = { control: 256, string: 65_536 };

/** Bell, backspace, tab, line breaks, and the two that switch between G0 and G1. */
const controls = "\u0007\u0008\t\n\u000b\u000c\r\u000e\u000f";

/** Where in a sequence the text is: outside, after ESC, in a CSI, or in a string that ends with ST. */
type State = "text" | "escape" | "control" | "string" | "string-escape";

/**
 * What a program may do to the user's terminal: draw anywhere on it, in colours (see `drawing-sequences.ts`; nothing
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
