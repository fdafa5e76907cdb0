import { describe, expect, it } from "vitest";
import { withOptionWords } from "./option-words.ts";

const run = new Set(["--env", "--file", "--memory", "--timeout", "--language", "--network", "--project", "FILE"]);
const test = new Set(["PATH", "COMMAND", "--setup"]);

describe("withOptionWords", () => {
  it.each([
    ['environment["1A"]: expected a name.', "--env: expected a name."],
    ["context_files[0]: expected a file.", "--file: expected a file."],
    ["Correct limits.memory_mb: a number.", "Correct --memory: a number."],
    ["Correct network[0] and send the request again.", "Correct --network."],
    ["The request is not valid: language: Invalid option.", "--language: Invalid option."],
    ["project_path: it is refused.", "--project: it is refused."],
    ["Ask for less, or raise timeout_seconds (at most 9).", "Ask for less, or raise --timeout (at most 9)."],
    // The operator's setting is another thing, and so is a word of English.
    ["Have the operator raise ceilings.timeout_seconds.", "Have the operator raise ceilings.timeout_seconds."],
    ["The image has no python3; the network is closed.", "The image has no python3; the network is closed."],
    ["code: expected text.", "FILE: expected text."],
    [
      'The program chose this host: if you trust it, add "evil.test" to the run\'s network.',
      'The program chose this host: if you trust it, add "evil.test" to --network.',
    ],
    [
      'None. The program chose this host: if you trust it, add "evil.test" to the run\'s network, or not.',
      'None. The program chose this host: if you trust it, add "evil.test" to --network, or not.',
    ],
    [
      "Name the hosts that it needs in the run's network, or not.",
      "Name the hosts that it needs in --network, or not.",
    ],
  ])("makes of %j %j", (text, words) => {
    expect(withOptionWords(text, run)).toBe(words);
  });

  it("spells the port of a preview as it is typed", () => {
    expect(withOptionWords("It is on 5173; name it with port: 5173.", null)).toBe(
      "It is on 5173; name it with --port 5173.",
    );
  });

  it("spells advice as it is typed, where the command has the option", () => {
    const advice =
      'Ask for packages: ["a-b"], or packages: "auto". Use packages: []. Or use engine: "local", which is.';
    const typed = "Ask for --packages a-b, or --packages auto. Use --packages none. Or use --engine local, which is.";
    expect(withOptionWords(advice, new Set(["--packages", "--engine"]))).toBe(typed);
    expect(withOptionWords(advice, null)).toBe(typed);
    expect(withOptionWords(advice, run)).toBe(advice);
  });

  it("goes by what the command takes", () => {
    expect(withOptionWords("project_path: no.", test)).toBe("PATH: no.");
    expect(withOptionWords("give a `setup_command` that works", test)).toBe("give a `--setup` that works");
    expect(withOptionWords("context_files[0]: no.", test)).toBe("context_files[0]: no.");
    expect(withOptionWords("raise timeout_seconds", null)).toBe("raise --timeout");
  });
});
