import { runsInterpretersOnly, type Capabilities } from "../engines/capabilities.ts";

/**
 * Python for a program of ours, isolated from modules and settings in its folder and its variables. If our guard runs
 * in the interpreter, the guard keeps them out; it does not accept this option.
 */
export function isolatedPython(capabilities: Pick<Capabilities, "programs">): readonly string[] {
  return runsInterpretersOnly(capabilities) ? ["python3"] : ["python3", "-I"];
}
