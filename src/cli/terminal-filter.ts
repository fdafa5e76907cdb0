/** A control sequence, or a string, that has not ended by then is none. */
const mostCharacters = { control: 256, string: 65_536 };

/** Modes that a terminal is in by itself; the others are off until a program sets them. */
const usualModes: ReadonlySet<string> = new Set(["7", "25"]);

/**
 * Control sequences that draw: moves, erasures, insertions, scrolling, tabulators, colours, modes, the cursor's form, and
 * the reset of all that. Every other is one that a terminal answers, that prints, or that is for the terminal itself.
 */
const drawing = /^(?:[\d;:]*[@A-MPSTXZ`abd-hlmrsu]|\?(?:\d{1,4};)*\d{1,4}[hl]|\?\d?[JK]|\d? q|!p)$/;

/** Where in a sequence the text is: outside of any, behind ESC, in a CSI, or in a string that ends with ST. */
type State = "text" | "escape" | "control" | "string" | "string-escape";

/**
 * What a program may do to the user's terminal: draw on it, in colours, anywhere. Taken out are sequences that a terminal
 * answers as if the user had typed (reports of device, cursor, modes, window and colours), those that print, and all
 * strings for the terminal itself: title, clipboard, settings (OSC, DCS, APC, PM, SOS). Bytes that are not UTF-8 become U+FFFD, so that
 * none of them is a control character of one byte.
 */
export class TerminalFilter {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Private modes that are not as they usually are. */
  readonly #modes = new Set<string>();
  #state: State = "text";
  #sequence = "";
  #length = 0;

  push(bytes: Uint8Array): string {
    let shown = "";
    for (const character of this.#decoder.decode(bytes, { stream: true })) shown += this.#next(character);
    return shown;
  }

  /** What takes back the modes that the program has left behind, and its colours. */
  end(): string {
    const modes = [...this.#modes].map((mode) => `\u001b[?${mode}${usualModes.has(mode) ? "h" : "l"}`);
    return `${modes.join("")}\u001b[0m`;
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
        // BEL ends it too, as terminals take it.
        if ("\u0007\u0018\u001a".includes(character) || ++this.#length > mostCharacters.string) this.#state = "text";
        if (character === "\u001b") this.#state = "string-escape";
        return "";
      case "string-escape":
        this.#state = "text";
        return character === "\\" ? "" : this.#escape(character);
    }
  }

  #text(character: string): string {
    if (character === "\u001b") {
      this.#state = "escape";
      return "";
    }
    // ENQ asks for an answer; C1 are control sequences of one character.
    return character === "\u0005" || (character >= "\u0080" && character <= "\u009f") ? "" : character;
  }

  #escape(character: string): string {
    this.#state = "text";
    if (character === "\u001b") this.#state = "escape";
    else if (character === "[") {
      this.#state = "control";
      this.#sequence = "";
    } else if ("]PX^_k".includes(character)) {
      // The last is a title, as some terminals take it.
      this.#state = "string";
      this.#length = 0;
    }
    // It asks who is there.
    else if (character !== "Z" && character >= " " && character <= "~") return `\u001b${character}`;
    return "";
  }

  #control(character: string): string {
    if (character < " " || character > "~") {
      this.#state = character === "\u001b" ? "escape" : "text";
      return "";
    }
    this.#sequence += character;
    if (character < "@" && this.#sequence.length < mostCharacters.control) return "";
    this.#state = "text";
    if (!drawing.test(this.#sequence)) return "";
    this.#remember(this.#sequence);
    return `\u001b[${this.#sequence}`;
  }

  #remember(sequence: string): void {
    const { modes = "", final } = /^\?(?<modes>[\d;]+)(?<final>[hl])$/.exec(sequence)?.groups ?? {};
    for (const mode of modes.split(";").filter(Boolean)) {
      if ((final === "h") === usualModes.has(mode)) this.#modes.delete(mode);
      else this.#modes.add(mode);
    }
  }
}
