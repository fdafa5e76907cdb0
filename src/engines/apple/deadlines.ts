/** How long each call of the command may take, in milliseconds; then it is ended. */
export const deadlinesMs = {
  version: 9_000,
  status: 9_000,
  /** The service itself gives up a list after 10 s. */
  query: 20_000,
  /** Unpacking an image's files for the first time is part of it. */
  create: 55_000,
  signal: 20_000,
  /** Twice, with a kill between, within what a removal may take. */
  remove: 18_000,
  pull: 1_800_000,
  build: 3_600_000,
  serviceStop: 60_000,
  serviceStart: 90_000,
} as const;

export type Deadline = keyof typeof deadlinesMs;
