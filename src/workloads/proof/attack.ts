/** Where attacks are run: engines, and Docker with gVisor. */
export const places = ["docker", "podman", "runsc", "local"] as const;
export type Place = (typeof places)[number];
/** Those that have exceptions of their own; the attacks run there only by `doctor --prove`. */
export const declaredPlaces = [...places, "kubernetes"] as const;
export type DeclaredPlace = (typeof declaredPlaces)[number];
/** The one whose sandboxes have a kernel of their own. */
export const ownKernelPlace: Place = "runsc";

/**
 * What must become of an attack: `denied`; `contained`: it gets what it asks for, but from a kernel or a process of its
 * own sandbox, and nothing of the host; `open`: it gets through.
 */
export interface Expectation {
  readonly verdict: "denied" | "contained" | "open";
  /** Why it is not denied, in a sentence without its stop. */
  readonly why?: string;
}

/** Where an attack is shown to get through, in the words of the table. */
export const controls = {
  /** With every capability, no filter, nothing covered, and the host's namespaces. */
  unsealed: "unsealed container",
  /** The same, with processes and a network of its own. */
  unsealedAlone: "unsealed container with own processes",
  ordinaryUser: "container with a user of its own",
  sharing: "two unsealed containers",
  hostProcess: "process of the host",
  naiveProxy: "simple proxy",
  plainMount: "container with the path mounted",
  reusedWorker: "interpreter that runs one program after another",
  naiveReader: "program of the host",
} as const;
export type Control = keyof typeof controls;

/** What denies attacks: a capability of an engine that is `no` where it does not, or the sandbox as such. */
export type Wall =
  | "isolation"
  | "seccomp"
  | "noNewPrivileges"
  | "setuidRefusal"
  | "readOnlyRoot"
  | "noNetwork"
  | "memoryLimit"
  | "pidsLimit";

/** One way to try to get out, or to take more than a fair share. */
export interface Attack {
  /** Name of its program in `images/attacks` or `test/fixtures/attacks`, where it has one. */
  readonly id: string;
  readonly group: string;
  /** What it tries, to be read after "A program that tries to". */
  readonly tries: string;
  /** The capability by which an engine is declared to deny it. */
  readonly deniedBy: Wall;
  readonly control: Control;
  /** Why no control can show it on the test machine; such an attack is not counted. */
  readonly unshown?: string;
  /** Where it is not denied. */
  readonly exceptions: Readonly<Partial<Record<DeclaredPlace, Expectation>>>;
  /** What becomes of it where programs share their user with what watches over them; default: the same. */
  readonly whereShared?: Expectation;
}

export interface GroupOfAttacks {
  /** Heading of its table. */
  readonly group: string;
  /** Default: isolation. */
  readonly deniedBy?: Wall;
  readonly control: Control;
  /** What each tries, by id. */
  readonly attacks: Readonly<Record<string, string>>;
  /** Of those that differ from the group. */
  readonly deniedByOf?: Readonly<Record<string, Wall>>;
  readonly controls?: Readonly<Record<string, Control>>;
  readonly unshown?: Readonly<Record<string, string>>;
  readonly exceptions?: Readonly<Record<string, Attack["exceptions"]>>;
  readonly whereShared?: Readonly<Record<string, Expectation>>;
}

/** The rows of a group. @throws Error when a detail is given for an attack that it does not have */
export function attacksOf(group: GroupOfAttacks): readonly Attack[] {
  const {
    attacks,
    controls: others = {},
    deniedByOf: walls = {},
    unshown = {},
    exceptions = {},
    whereShared = {},
  } = group;
  for (const id of [
    ...Object.keys(others),
    ...Object.keys(walls),
    ...Object.keys(unshown),
    ...Object.keys(exceptions),
    ...Object.keys(whereShared),
  ]) {
    if (!(id in attacks)) throw new Error(`${group.group}: there is no attack ${id}.`);
  }
  return Object.entries(attacks).map(([id, tries]) => {
    const reason = unshown[id];
    const shared = whereShared[id];
    return {
      id,
      group: group.group,
      tries,
      deniedBy: walls[id] ?? group.deniedBy ?? "isolation",
      control: others[id] ?? group.control,
      ...(reason === undefined ? {} : { unshown: reason }),
      exceptions: exceptions[id] ?? {},
      ...(shared === undefined ? {} : { whereShared: shared }),
    };
  });
}

export const contained = (why: string): Expectation => ({ verdict: "contained", why });
export const open = (why: string): Expectation => ({ verdict: "open", why });

export function expectedAt(attack: Attack, place: DeclaredPlace): Expectation {
  return attack.exceptions[place] ?? { verdict: "denied" };
}
