/** Variables that control colours: Node warns if NO_COLOR and FORCE_COLOR are both set. */
const colourChoices = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"];

/**
 * The variables of a program whose output is no terminal: NO_COLOR=1 and TERM=dumb, unless they choose for themselves.
 * FORCE_COLOR=0 is not set: many libraries, Python's rich among them, take any value of it as a wish for colours.
 */
export function withPlainOutput(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const choosesColours = colourChoices.some((name) => name in environment);
  return { TERM: "dumb", ...(choosesColours ? {} : { NO_COLOR: "1" }), ...environment };
}
