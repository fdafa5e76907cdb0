import type { Sabotage } from "./sabotage.ts";

export const platformsSabotages: readonly Sabotage[] = [
  {
    id: "platforms: a program on Windows is given the user's own home",
    file: "src/engines/local/preload/guards/program-environment.ts",
    find: "    HOMEDRIVE: homeDrive,\n",
    replace: "",
    test: "src/engines/local/preload/guards/program-environment.test.ts",
    name: "leaves Node nothing to fill in on Windows",
  },
  {
    id: "platforms: what comes from Windows cannot be run in a sandbox",
    file: "src/sandbox/copy/host-facts.ts",
    find: 'if (platform !== "win32") return stat.mode & 0o777;',
    replace: 'if (platform !== "aix") return stat.mode & 0o777;',
    test: "src/sandbox/copy/host-facts.test.ts",
    name: "can be run and entered when it comes from Windows",
  },
  {
    id: "platforms: a shell of Windows is given any word",
    file: "src/base/processes/tool-command.ts",
    find: "if (odd !== undefined)",
    replace: "if (odd === program)",
    test: "src/base/processes/tool-command.test.ts",
    name: "gives the shell no word that it could read otherwise",
  },
  {
    id: "platforms: a script keeps the line ends of Windows",
    file: "src/base/packaged-script.ts",
    find: 'return text.replaceAll("\\r\\n", "\\n");',
    replace: "return text;",
    test: "src/base/packaged-script.test.ts",
    name: "reads a script that was checked out on Windows",
  },
  {
    id: "platforms: a file of another drive counts as one below the folder",
    file: "src/base/portable-path.ts",
    find: ' || flavour.parse(given).root !== ""',
    replace: "",
    test: "src/base/portable-path.test.ts",
    name: "takes nothing that leads elsewhere on Windows",
  },
  {
    id: "platforms: a tree ends with its leader only",
    file: "src/engines/local/preload/processes/end-family.ts",
    find: '["/PID", String(leader), "/T",',
    replace: '["/PID", String(leader),',
    test: "src/engines/local/preload/processes/end-family.test.ts",
    name: "is a program of its own on Windows",
  },
];
