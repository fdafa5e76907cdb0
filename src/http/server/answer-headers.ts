/** Headers of every response. */
export const ofEveryAnswer = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;
