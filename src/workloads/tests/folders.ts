import { workFolder } from "../../policy/scratch.ts";

/** What is ours: reporters and reports. */
export const reportsFolder: string = `${workFolder}/.glovebox`;
/** The one report of `bun test`. */
export const bunReport = "bun.xml";
