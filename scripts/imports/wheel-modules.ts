/** The modules of a wheel, judged by the names of its files. */
export interface WheelModules {
  /** Dotted paths of modules, and of packages that have an `__init__`. */
  readonly modules: ReadonlySet<string>;
  /** Dotted paths of folders without one that lead to modules: namespaces. */
  readonly folders: ReadonlySet<string>;
  /** A `.pth` file puts folders of the wheel on the path, as pywin32's does: their modules are at the top as well. */
  readonly extendsPath: boolean;
}

const moduleFile = /^(.*?)(?:\.py|(?:\.[\w-]+)*\.(?:so|pyd))$/;

/** Where a wheel's `.data` folder keeps what is installed beside the rest. */
const installedData = /^[^/]+\.data\/(?:purelib|platlib)\//;

export function modulesOf(files: readonly string[]): WheelModules {
  const modules = new Set<string>();
  const folders = new Set<string>();
  for (const file of files) {
    const path = file.replace(installedData, "");
    const parts = (moduleFile.exec(path)?.[1] ?? "").split("/");
    if (!parts.every((part) => /^\w+$/.test(part))) continue;
    if (parts.at(-1) === "__init__") parts.pop();
    if (parts.length === 0) continue;
    modules.add(parts.join("."));
    for (let length = parts.length - 1; length > 0; length -= 1) folders.add(parts.slice(0, length).join("."));
  }
  return {
    modules,
    folders: new Set([...folders].filter((folder) => !modules.has(folder))),
    extendsPath: files.some((file) => /^[^/]+\.pth$/.test(file.replace(installedData, ""))),
  };
}

/** Whether a program with only this wheel could import the module. */
export function brings({ modules, folders, extendsPath }: WheelModules, module: string): boolean {
  if (modules.has(module) || folders.has(module)) return true;
  return extendsPath && [...modules, ...folders].some((other) => other.endsWith(`.${module}`));
}

/**
 * The modules by which a wheel is known: its packages and modules at the top, or below the namespaces that it shares with
 * others. Private ones and what is installed by mistake (tests, documentation) are left out.
 */
export function importRoots(wheel: WheelModules, isNamespace: (module: string) => boolean): readonly string[] {
  const roots = new Set<string>();
  for (const module of wheel.modules) {
    const parts = module.split(".");
    let length = 1;
    const name = (): string => parts.slice(0, length).join(".");
    while (length < parts.length && (wheel.folders.has(name()) || isNamespace(name()))) length += 1;
    if (!isNamespace(name())) roots.add(name());
  }
  return [...roots].filter((root) => !root.split(".").some((part) => byMistake.test(part))).toSorted();
}

const byMistake =
  /^(?:_.*|.*__mypyc|tests?|testing|docs?|examples?|scripts?|tools?|benchmarks?|setup|conftest|build|dist|samples?)$/i;
