/** The place that files and processes belong to, as requests name it. */
export type Place = { readonly sessionId: string } | { readonly envId: string };
