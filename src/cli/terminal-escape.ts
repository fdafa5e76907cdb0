/** Control characters that a terminal acts on, but for newline, tab and carriage return: C0, DEL and C1. */
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * The text with the control characters of untrusted output made visible (`\x1b`), so that it cannot move the cursor,
 * change the title, write to the clipboard or answer for the user. Carriage return stays: progress lines use it.
 */
export function escapeControls(text: string): string {
  return text.replace(controls, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
