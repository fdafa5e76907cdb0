/** Numbers of the descriptors that the launch of a sandbox passes on. */
export const descriptors = {
  /** What goes wrong, in words for people. */
  diagnostics: 2,
  mountNamespace: 3,
  userNamespace: 4,
  seccompFilter: 5,
  /** The stream to the supervisor, whose input and output it becomes. */
  stream: 6,
  /** Bubblewrap's options: they must not show in the host's process list. */
  options: 7,
} as const;

/** The first number that the launch does not use. */
export const firstFreeDescriptor = 8;
