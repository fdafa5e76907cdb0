import { runsInterpretersOnly, type Capabilities } from "../engines/capabilities.ts";

/**
 * Python for a program of ours, kept from what its folder and its variables could bring along. Where a guard of ours stands
 * in the interpreter, that keeps them out; it takes no such option.
 */
export function isolatedPython(capabilities: Pick<Capabilities, "programs">): readonly string[] {
  return runsInterpretersOnly(capabilities) ? ["python3"] : ["python3", "-I"];
}
