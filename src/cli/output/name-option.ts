/** The option by which a command names what it starts, and what it says. */
export const nameOption = [
  "--name <name>",
  "your own word for it, by which ps, logs, exec, shell, cp, stats and rm find it",
] as const;

/** How commands about a live sandbox take it. */
export const sandboxWords = "its name or id as glovebox ps shows them, or the first characters of the id";

/** The option that leaves out everything but a command's results and errors. */
export const quietOption = [
  "-q, --quiet",
  "no progress, warnings or refused connections on stderr; errors stay",
] as const;
