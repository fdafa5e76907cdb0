/** Removes from a text of the sandbox what must not be shown. */
export type RedactText = (text: string) => string;
