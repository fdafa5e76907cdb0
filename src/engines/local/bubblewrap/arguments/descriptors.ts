/**
 * Numbers of the descriptors that the launch of a sandbox passes on, besides the program's stdin and stdout (0 and 1).
 */
export const descriptors = {
  /** What goes wrong before the program starts. */
  diagnostics: 2,
  mountNamespace: 3,
  userNamespace: 4,
  seccompFilter: 5,
  /** Here the sandbox's first process says that everything is set up, and is told to continue. */
  handshake: 6,
  /** Bubblewrap's options: the environment must not show in the host's process list. */
  options: 7,
  /** The program's stderr, separate from the launch's own. */
  stderr: 8,
  networkNamespace: 9,
} as const;

/** The first number that the launch does not use. */
export const firstFreeDescriptor = 10;
