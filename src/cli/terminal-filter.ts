/** A control sequence that has not ended by then is none. */
const mostCharacters = 256;

/** Modes in which the terminal itself sends bytes, or that would outlast the program; they are taken back at its end. */
const lastingModes: ReadonlySet<string> = new Set([
  "1",
  "9",
  "47",
  "1000",
  "1001",
  "1002",
  "1003",
  "1004",
  "1005",
  "1006",
  "1015",
  "1016",
  "1047",
  "1049",
  "2004",
]);

/** Where in a sequence the text is: outside of any, behind ESC, in a CSI, or in a string that ends with ST. */
type State = "text" | "escape" | "control" | "string" | "string-escape";

/**
 * What a program may do to the user's terminal: draw on it, in colours, anywhere. Taken out are sequences that a terminal
 * answers as if the user had typed (reports of device, cursor, modes, window and colours), and all strings for the
 * terminal itself: title, clipboard, settings (OSC, DCS, APC, PM, SOS). Bytes that are not UTF-8 become U+FFFD, so that
 * none of them is a control character of one byte.
 */
export class TerminalFilter {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #modes = new Set<string>();
  #isCursorHidden = false;
  #state: State = "text";
  #sequence = "";

  push(bytes: Uint8Array): string {
    let shown = "";
    for (const character of this.#decoder.decode(bytes, { stream: true })) shown += this.#next(character);
    return shown;
  }

  /** What takes back the modes that the program has left on. */
  end(): string {
    const modes = [...this.#modes].map((mode) => `\u001b[?${mode}l`).join("");
    return `${modes}${this.#isCursorHidden ? "\u001b[?25h" : ""}${this.#modes.size > 0 ? "\u001b[0m" : ""}`;
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
        if (character === "\u0007" || character === "\u0018" || character === "\u001a") this.#state = "text";
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
    } else if ("]PX^_".includes(character)) this.#state = "string";
    // ESC Z asks who is there; ESC k is a title.
    else if (character === "k") this.#state = "string";
    else if (character !== "Z" && character >= " " && character <= "~") return `\u001b${character}`;
    return "";
  }

  #control(character: string): string {
    if (character < " " || character > "~") {
      this.#state = character === "\u001b" ? "escape" : "text";
      return "";
    }
    this.#sequence += character;
    if (character < "@" && this.#sequence.length < mostCharacters) return "";
    this.#state = "text";
    if (character < "@" || isAnswered(this.#sequence)) return "";
    this.#remember(this.#sequence);
    return `\u001b[${this.#sequence}`;
  }

  #remember(sequence: string): void {
    const { modes = "", final } = /^\?(?<modes>[\d;]*)(?<final>[hl])$/.exec(sequence)?.groups ?? {};
    for (const mode of modes.split(";")) {
      if (mode === "25") this.#isCursorHidden = final === "l";
      else if (final === "h" && lastingModes.has(mode)) this.#modes.add(mode);
      else if (final === "l") this.#modes.delete(mode);
    }
  }
}

/** Device attributes, status and cursor, window, terminal parameters and version, modes, checksum, keyboard. */
function isAnswered(sequence: string): boolean {
  return /[cnt]$|x$|>[\d;]*q$|\$[a-z]$|\*y$|[?=<>][\d;]*u$/.test(sequence);
}
