/** Headers of every answer. */
export const ofEveryAnswer = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;
