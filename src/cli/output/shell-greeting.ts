import { escapeLine } from "./terminal-escape.ts";

/** What a fresh shell runs in. */
export interface ShellPlace {
  readonly engine: string;
  /** Null where the engine has no images. */
  readonly image: string | null;
  readonly network: string | readonly string[];
  readonly limits: { readonly cpus: number; readonly memory_mb: number; readonly pids: number };
  /** Its working folder, and the folder of this machine that it is; null: none is. */
  readonly folder: string;
  readonly project: { readonly path: string; readonly readOnly: boolean } | null;
}

/** What somebody should know before they type, in two lines: where they are, and what stays of it. */
export function shellGreeting({ engine, image, network, limits, folder, project }: ShellPlace): string {
  const { cpus, memory_mb: memory, pids } = limits;
  const reach = typeof network === "string" ? network : network.join(", ");
  const lines = [
    `${image === null ? "no image" : `image ${image}`} on ${engine}, network ${reach}, at most ${cpus} CPU${cpus === 1 ? "" : "s"}, ${memory} MB of memory, ${pids} processes`,
    `${filesWords(folder, project)} exit or Ctrl-D ends it.`,
  ];
  return lines.map((line) => `glovebox: ${escapeLine(line)}\n`).join("");
}

/** The same for a sandbox that others opened. */
export const visitGreeting = "glovebox: the sandbox, its programs and its files stay when this shell ends\n";

function filesWords(folder: string, project: ShellPlace["project"]): string {
  if (project === null)
    return `All files, also those in ${folder}, are removed when this shell ends (\`glovebox cp\` takes some out);`;
  const stays = project.readOnly ? "cannot be changed" : "keeps what you write there";
  return `${folder} is ${project.path} of this machine, and ${stays}; everything else is removed when this shell ends;`;
}
